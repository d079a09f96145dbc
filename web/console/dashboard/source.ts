import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import {
  type Dimension,
  type Metric,
  TIME_UNITS,
  type TimeUnit,
} from '../../../core/analytics/dimensions.ts';
import { callApi } from '../api/call.ts';
import type { ResponseOf } from '../api/responses.ts';
import { type Filter, queryComparison, queryWindow, unitOf, type View } from './view.ts';

/** Where a dashboard's figures come from: the workspace, or one that it shares. */
export type Source = {
  /** Path of the query, below `/api/v1`. */
  path: string;
  /** Lower-case ISO 4217 code. */
  currency: string;
  /** IANA time zone of days and hours. */
  zone: string;
  withRevenue: boolean;
  /** Whether values lead to pages of the console. */
  isConsole: boolean;
  /** What happened, of a shared dashboard; null: those of the workspace are read. */
  annotations: readonly { at: string; text: string }[] | null;
};

export const SourceContext = createContext<Source | null>(null);

/** The source of the dashboard around a component. */
export function useSource(): Source {
  const source = useContext(SourceContext);
  if (!source) throw new Error('there is no dashboard around this component');
  return source;
}

export type Result = ResponseOf<'/analytics/query', 'post'>;
export type Row = Result['rows'][number];
export type Figures = Result['totals'];

/** The size of a response's buckets. */
export const unitIn = ({ rows: [first] }: Result): TimeUnit | undefined =>
  TIME_UNITS.find((unit) => first && `time:${unit}` in first.dimensions);

/** The body of a `POST /analytics/query`. */
export type AnalyticsBody = {
  metrics: readonly Metric[];
  dimensions?: readonly Dimension[];
  filters?: readonly { dimension: Dimension; operator: string; values?: readonly string[] }[];
  window: object;
  compare?: object | 'previous';
  time_zone: string;
  order_by?: readonly { by: string; direction: 'asc' | 'desc' }[];
  limit?: number;
  offset?: number;
};

/** Interval between two refreshes. Milliseconds. */
const REFRESHED_EVERY = 60_000;

/** A query as a read of TanStack Query. Other reads of the same body share its response. */
export const analyticsOptions = (path: string, body: AnalyticsBody) =>
  queryOptions<Result>({
    queryKey: [path, body],
    queryFn: ({ signal }) => callApi<Result>(path, { method: 'POST', body, signal }),
  });

/** Reads figures, and refreshes them every minute. The previous response stays while the next one loads. */
export function useAnalytics(body: AnalyticsBody | null): UseQueryResult<Result> {
  const { path } = useSource();
  return useQuery<Result>({
    ...analyticsOptions(path, body ?? EMPTY),
    enabled: body !== null,
    // Rows of another dimension have other values, those of other metrics lack the chosen one.
    placeholderData: (last, query) =>
      kindOf(query?.queryKey[1] as AnalyticsBody | undefined) === kindOf(body) ? last : undefined,
    refetchInterval: REFRESHED_EVERY,
  });
}

/** The kind of a query's rows. All units of time are one kind. */
const kindOf = (body: AnalyticsBody | null | undefined): string =>
  `${body?.metrics} ${String(body?.dimensions).replace(/^time:.*/, 'time')}`;

const EMPTY: AnalyticsBody = { metrics: ['clicks'], window: { days: 1 }, time_zone: 'UTC' };

/** The parameters that all queries of a view share. */
export function baseOf(view: View, { zone }: Pick<Source, 'zone'>): AnalyticsBody {
  const compare = queryComparison(view.comparison, zone);
  return {
    metrics: [],
    window: queryWindow(view.window, zone),
    time_zone: zone,
    ...(view.filters.length > 0 && { filters: view.filters.map(sentFilter) }),
    ...(compare && { compare }),
  };
}

/** A filter as the API has it. */
export const sentFilter = ({ dimension, operator, values }: Filter) => ({
  dimension,
  operator,
  ...(operator !== 'is_empty' && { values }),
});

/** Most rows of one response. */
const MOST_ROWS = 1_000;

/** The query behind the totals, the funnel and the chart. */
export function overTimeBody(view: View, source: Pick<Source, 'zone' | 'withRevenue'>): AnalyticsBody {
  const unit: TimeUnit = unitOf(view);
  return {
    ...baseOf(view, source),
    metrics: metricsFor(source),
    dimensions: [`time:${unit}`],
    limit: MOST_ROWS,
  };
}

/** The metrics of a source. */
export const metricsFor = ({ withRevenue }: Pick<Source, 'withRevenue'>): Metric[] => [
  'clicks',
  'visitors',
  'leads',
  'conversions',
  ...(withRevenue ? (['revenue'] as const) : []),
  'conversion_rate',
];

/** Rows of a list on the page. */
const LISTED_ROWS = 8;
/** Countries on the map: all of them. */
const MOST_COUNTRIES = 300;

/**
 * The query behind a list of values, or behind the map.
 *
 * @param options.metrics left out: those that a list on the page shows. Visitors and orders take most of a query's
 *   time.
 */
export function breakdownBody(
  view: View,
  source: Pick<Source, 'zone'>,
  dimension: Dimension,
  options: { metrics?: readonly Metric[]; limit?: number; offset?: number } = {},
): AnalyticsBody {
  // Rows with equal figures, and those without the chosen metric, are sorted by clicks.
  const by = [...new Set<Metric>([view.metric, 'clicks'])];
  const { metrics = by, limit = LISTED_ROWS, offset = 0 } = options;
  return {
    ...baseOf(view, source),
    metrics,
    dimensions: [dimension],
    order_by: by.map((metric) => ({ by: metric, direction: 'desc' as const })),
    limit,
    ...(offset > 0 && { offset }),
  };
}

/** {@link breakdownBody} of the map. */
export const mapBody = (
  view: View,
  source: Pick<Source, 'zone'>,
  options: { metrics?: readonly Metric[] } = {},
) => breakdownBody(view, source, 'country', { ...options, limit: MOST_COUNTRIES });
