import type { EnrichedClick } from '../../core/enrich/enrich.ts';
import type { Place } from '../../core/enrich/geo.ts';
import type { StoredReferer } from '../../core/enrich/referer.ts';
import type { UserAgentProfile } from '../../core/enrich/user-agents.ts';
import { type AdClick, adNetworkOf } from '../../core/events/ad-clicks.ts';
import type { ClickLabels } from '../../core/events/click-labels.ts';
import { type ClickKey, LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { TRIGGERS } from '../../core/events/types.ts';
import { lowCardinalityColumn, sharedColumns } from './low-cardinality-columns.ts';
import {
  boolColumn,
  enum8Column,
  nativeBlock,
  timeColumn,
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
  const sequence = uint64Column('sequence', size);
  const channel = lowCardinalityColumn('channel', size);
  const language = lowCardinalityColumn('language', size);
  const trigger = enum8Column('trigger', size, TRIGGERS);
  const isBot = boolColumn('is_bot', size);
  const referers = sharedColumns<StoredReferer>(size, {
    texts: { referer: ({ text }) => text, referer_host: ({ host }) => host },
  });
  const places = sharedColumns<Place>(size, {
    texts: {
      country: ({ country }) => country,
      city: ({ city }) => city,
      continent: ({ continent }) => continent,
      region: ({ region }) => region,
    },
    numbers: { asn: ({ asn }) => asn },
  });
  const agents = sharedColumns<UserAgentProfile>(size, {
    texts: {
      device: ({ device }) => device,
      browser: ({ browser }) => browser,
      os: ({ os }) => os,
    },
  });
  const labels = sharedColumns<ClickLabels>(size, {
    texts: {
      domain: ({ domain }) => domain,
      slug: ({ slug }) => slug,
      utm_source: ({ utmSource }) => utmSource,
      utm_medium: ({ utmMedium }) => utmMedium,
      utm_campaign: ({ utmCampaign }) => utmCampaign,
      utm_term: ({ utmTerm }) => utmTerm,
      utm_content: ({ utmContent }) => utmContent,
      rule_id: ({ ruleId }) => ruleId,
      variant_id: ({ variantId }) => variantId,
    },
  });
  const ads = sharedColumns<AdClick>(size, {
    texts: {
      ad_network: ({ param }) => adNetworkOf(param),
      ad_click_param: ({ param }) => param,
      ad_click_id: ({ id }) => id,
    },
  });
  let row = 0;
  for (const { event, enriched, ordinal, sequence: number } of rows) {
    workspace.put(row, event.ids, event.idsAt + WORKSPACE_AT);
    ts.put(row, event.ts, ordinal);
    link.put(row, event.ids, event.idsAt + LINK_AT);
    visitor.put(row, event.ids, event.idsAt + VISITOR_AT);
    sequence.put(row, number);
    channel.put(row, enriched.channel);
    language.put(row, enriched.language);
    trigger.put(row, enriched.trigger);
    isBot.put(row, enriched.isBot);
    referers.put(row, enriched.referer);
    places.put(row, enriched.place);
    agents.put(row, enriched.agent);
    labels.put(row, enriched.labels);
    ads.put(row, enriched.ad);
    row += 1;
  }
  const own = [workspace, ts, link, visitor, sequence, channel, language, trigger, isBot];
  const shared = [referers, places, agents, labels, ads].flatMap(({ columns }) => columns);
  return nativeBlock([...own, ...shared], size);
}
