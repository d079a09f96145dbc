import { Type } from 'typebox';
import { EXPORT_FORMATS } from '../../clickhouse/queries/export-clicks.ts';
import { Instant, Limit, Nullable, OneOf, Uuid, WINDOW_PARAMETERS } from '../schemas.ts';

/** Which clicks, for the stream and for the export. */
const FILTER_PARAMETERS = {
  link_id: Type.Optional(Type.String({ format: 'uuid', description: 'Clicks of this link only.' })),
  link_ids: Type.Optional(
    Type.String({ description: 'Clicks of these links only: at most 500 ids with commas between.' }),
  ),
  bots: OneOf(['exclude', 'include'], { default: 'exclude', description: '`include`: bot traffic too.' }),
};

export const ClicksQuery = Type.Object({
  limit: Limit(500, 100),
  before: Type.Optional(
    Type.String({
      format: 'date-time',
      description: "Clicks strictly older than it: the previous answer's `next_cursor`.",
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: "Clicks not older than it: to poll, the previous answer's `watermark`.",
    }),
  ),
  ...FILTER_PARAMETERS,
});

export const ExportQuery = Type.Object({
  format: OneOf(EXPORT_FORMATS, { default: 'csv' }),
  ...WINDOW_PARAMETERS,
  ...FILTER_PARAMETERS,
});

export const Click = Type.Object({
  id: Uuid,
  ts: Instant,
  link_id: Uuid,
  visitor_id: Uuid,
  channel: Type.String(),
  country: Type.String({ description: 'ISO 3166 code of two letters; empty: unknown.' }),
  city: Type.String({ description: 'Empty: unknown.' }),
  device: Type.String(),
  browser: Type.String(),
  os: Type.String(),
  referer: Type.String({ description: 'As sent; empty: unknown.' }),
  is_bot: Type.Boolean(),
});

export const ClicksPage = Type.Object({
  clicks: Type.Array(Click),
  next_cursor: Nullable(Type.String({ format: 'date-time', description: 'Null: there are no older ones.' })),
  watermark: Type.String({
    format: 'date-time',
    description: 'Every click older than it is visible already, however late it reached the store.',
  }),
});
