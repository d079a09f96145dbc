import { isbot } from 'isbot';
import { CLICK_FLAGS } from '../events/types.ts';

const UNWATCHED = CLICK_FLAGS.head | CLICK_FLAGS.prefetch;

/**
 * Returns whether a request is not a person's: a crawler, a link preview or an HTTP library by its user agent
 * (package `isbot`), a `HEAD`, or a prefetch.
 *
 * An empty user agent counts as a bot. Every browser sends one, also in private modes, while scripts and health
 * checks often do not.
 *
 * @param flags bits of `CLICK_FLAGS`
 */
export function isBot(userAgent: string, flags: number): boolean {
  return isUnwatched(flags) || isBotAgent(userAgent);
}

/** Returns whether the request is a `HEAD` or a prefetch: the part of {@link isBot} without the user agent. */
export function isUnwatched(flags: number): boolean {
  return (flags & UNWATCHED) !== 0;
}

/** Returns whether the user agent is a bot's: the other part of {@link isBot}. */
export function isBotAgent(userAgent: string): boolean {
  return userAgent === '' || isbot(userAgent);
}
