import { type Static, Type } from 'typebox';
import { CLICK_DIMENSIONS } from '../../clickhouse/reports/index.ts';
import {
  Currency,
  FIGURES,
  Figures,
  Instant,
  Limit,
  Nullable,
  OneOf,
  Uuid,
  WINDOW_PARAMETERS,
  Window,
} from '../schemas.ts';

const LINK_PARAMETER = {
  link_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only this link.' })),
};

export const StatsQuery = Type.Object({
  ...WINDOW_PARAMETERS,
  ...LINK_PARAMETER,
  timezone: Type.String({
    default: 'UTC',
    maxLength: 100,
    description: 'IANA time zone of the buckets, such as `Europe/Berlin`.',
  }),
});
export type StatsQuery = Static<typeof StatsQuery>;

const Point = Type.Object(
  {
    start: Type.String({
      format: 'date-time',
      description: 'Start of the bucket in `timezone`. The first bucket may start before the window.',
    }),
    ...FIGURES,
  },
  { title: 'StatsPoint' },
);

export const Stats = Type.Object(
  {
    window: Window,
    totals: Figures,
    previous: Type.Object(
      { window: Window, totals: Figures },
      { description: 'The previous period: same length, ending where this window begins.' },
    ),
    currency: { ...Currency, description: 'Currency of `revenue`: ISO 4217 code in lower case.' },
    timezone: Type.String(),
    bucket: OneOf(['hour', 'day', 'month'], {
      title: 'BucketSize',
      description: '`hour` for windows up to three days, `day` up to 400 days, else `month`.',
    }),
    series: Type.Array(Point, {
      description:
        'Every bucket of the window, oldest first, including empty ones. The first and the last count only what is in ' +
        'the window.',
    }),
  },
  { title: 'Stats' },
);
export type Stats = Static<typeof Stats>;

export const DIMENSIONS = ['channel', 'link', ...CLICK_DIMENSIONS] as const;
const Dimension = OneOf(DIMENSIONS, { title: 'BreakdownDimension' });

export const BreakdownQuery = Type.Object({
  ...WINDOW_PARAMETERS,
  ...LINK_PARAMETER,
  by: Dimension,
  limit: Limit(100, 10),
});
export type BreakdownQuery = Static<typeof BreakdownQuery>;

const BreakdownLink = Type.Object(
  {
    id: Uuid,
    slug: Type.String(),
    name: Type.String(),
    channel: Nullable(Type.String()),
    created_at: Instant,
  },
  { title: 'BreakdownLink', description: 'Only with `by=link`.' },
);

const BreakdownRow = Type.Object(
  {
    value: Type.String({
      description: 'Channel, link id, country code or other value of the dimension. Empty if unknown.',
    }),
    clicks: FIGURES.clicks,
    visitors: FIGURES.visitors,
    conversions: Type.Optional(Type.Number({ description: 'Only by `channel` and `link`.' })),
    revenue: Type.Optional(Type.Number({ description: 'Only by `channel` and `link`.' })),
    link: Type.Optional(BreakdownLink),
  },
  { title: 'BreakdownRow' },
);

export const Breakdown = Type.Object(
  { window: Window, by: Dimension, rows: Type.Array(BreakdownRow) },
  { title: 'Breakdown' },
);
export type Breakdown = Static<typeof Breakdown>;
