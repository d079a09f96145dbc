import type { EnrichedClick } from '../enrich/enrich.ts';
import { adNetworkOf } from '../events/ad-clicks.ts';
import { clickId } from '../ids.ts';
import { formatInstant } from '../time/timestamps.ts';
import type { ClickRecord } from './click-fields.ts';

/** What the API shows of a click, as the API names it, without its id and time. */
export type ShownClick = Omit<ClickRecord, 'id' | 'ts'> & {
  /** Nanoseconds since the epoch, unique in the deployment. */
  tsNanos: bigint;
};

/** Returns a click as the API shows it. */
export function clickRecord({ tsNanos, ...fields }: ShownClick): ClickRecord {
  return { id: clickId(tsNanos), ts: formatInstant(tsNanos, 6), ...fields };
}

/** Returns the derived fields of a click as the API names them, in its order. */
export function shownFields(
  enriched: EnrichedClick,
  ids: Pick<ClickRecord, 'link_id' | 'visitor_id'>,
): Omit<ShownClick, 'tsNanos'> {
  const { place, agent, referer, labels, ad } = enriched;
  return {
    ...ids,
    channel: enriched.channel,
    country: place.country,
    city: place.city,
    device: agent.device,
    browser: agent.browser,
    os: agent.os,
    referer: referer.text,
    domain: labels.domain,
    slug: labels.slug,
    trigger: enriched.trigger,
    utm_source: labels.utmSource,
    utm_medium: labels.utmMedium,
    utm_campaign: labels.utmCampaign,
    utm_term: labels.utmTerm,
    utm_content: labels.utmContent,
    ad_network: adNetworkOf(ad.param),
    ad_click_param: ad.param,
    ad_click_id: ad.id,
    referer_host: referer.host,
    continent: place.continent,
    region: place.region,
    language: enriched.language,
    rule_id: labels.ruleId,
    variant_id: labels.variantId,
    asn: place.asn,
    is_bot: enriched.isBot,
  };
}
