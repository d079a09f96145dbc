import UAParser from 'my-ua-parser';
import { memoize } from '../caching/memoize.ts';
import { agentPartName } from './agent-names.ts';
import { isBotAgent } from './bots.ts';
import { type Device, deviceOf } from './devices.ts';

/** The fields of a user agent that reports show. */
export type UserAgentProfile = {
  device: Device;
  /** One spelling each (`agent-names.ts`); `Other` when unknown. */
  browser: string;
  os: string;
  /** By the user agent alone. Any `HEAD` or prefetch counts as a bot too. */
  bot: boolean;
};

/** The systems behind Facebook's and Messenger's in-app browsers, whose user agents may lack one. */
const FACEBOOK_ANDROID = /\bFB(?:AN|_IAB)\/(?:FB4A|Orca-Android|EMA)/;

/** Parses a user agent, which takes about 14 µs; {@link createUserAgents} memoizes. */
export function parseUserAgent(userAgent: string): UserAgentProfile {
  const parser = new UAParser(userAgent);
  return {
    device: deviceOf(userAgent),
    browser: agentPartName(parser.getBrowser().name),
    os: FACEBOOK_ANDROID.test(userAgent) ? 'Android' : agentPartName(parser.getOS().name),
    bot: isBotAgent(userAgent),
  };
}

/** Returns profiles of user agents, memoized: traffic repeats a few thousand of them. */
export type UserAgents = { profileOf(userAgent: string): UserAgentProfile };

/** @param capacity limit of memoized user agents; one takes about half a KiB */
export function createUserAgents(capacity = 20_000): UserAgents {
  return { profileOf: memoize(parseUserAgent, capacity) };
}
