import type { EnrichedClick } from '../../core/enrich/enrich.ts';
import { type ClickKey, LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { TRIGGERS } from '../../core/events/types.ts';
import {
  boolColumn,
  enum8Column,
  lowCardinalityColumn,
  nativeBlock,
  textColumn,
  timeColumn,
  uint32Column,
  uint64Column,
  uuidColumn,
} from './native-columns.ts';

/** A click to be inserted. */
export type ClickRow = {
  event: ClickKey;
  enriched: EnrichedClick;
  /** The ordinal of the click's stream: the last three digits of `ts`. */
  ordinal: number;
  sequence: bigint;
};

/** Returns the rows as one block of table `clicks`. */
export function clickBlock(rows: readonly ClickRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const ts = timeColumn('ts', size);
  const link = uuidColumn('link_id', size);
  const visitor = uuidColumn('visitor_id', size);
  const channel = lowCardinalityColumn('channel', size);
  const country = lowCardinalityColumn('country', size);
  const city = lowCardinalityColumn('city', size);
  const device = lowCardinalityColumn('device', size);
  const browser = lowCardinalityColumn('browser', size);
  const os = lowCardinalityColumn('os', size);
  const referer = textColumn('referer', size);
  const isBot = boolColumn('is_bot', size);
  const sequence = uint64Column('sequence', size);
  const domain = lowCardinalityColumn('domain', size);
  const slug = lowCardinalityColumn('slug', size);
  const utmSource = lowCardinalityColumn('utm_source', size);
  const utmMedium = lowCardinalityColumn('utm_medium', size);
  const utmCampaign = lowCardinalityColumn('utm_campaign', size);
  const utmTerm = lowCardinalityColumn('utm_term', size);
  const utmContent = lowCardinalityColumn('utm_content', size);
  const refererHost = lowCardinalityColumn('referer_host', size);
  const continent = lowCardinalityColumn('continent', size);
  const region = lowCardinalityColumn('region', size);
  const language = lowCardinalityColumn('language', size);
  const ruleId = lowCardinalityColumn('rule_id', size);
  const variantId = lowCardinalityColumn('variant_id', size);
  const trigger = enum8Column('trigger', size, TRIGGERS);
  const asn = uint32Column('asn', size);
  let row = 0;
  for (const { event, enriched, ordinal, sequence: number } of rows) {
    const { labels } = enriched;
    workspace.put(row, event.ids, event.idsAt + WORKSPACE_AT);
    ts.put(row, event.ts, ordinal);
    link.put(row, event.ids, event.idsAt + LINK_AT);
    visitor.put(row, event.ids, event.idsAt + VISITOR_AT);
    channel.put(row, enriched.channel);
    country.put(row, enriched.country);
    city.put(row, enriched.city);
    device.put(row, enriched.device);
    browser.put(row, enriched.browser);
    os.put(row, enriched.os);
    referer.put(row, enriched.referer);
    isBot.put(row, enriched.isBot);
    sequence.put(row, number);
    domain.put(row, labels.domain);
    slug.put(row, labels.slug);
    utmSource.put(row, labels.utmSource);
    utmMedium.put(row, labels.utmMedium);
    utmCampaign.put(row, labels.utmCampaign);
    utmTerm.put(row, labels.utmTerm);
    utmContent.put(row, labels.utmContent);
    refererHost.put(row, enriched.refererHost);
    continent.put(row, enriched.continent);
    region.put(row, enriched.region);
    language.put(row, enriched.language);
    ruleId.put(row, labels.ruleId);
    variantId.put(row, labels.variantId);
    trigger.put(row, enriched.trigger);
    asn.put(row, enriched.asn);
    row += 1;
  }
  const columns = [
    workspace,
    ts,
    link,
    visitor,
    channel,
    country,
    city,
    device,
    browser,
    os,
    referer,
    isBot,
    sequence,
    domain,
    slug,
    utmSource,
    utmMedium,
    utmCampaign,
    utmTerm,
    utmContent,
    refererHost,
    continent,
    region,
    language,
    ruleId,
    variantId,
    trigger,
    asn,
  ];
  return nativeBlock(columns, size);
}
