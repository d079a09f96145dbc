import type { Dimension, Metric, Operator } from '../core/analytics/dimensions.ts';
import type { Workspace } from '../sql/workspaces/workspaces.ts';

/** Whether clicks of a kind count. */
export type Population = 'exclude' | 'include' | 'only';

export type FilterPartBody = {
  dimension?: Dimension;
  operator?: Operator;
  values?: (string | number)[];
};

/** A filter as a query has it: its own fields, or `any`. */
export type FilterBody = FilterPartBody & { any?: FilterPartBody[] };

/** The body of `POST /analytics/query`, whose schema sets the defaults. */
export type AnalyticsQuery = {
  metrics: Metric[];
  dimensions: Dimension[];
  filters: FilterBody[];
  window?: { days?: number; from?: string; to?: string };
  compare?: string | { from?: unknown; to?: unknown };
  time_zone?: string;
  bots: Population;
  orphans: Population;
  order_by: { by: string; direction: 'asc' | 'desc' }[];
  limit: number;
  offset: number;
};

/** The metrics of a query: those that it has. Rates are null without clicks. */
export type AnalyticsMetrics = {
  clicks?: number;
  visitors?: number;
  leads?: number;
  conversions?: number;
  revenue?: number;
  conversion_rate?: number | null;
  revenue_per_click?: number | null;
};

export type AnalyticsRow = {
  dimensions: Record<string, string | number | null>;
  metrics: AnalyticsMetrics;
  compared?: AnalyticsMetrics;
};

type ShownWindow = { from: string; to: string; data_from?: string };

/** What the ids in `dimensions` are called, by dimension and id. */
export type AnalyticsNames = Record<string, Record<string, { name: string; note?: string }>>;

/** The response of `POST /analytics/query`. */
export type AnalyticsResult = {
  window: ShownWindow;
  compared_window?: ShownWindow;
  rows: AnalyticsRow[];
  totals: AnalyticsMetrics;
  compared_totals?: AnalyticsMetrics;
  names?: AnalyticsNames;
  total_rows: number;
  watermark: string;
};

/** The workspace whose clicks a query counts. */
export type QueriedWorkspace = Pick<Workspace, 'id' | 'currency' | 'time_zone' | 'retention_months'>;
