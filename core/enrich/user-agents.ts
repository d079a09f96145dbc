import UAParser from 'my-ua-parser';
import { memoize } from '../caching/memoize.ts';
import { isBotAgent } from './bots.ts';
import { type Device, deviceOf } from './devices.ts';

/** What reports show of a user agent. */
export type UserAgentProfile = {
  device: Device;
  /** The parser's names, a few of them modernized; `Other` when it knows none. */
  browser: string;
  os: string;
  /** By the user agent alone; a `HEAD` or a prefetch makes a bot of any. */
  bot: boolean;
};

/** Name of an unknown browser or system. */
export const UNKNOWN_AGENT_PART = 'Other';

/** Names of the parser that are outdated, or copied from the user agent, and their replacements. */
const MODERN_NAMES: ReadonlyMap<string, string> = new Map([
  ['Chromium OS', 'ChromeOS'],
  ['GSA', 'Google App'],
  ['linux', 'Linux'],
  ['Mac OS', 'macOS'],
]);

/** Parses a user agent, which takes about 14 µs; {@link createUserAgents} memoizes. */
export function parseUserAgent(userAgent: string): UserAgentProfile {
  const parser = new UAParser(userAgent);
  return {
    device: deviceOf(userAgent),
    browser: modernName(parser.getBrowser().name),
    os: modernName(parser.getOS().name),
    bot: isBotAgent(userAgent),
  };
}

/** Returns profiles of user agents, memoized: traffic repeats a few thousand of them. */
export type UserAgents = { profileOf(userAgent: string): UserAgentProfile };

/** @param capacity limit of memoized user agents; one takes about half a KiB */
export function createUserAgents(capacity = 20_000): UserAgents {
  return { profileOf: memoize(parseUserAgent, capacity) };
}

function modernName(name: string | undefined): string {
  if (name === undefined) return UNKNOWN_AGENT_PART;
  return MODERN_NAMES.get(name) ?? name;
}
