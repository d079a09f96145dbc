import { remembered } from '../caching/memoize.ts';
import { isBotAgent } from './bots.ts';
import { type Device, deviceOf } from './devices.ts';

/** What a redirect needs of a user agent: targeting by its device, no cookie for a `bot`. Reports read the rest. */
export type AgentKind = {
  device: Device;
  /** By the user agent alone; a `HEAD` or a prefetch makes a bot of any. */
  bot: boolean;
};

/** Kinds by user agent, remembered: traffic repeats a few thousand of them, and the redirect has 10 µs in all. */
export type AgentKinds = (userAgent: string) => AgentKind;

/** @param capacity user agents remembered at most; one takes about half a KiB */
export function createAgentKinds(capacity = 10_000): AgentKinds {
  return remembered((userAgent) => ({ device: deviceOf(userAgent), bot: isBotAgent(userAgent) }), capacity);
}
