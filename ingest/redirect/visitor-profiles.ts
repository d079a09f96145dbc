import { createBoundedCache } from '../../core/bounded-cache.ts';
import { isBot } from '../../core/enrich/bots.ts';
import { type Device, deviceOf } from '../../core/enrich/devices.ts';

/** What the redirect needs of a user agent; reports read the rest in the workers. */
export type VisitorProfile = { device: Device; bot: boolean };

/** Profiles by user agent, remembered: traffic repeats a few thousand of them. */
export type VisitorProfiles = (userAgent: string) => VisitorProfile;

const CAPACITY = 10_000;

export function createVisitorProfiles(): VisitorProfiles {
  const cache = createBoundedCache<string, VisitorProfile>(CAPACITY);
  return (userAgent) => {
    let profile = cache.get(userAgent);
    if (profile === undefined) {
      profile = { device: deviceOf(userAgent), bot: isBot(userAgent, 0) };
      cache.set(userAgent, profile);
    }
    return profile;
  };
}
