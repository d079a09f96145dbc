import type { ViewQuery } from '../core/reports/view-query.ts';
import type { AnalyticsQuery, FilterBody, Population } from './query.ts';

/** Returns the query of a view with the defaults of `POST /analytics/query`, and fields of the caller's. */
export function queryOfView(view: ViewQuery, given: Partial<AnalyticsQuery>): AnalyticsQuery {
  return {
    metrics: ['clicks'],
    dimensions: [],
    // Checked when the view was saved.
    filters: (view.filters ?? []) as FilterBody[],
    bots: (view.bots ?? 'exclude') as Population,
    orphans: (view.orphans ?? 'exclude') as Population,
    order_by: [],
    limit: 1_000,
    offset: 0,
    ...given,
  };
}
