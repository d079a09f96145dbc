import type { ClickLabels } from '../events/click-labels.ts';
import { CLICK_FLAGS, type ClickEvent, type Trigger } from '../events/types.ts';
import { isUnwatched } from './bots.ts';
import type { Device } from './devices.ts';
import type { Geo } from './geo.ts';
import { type Networks, noNetworks } from './networks.ts';
import { cleanReferer, refererHost } from './referer.ts';
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
  /** Host name, or package of an app; empty when unknown. */
  refererHost: string;
  /** Two letters: `AF`, `AN`, `AS`, `EU`, `NA`, `OC`, `SA`; empty when unknown. */
  continent: string;
  /** ISO 3166-2 code such as `DE-BE`, empty when unknown. */
  region: string;
  /** Number of the autonomous system, 0 when unknown. */
  asn: number;
  trigger: Trigger;
  /** Primary subtag of the most preferred language, empty when unknown. */
  language: string;
  labels: ClickLabels;
};

export type Enricher = { enrichClick(click: ClickEvent): EnrichedClick };

/**
 * Creates an enricher. It is a pure function of the click, the geography files and the parsers' versions, so a
 * replayed batch gives equal rows.
 *
 * @param dependencies.geo the opened files, or `emptyGeo()`
 * @param dependencies.networks the opened tables; left out: no autonomous system is known
 * @param dependencies.userAgents to share their memoized profiles
 */
export function createEnricher(dependencies: {
  geo: Geo;
  networks?: Networks;
  userAgents?: UserAgents;
}): Enricher {
  const { geo, networks = noNetworks(), userAgents = createUserAgents() } = dependencies;

  function enrichClick(click: ClickEvent): EnrichedClick {
    const place = geo.placeOf(click.address);
    const referer = cleanReferer(click.referer);
    const profile = userAgents.profileOf(click.userAgent);
    return {
      country: place.country,
      city: place.city,
      device: profile.device,
      browser: profile.browser,
      os: profile.os,
      isBot: profile.bot || isUnwatched(click.flags),
      channel: click.channel,
      referer,
      refererHost: refererHost(referer),
      continent: place.continent,
      region: place.region,
      asn: networks.asnOf(click.address),
      trigger: click.flags & CLICK_FLAGS.qr ? 'qr' : 'link',
      language: click.language,
      labels: click.labels,
    };
  }

  return { enrichClick };
}
