import UAParser from 'my-ua-parser';
import { createBoundedCache } from '../bounded-cache.ts';
import { isBotAgent } from './bots.ts';
import { type Device, deviceOf, isMobileDevice } from './devices.ts';

/** What a redirect needs of a user agent: targeting by `mobile`, no cookie for a `bot`. */
export type AgentKind = {
  device: Device;
  mobile: boolean;
  /** By the user agent alone; a `HEAD` or a prefetch makes a bot of any. */
  bot: boolean;
};

/** What a report shows of a user agent. */
export type UserAgentProfile = {
  device: Device;
  /** The parser's names, a few of them in today's form; `Other` when it knows none. */
  browser: string;
  os: string;
  /** As {@link AgentKind}. */
  bot: boolean;
};

/** Name of a browser or system that the parser doesn't know. */
export const UNKNOWN_AGENT_PART = 'Other';

/** The parser's names that nobody uses any more, or that it takes over from the text as they are. */
const TODAYS_NAMES: ReadonlyMap<string, string> = new Map([
  ['Chromium OS', 'ChromeOS'],
  ['GSA', 'Google App'],
  ['linux', 'Linux'],
  ['Mac OS', 'macOS'],
]);

/** Reads a user agent whole: about 14 µs. For repeated ones see {@link createUserAgents}. */
export function parseUserAgent(userAgent: string): UserAgentProfile {
  const parser = new UAParser(userAgent);
  return {
    device: deviceOf(userAgent),
    browser: todaysName(parser.getBrowser().name),
    os: todaysName(parser.getOS().name),
    bot: isBotAgent(userAgent),
  };
}

/** Profiles of user agents, remembered: traffic repeats a few thousand of them. */
export type UserAgents = { profileOf(userAgent: string): UserAgentProfile };

/** @param capacity user agents remembered at most; one takes about half a KiB */
export function createUserAgents(capacity = 20_000): UserAgents {
  return { profileOf: remembered(parseUserAgent, capacity) };
}

/** The cheap part of a profile, remembered: for the redirect, which has 10 µs in all. */
export type AgentKinds = { kindOf(userAgent: string): AgentKind };

/** @param capacity user agents remembered at most; one takes about half a KiB */
export function createAgentKinds(capacity = 20_000): AgentKinds {
  return { kindOf: remembered(readKind, capacity) };
}

function readKind(userAgent: string): AgentKind {
  const device = deviceOf(userAgent);
  return { device, mobile: isMobileDevice(device), bot: isBotAgent(userAgent) };
}

function remembered<T>(read: (userAgent: string) => T, capacity: number): (userAgent: string) => T {
  const cache = createBoundedCache<string, T>(capacity);
  return (userAgent) => {
    const known = cache.get(userAgent);
    if (known !== undefined) return known;
    const fresh = read(userAgent);
    cache.set(userAgent, fresh);
    return fresh;
  };
}

function todaysName(name: string | undefined): string {
  if (name === undefined) return UNKNOWN_AGENT_PART;
  return TODAYS_NAMES.get(name) ?? name;
}
