import { Type } from 'typebox';
import { EXPORT_FORMATS } from '../../clickhouse/queries/export-clicks.ts';
import { AD_NETWORKS } from '../../core/events/ad-clicks.ts';
import { TRIGGERS } from '../../core/events/types.ts';
import { CLICK_FILTER_PARAMETERS } from '../analytics/click-filters.ts';
import { Bom } from '../byte-order-mark.ts';
import { Limit, LinkIds, Nullable, OneOf, Uuid, WINDOW_PARAMETERS } from '../schemas.ts';

/** Whether clicks of bots are in the response. */
export const Bots = OneOf(['exclude', 'include'], {
  default: 'exclude',
  description: '`include` adds bot traffic.',
});

/** Whether visits that led to no link are in the response. */
export const Orphans = OneOf(['exclude', 'include', 'only'], {
  default: 'exclude',
  description: 'Whether visits of a domain that led to no link are included, or alone.',
});

/** Which clicks, for the stream and for the export. */
const FILTER_PARAMETERS = {
  link_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only clicks of this link.' })),
  link_ids: Type.Optional(LinkIds('Only clicks of these links: at most 500 ids, separated by commas.')),
  bots: Bots,
  orphans: Orphans,
  ...CLICK_FILTER_PARAMETERS,
};

export const ClicksQuery = Type.Object({
  limit: Limit(500, 100),
  before: Type.Optional(
    Type.String({
      format: 'instant-cursor',
      description: 'Only clicks strictly older than this. To page, pass the previous `next_cursor`.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'instant-cursor',
      description: 'Only clicks not older than this. To poll, pass the previous `watermark`.',
    }),
  ),
  ...FILTER_PARAMETERS,
});

export const ExportQuery = Type.Object({
  format: OneOf(EXPORT_FORMATS, { default: 'csv' }),
  bom: Bom,
  ...WINDOW_PARAMETERS,
  ...FILTER_PARAMETERS,
});

/** What a click also remembers. Clicks that were recorded before these fields existed have empty values. */
export const ORIGIN = {
  domain: Type.String({
    description: 'Host that was opened. Empty for the short-link origin.',
  }),
  slug: Type.String({ description: 'As the visitor asked for it.' }),
  trigger: OneOf(TRIGGERS, { description: '`qr`: a scan of the link’s QR code.' }),
  utm_source: Type.String({ description: 'As the destination got it. Empty if it got none.' }),
  utm_medium: Type.String(),
  utm_campaign: Type.String(),
  utm_term: Type.String(),
  utm_content: Type.String(),
  ad_network: OneOf(['', ...AD_NETWORKS], {
    description: 'Advertising network that gave the click an id. Empty if none did.',
  }),
  ad_click_param: Type.String({
    description: 'Parameter of the address that has the id: `gclid`. Empty if none did.',
  }),
  ad_click_id: Type.String({ description: 'The network’s id of the click. Empty if there is none.' }),
  referer_host: Type.String({ description: 'Host of the referer, or package of an app. Empty if unknown.' }),
  continent: Type.String({
    pattern: '^(AF|AN|AS|EU|NA|OC|SA)?$',
    description: 'Two-letter code. Empty if unknown.',
  }),
  region: Type.String({ description: 'ISO 3166-2 code. Empty if unknown.' }),
  language: Type.String({
    description: 'Primary subtag of the language that the visitor prefers most. Empty if unknown.',
  }),
  rule_id: Type.String({ description: 'Rule that decided the destination. Empty if none did.' }),
  variant_id: Type.String({ description: 'Variant of the link’s split. Empty if there is none.' }),
  asn: Type.Integer({ minimum: 0, description: 'Number of the visitor’s autonomous system. 0 if unknown.' }),
};

export const Click = Type.Object(
  {
    id: Uuid,
    ts: Type.String({ format: 'date-time', description: 'Time of the click, with microseconds.' }),
    link_id: Uuid,
    visitor_id: Uuid,
    channel: Type.String(),
    country: Type.String({
      pattern: '^([A-Z]{2})?$',
      description: 'ISO 3166 two-letter code. Empty if unknown.',
    }),
    city: Type.String({ description: 'Empty if unknown.' }),
    device: Type.String(),
    browser: Type.String(),
    os: Type.String(),
    referer: Type.String({ description: 'As sent by the browser. Empty if unknown.' }),
    ...ORIGIN,
    is_bot: Type.Boolean(),
  },
  { title: 'Click' },
);

export const ClicksPage = Type.Object(
  {
    clicks: Type.Array(Click),
    next_cursor: Nullable(
      Type.String({
        format: 'instant-cursor',
        description: 'Pass it as `before` to get older clicks. Null on the last page.',
      }),
    ),
    watermark: Type.String({
      format: 'instant-cursor',
      description: 'Every click older than this is already visible. Pass it as `since` to poll.',
    }),
  },
  { title: 'ClicksPage' },
);
