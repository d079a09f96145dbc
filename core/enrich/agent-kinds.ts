import { memoize } from '../caching/memoize.ts';
import { isBotAgent } from './bots.ts';
import { type Device, deviceOf } from './devices.ts';

/**
 * The part of a user agent that a redirect needs: its device for targeting, and whether it is a bot, which gets no
 * cookie.
 */
export type AgentKind = {
  device: Device;
  /** By the user agent alone. Any `HEAD` or prefetch counts as a bot too. */
  bot: boolean;
};

/** Returns the kind of a user agent, memoized: traffic repeats a few thousand of them. */
export type AgentKinds = (userAgent: string) => AgentKind;

/** @param capacity limit of memoized user agents; one takes about half a KiB */
export function createAgentKinds(capacity = 10_000): AgentKinds {
  return memoize((userAgent) => ({ device: deviceOf(userAgent), bot: isBotAgent(userAgent) }), capacity);
}
