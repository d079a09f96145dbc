import { type Static, Type } from 'typebox';
import { CLICK_DIMENSIONS } from '../../clickhouse/reports/stats.ts';
import { Instant, Limit, Nullable, OneOf, Uuid, WINDOW_PARAMETERS, Window } from '../schemas.ts';

const LINK_PARAMETER = {
  link_id: Type.Optional(Type.String({ format: 'uuid', description: 'Of this link only.' })),
};

export const StatsQuery = Type.Object({
  ...WINDOW_PARAMETERS,
  ...LINK_PARAMETER,
  timezone: Type.String({
    default: 'UTC',
    maxLength: 100,
    description: 'IANA time zone, such as `Europe/Berlin`, whose hours, days or months the series has.',
  }),
});
export type StatsQuery = Static<typeof StatsQuery>;

const FIGURES = {
  clicks: Type.Integer(),
  visitors: Type.Integer(),
  conversions: Type.Number({ description: 'Fractions under `linear` attribution.' }),
  revenue: Type.Number({ description: "Major units of the workspace's currency." }),
};

export const Stats = Type.Object({
  window: Window,
  totals: Type.Object(FIGURES),
  previous: Type.Object(
    { window: Window, totals: Type.Object(FIGURES) },
    { description: 'The window of the same length that ends where this one begins.' },
  ),
  currency: Type.String({ description: 'Of `revenue`: ISO 4217 in lower case.' }),
  timezone: Type.String(),
  bucket: OneOf(['hour', 'day', 'month'], {
    description: '`hour` up to three days, `day` up to 400 days, `month` above.',
  }),
  series: Type.Array(
    Type.Object({
      start: Type.String({
        format: 'date-time',
        description:
          "The bucket's beginning on the clocks of `timezone`; of the first one perhaps before the window.",
      }),
      ...FIGURES,
    }),
    {
      description:
        'Every bucket of the window, oldest first, also without activity; the first and the last have what lies in ' +
        'the window.',
    },
  ),
});
export type Stats = Static<typeof Stats>;

export const DIMENSIONS = ['channel', 'link', ...CLICK_DIMENSIONS] as const;

export const BreakdownQuery = Type.Object({
  ...WINDOW_PARAMETERS,
  ...LINK_PARAMETER,
  by: OneOf(DIMENSIONS),
  limit: Limit(100, 10),
});
export type BreakdownQuery = Static<typeof BreakdownQuery>;

export const Breakdown = Type.Object({
  window: Window,
  by: OneOf(DIMENSIONS),
  rows: Type.Array(
    Type.Object({
      value: Type.String({
        description: 'Key of the channel, id of the link, country code...; empty: unknown.',
      }),
      clicks: FIGURES.clicks,
      visitors: FIGURES.visitors,
      conversions: Type.Optional(Type.Number({ description: 'By `channel` and `link` only.' })),
      revenue: Type.Optional(Type.Number({ description: 'By `channel` and `link` only.' })),
      link: Type.Optional(
        Type.Object(
          {
            id: Uuid,
            slug: Type.String(),
            name: Type.String(),
            channel: Nullable(Type.String()),
            created_at: Instant,
          },
          { description: 'By `link` only.' },
        ),
      ),
    }),
  ),
});
export type Breakdown = Static<typeof Breakdown>;
