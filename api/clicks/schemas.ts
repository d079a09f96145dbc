import { type TSchema, type TUnsafe, Type } from 'typebox';
import { EXPORT_FORMATS } from '../../clickhouse/queries/export-clicks.ts';
import {
  CLICK_NAMES,
  type ClickFieldName,
  type ClickRecord,
  clickField,
} from '../../core/clicks/field-names.ts';
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

/** Filters of the stream and of the export. */
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
      description:
        'Only clicks strictly older than this. To page newest first, pass the previous `next_cursor`.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'instant-cursor',
      description: 'Only clicks not older than this. To poll, pass the previous `watermark`.',
    }),
  ),
  since_after: Type.Optional(
    Type.String({
      format: 'instant-cursor',
      description:
        'Only clicks strictly newer than this. To page oldest first, pass the previous `next_cursor`.',
    }),
  ),
  order: OneOf(['asc', 'desc'], {
    default: 'desc',
    description: '`asc`: oldest first. Needs `since` or `since_after`.',
  }),
  settled: OneOf(['true', 'false'], {
    default: 'false',
    description:
      '`true`: only clicks older than the `watermark` of the response. No older click can follow, so the newest `ts` that you have is a safe `since`.',
  }),
  ...FILTER_PARAMETERS,
});

export const ExportQuery = Type.Object({
  format: OneOf(EXPORT_FORMATS, { default: 'csv' }),
  bom: Bom,
  ...WINDOW_PARAMETERS,
  ...FILTER_PARAMETERS,
});

/** Returns the schema of a field of a click. */
export function clickFieldSchema(name: ClickFieldName): TSchema {
  const { type, isNullable, values, pattern, description } = clickField(name);
  const options = { ...(pattern && { pattern }), ...(description && { description }) };
  if (type === 'uuid') return isNullable ? Nullable(Type.String({ format: 'uuid', ...options })) : Uuid;
  if (type === 'boolean') return Type.Boolean(options);
  if (type === 'number') return Type.Integer({ minimum: 0, ...options });
  return values ? OneOf(values, options) : Type.String(options);
}

const FIELDS = Object.fromEntries(CLICK_NAMES.map((name) => [name, clickFieldSchema(name)])) as {
  [N in ClickFieldName]: TUnsafe<ClickRecord[N]>;
};

export const Click = Type.Object(
  {
    id: Uuid,
    ts: Type.String({ format: 'date-time', description: 'Time of the click, with microseconds.' }),
    ...FIELDS,
  },
  { title: 'Click' },
);

export const ClicksPage = Type.Object(
  {
    clicks: Type.Array(Click),
    next_cursor: Nullable(
      Type.String({
        format: 'instant-cursor',
        description:
          'Pass it as `before`, or as `since_after` with `order=asc`, to get the next page. Null on the last page.',
      }),
    ),
    watermark: Type.String({
      format: 'instant-cursor',
      description: 'Every click older than this is already visible. Pass it as `since` to poll.',
    }),
  },
  { title: 'ClicksPage' },
);
