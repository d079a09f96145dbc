import { memoize } from '../caching/memoize.ts';
import { isBotAgent } from './bots.ts';
import { type Device, deviceOf } from './devices.ts';

/** What a redirect needs of a user agent: its device for targeting, and whether it is a bot, which gets no cookie. */
export type AgentKind = {
  device: Device;
  /** By the user agent alone; a `HEAD` or a prefetch makes a bot of any. */
  bot: boolean;
};

/** Returns the kind of a user agent, memoized: traffic repeats a few thousand of them. */
export type AgentKinds = (userAgent: string) => AgentKind;

/** @param capacity limit of memoized user agents; one takes about half a KiB */
export function createAgentKinds(capacity = 10_000): AgentKinds {
  return memoize((userAgent) => ({ device: deviceOf(userAgent), bot: isBotAgent(userAgent) }), capacity);
}
