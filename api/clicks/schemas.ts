import { Type } from 'typebox';
import { EXPORT_FORMATS } from '../../clickhouse/queries/export-clicks.ts';
import { CLICK_FILTER_PARAMETERS } from '../analytics/click-filters.ts';
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
  ...WINDOW_PARAMETERS,
  ...FILTER_PARAMETERS,
});

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
