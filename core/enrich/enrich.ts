import { createByteCache } from '../caching/byte-cache.ts';
import { adNetworkOf } from '../clicks/ad-networks.ts';
import type { Trigger } from '../clicks/triggers.ts';
import { type NetworkClick, NO_AD } from '../events/ad-clicks.ts';
import { ADDRESS_BYTES } from '../events/address-seal.ts';
import type { ClickLabels } from '../events/click-labels.ts';
import { ReadClick } from '../events/click-reader.ts';
import { CLICK_FLAGS, type ClickEvent } from '../events/types.ts';
import { isUnwatched } from './bots.ts';
import type { Geo, Place } from './geo.ts';
import { type StoredReferer, storedReferer } from './stored-referer.ts';
import { createUserAgents, type UserAgentProfile, type UserAgents } from './user-agents.ts';

/**
 * The derived fields of a click. Clicks of one place, user agent, referer or link share one object of it, so storing
 * many of them looks each object up once (`clickhouse/inserts/clicks.ts`).
 */
export type EnrichedClick = {
  readonly place: Place;
  readonly agent: UserAgentProfile;
  readonly referer: StoredReferer;
  readonly labels: ClickLabels;
  /** As the click has it: ingest infers a Smart Link's, because the redirect's `utm_source` needs it. */
  readonly channel: string;
  /** Primary subtag of the most preferred language, empty when unknown. */
  readonly language: string;
  readonly trigger: Trigger;
  readonly ad: NetworkClick;
  /** By the user agent, or because the request was a `HEAD` or a prefetch. */
  readonly isBot: boolean;
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
  const agents = createByteCache({
    slots: 8_192,
    longest: 255,
    read: (...at) => userAgents.profileOf(text(...at)),
  });
  const referers = createByteCache({
    slots: 4_096,
    longest: 128,
    read: (...at) => storedReferer(text(...at)),
  });

  /** The address of the click that is being enriched. An array for each click would be garbage. */
  const address = new Uint8Array(ADDRESS_BYTES);

  function enrichClick(click: ClickEvent): EnrichedClick {
    const isRead = click instanceof ReadClick;
    const agent = isRead ? click.userAgentIn(agents) : userAgents.profileOf(click.userAgent);
    return {
      place: geo.placeOf(isRead ? click.addressInto(address) : click.address),
      agent,
      referer: isRead ? click.refererIn(referers) : storedReferer(click.referer),
      labels: click.labels,
      channel: click.channel,
      language: click.language,
      trigger: click.flags & CLICK_FLAGS.qr ? 'qr' : 'link',
      ad: click.ad ? { network: adNetworkOf(click.ad.param), ...click.ad } : NO_AD,
      isBot: agent.bot || isUnwatched(click.flags),
    };
  }

  return { enrichClick };
}

function text(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, to);
}
