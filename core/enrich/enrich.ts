import type { ClickEvent } from '../events/types.ts';
import { isUnwatched } from './bots.ts';
import type { Device } from './devices.ts';
import type { Geo } from './geo.ts';
import { cleanReferer } from './referer.ts';
import { createUserAgents, type UserAgents } from './user-agents.ts';

/** The derived fields of a click. */
export type EnrichedClick = {
  /** ISO 3166-1 alpha-2 code, empty when unknown. */
  country: string;
  /** English name, empty when unknown. */
  city: string;
  device: Device;
  /** Name such as `Chrome` or `Mobile Safari`, `Other` when unknown. */
  browser: string;
  /** Name such as `Windows` or `iOS`, `Other` when unknown. */
  os: string;
  isBot: boolean;
  /** As the click has it: ingest infers a Smart Link's, because the redirect's `utm_source` needs it. */
  channel: string;
  referer: string;
};

export type Enricher = { enrichClick(click: ClickEvent): EnrichedClick };

/**
 * Creates an enricher. It is a pure function of the click, the geography files and the parsers' versions, so a
 * replayed batch gives equal rows.
 *
 * @param dependencies.geo the opened files, or `emptyGeo()`
 * @param dependencies.userAgents to share their memoized profiles
 */
export function createEnricher(dependencies: { geo: Geo; userAgents?: UserAgents }): Enricher {
  const { geo, userAgents = createUserAgents() } = dependencies;

  function enrichClick(click: ClickEvent): EnrichedClick {
    const place = geo.placeOf(click.address);
    const profile = userAgents.profileOf(click.userAgent);
    return {
      country: place.country,
      city: place.city,
      device: profile.device,
      browser: profile.browser,
      os: profile.os,
      isBot: profile.bot || isUnwatched(click.flags),
      channel: click.channel,
      referer: cleanReferer(click.referer),
    };
  }

  return { enrichClick };
}
