import { isbot } from 'isbot';
import { CLICK_FLAGS } from '../events/types.ts';

const UNWATCHED = CLICK_FLAGS.head | CLICK_FLAGS.prefetch;

/**
 * Whether a request comes from no person: a crawler, a link preview or an HTTP library by its user agent
 * (package `isbot`), a `HEAD`, or a prefetch that nobody may ever look at.
 *
 * An empty user agent counts as a bot: every browser sends one, also in private modes, while scripts and
 * health checks often do not; counting them as people is the error that users complain about.
 *
 * @param flags bits of `CLICK_FLAGS`
 */
export function isBot(userAgent: string, flags: number): boolean {
  return isUnwatched(flags) || isBotAgent(userAgent);
}

/** The part of {@link isBot} that the request tells: a `HEAD` or a prefetch. */
export function isUnwatched(flags: number): boolean {
  return (flags & UNWATCHED) !== 0;
}

/** The part of {@link isBot} that the user agent tells. */
export function isBotAgent(userAgent: string): boolean {
  return userAgent === '' || isbot(userAgent);
}
