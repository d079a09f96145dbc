import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Dimension } from '../../../../core/analytics/dimensions.ts';
import { type AnalyticsBody, analyticsOptions, type Result } from '../../dashboard/source.ts';
import { unitOf } from '../../dashboard/view.ts';
import { useWindow } from '../../parts/use-window.ts';
import { useChartZone } from './use-chart-zone.ts';

const PATH = '/analytics/query';
/** Most buckets of a chart. */
const MOST_BUCKETS = 1_000;

/** Reads a link's totals over the page's time range, those of the previous period, and the buckets of the chart. */
export function useLinkTotals(linkId: string): UseQueryResult<Result> {
  const { window } = useWindow();
  return useLinkQuery(linkId, {
    metrics: ['clicks', 'visitors', 'leads', 'conversions', 'revenue'],
    dimensions: [`time:${unitOf({ window, unit: null })}`],
    compare: 'previous',
    limit: MOST_BUCKETS,
  });
}

/** Reads the values of a dimension with the most clicks of a link in the page's time range. */
export const useLinkBreakdown = (
  linkId: string,
  dimension: Dimension,
  limit: number,
): UseQueryResult<Result> => useLinkQuery(linkId, { metrics: ['clicks'], dimensions: [dimension], limit });

function useLinkQuery(
  linkId: string,
  body: Pick<AnalyticsBody, 'metrics' | 'dimensions' | 'compare' | 'limit'>,
): UseQueryResult<Result> {
  const { query } = useWindow();
  const zone = useChartZone();
  return useQuery<Result>({
    ...analyticsOptions(PATH, {
      ...body,
      filters: [{ dimension: 'link', operator: 'is', values: [linkId] }],
      window: query,
      time_zone: zone,
    }),
    placeholderData: keepPreviousData,
  });
}
