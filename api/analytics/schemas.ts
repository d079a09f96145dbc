import { type Static, Type } from 'typebox';
import { DIMENSIONS, METRICS, OPERATORS } from '../../core/analytics/dimensions.ts';
import { Leads, OneOf, ReadBody, WINDOW_PARAMETERS, Window } from '../schemas.ts';

const MOST_FILTERS = 20;
const MOST_VALUES = 500;

const MetricName = OneOf(METRICS, { title: 'AnalyticsMetric' });
const DimensionName = OneOf(DIMENSIONS, { title: 'AnalyticsDimension' });

const PART = {
  dimension: Type.Optional(DimensionName),
  operator: Type.Optional(
    OneOf(OPERATORS, {
      title: 'FilterOperator',
      description:
        '`is` and `is_not` compare exactly, `contains` and `contains_not` without case. Several values: any of them, or with `is_not` and `contains_not` none of them; an unknown value passes these two. `is_empty`: the value is unknown.',
    }),
  ),
  values: Type.Optional(
    Type.Array(Type.Unsafe<string | number>({ type: ['string', 'number'], maxLength: 2_048 }), {
      maxItems: MOST_VALUES,
      description: 'Left out with `is_empty`.',
    }),
  ),
};

const FilterPart = ReadBody(PART, { title: 'AnalyticsFilterPart' });

const Filter = ReadBody(
  {
    ...PART,
    any: Type.Optional(
      Type.Array(FilterPart, {
        minItems: 1,
        maxItems: MOST_FILTERS,
        description: 'Instead of the other fields: filters of which at least one must hold.',
      }),
    ),
  },
  { title: 'AnalyticsFilter' },
);
export type FilterBody = Static<typeof Filter>;

/** The filters of a query: all of them must hold. */
export const Filters = Type.Array(Filter, {
  maxItems: MOST_FILTERS,
  default: [],
  description: 'All of them must hold.',
});

const POPULATIONS = ['exclude', 'include', 'only'] as const;

export const AnalyticsQuery = ReadBody(
  {
    metrics: Type.Array(MetricName, { minItems: 1, maxItems: METRICS.length, shown: { uniqueItems: true } }),
    dimensions: Type.Array(DimensionName, {
      maxItems: 3,
      shown: { uniqueItems: true },
      default: [],
      description: 'What rows are grouped by. None: only totals.',
    }),
    filters: Filters,
    window: Type.Optional(
      ReadBody(WINDOW_PARAMETERS, { title: 'AnalyticsWindow', description: 'The last 30 days by default.' }),
    ),
    compare: Type.Optional(
      Type.Unsafe<string | { from?: unknown; to?: unknown }>({
        type: ['string', 'object'],
        properties: { from: {}, to: {} },
        additionalProperties: false,
        refusesUnknown: true,
        description:
          '`previous`: the period before the window. Where the window begins and ends at midnights of the time zone, it has as many whole local days, or whole months where the window is in whole months; else the same length. Or an object with `from` and `to`.',
      }),
    ),
    time_zone: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'IANA time zone of buckets, weekdays and hours, such as `Europe/Berlin`. By default that of the workspace, else `UTC`.',
      }),
    ),
    bots: OneOf(POPULATIONS, { default: 'exclude', description: 'Whether clicks of bots count.' }),
    orphans: OneOf(POPULATIONS, {
      default: 'exclude',
      description: 'Whether visits of a domain that led to no link count.',
    }),
    order_by: Type.Array(
      ReadBody(
        {
          by: Type.String({ description: 'A metric or a dimension of this query.' }),
          direction: OneOf(['asc', 'desc'], { default: 'desc' }),
        },
        { title: 'AnalyticsOrder' },
      ),
      {
        maxItems: 10,
        default: [],
        description:
          'By default the time, oldest first, else the first metric, largest first. Rows that are equal go by their dimensions.',
      },
    ),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'Most rows.' }),
    offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Rows left out first.' }),
  },
  { title: 'AnalyticsQuery' },
);
export type AnalyticsQuery = Static<typeof AnalyticsQuery>;

const Ratio = (description: string) =>
  Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'], description }));

const Figures = Type.Object(
  {
    clicks: Type.Optional(Type.Integer()),
    visitors: Type.Optional(Type.Integer()),
    leads: Type.Optional(Leads),
    conversions: Type.Optional(Type.Number({ description: 'Fractions under `linear` attribution.' })),
    revenue: Type.Optional(Type.Number({ description: "Major units of the workspace's currency." })),
    conversion_rate: Ratio(
      'Conversions by clicks; above 1 where people buy more than once. Rounded to 12 digits. Null without clicks.',
    ),
    revenue_per_click: Ratio('Major units, rounded to 12 digits. Null without clicks.'),
  },
  {
    title: 'AnalyticsFigures',
    description: 'The metrics of the query. `compared`: those of the same row in the compared window.',
  },
);

const Row = Type.Object(
  {
    dimensions: Type.Unsafe<Record<string, string | number | null>>({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'null'] },
      description: 'A value for each dimension of the query, null if unknown.',
    }),
    metrics: Figures,
    compared: Type.Optional(Figures),
  },
  { title: 'AnalyticsRow' },
);

const Named = Type.Object(
  { name: Type.String(), note: Type.Optional(Type.String()) },
  { title: 'AnalyticsName' },
);

export const AnalyticsResult = Type.Object(
  {
    window: Window,
    compared_window: Type.Optional(Window),
    rows: Type.Array(Row),
    totals: Figures,
    compared_totals: Type.Optional(Figures),
    names: Type.Optional(
      Type.Unsafe<Record<string, Record<string, { name: string; note?: string }>>>({
        type: 'object',
        additionalProperties: { type: 'object', additionalProperties: Named },
        description:
          'What the ids in `dimensions` are called, by dimension and id: the slug of a link with its campaign as `note`, the name of a campaign or folder. Only with these dimensions.',
      }),
    ),
    total_rows: Type.Integer({ description: 'Rows of all pages.' }),
    watermark: Type.String({
      format: 'instant-cursor',
      description: 'Every click older than this is counted.',
    }),
  },
  { title: 'AnalyticsResult' },
);
export type AnalyticsResult = Static<typeof AnalyticsResult>;
