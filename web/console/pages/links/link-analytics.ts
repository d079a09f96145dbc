import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Dimension } from '../../../../core/analytics/dimensions.ts';
import { useSession } from '../../api/session.ts';
import { type AnalyticsBody, analyticsOptions, type Result } from '../../dashboard/source.ts';
import { unitOf } from '../../dashboard/view.ts';
import { viewerTimeZone } from '../../formats.ts';
import { useWindow } from '../../parts/use-window.ts';

const PATH = '/analytics/query';
/** Most buckets of a chart. */
const MOST_BUCKETS = 1_000;

/** The time zone of a link's chart: the workspace's, else the viewer's. */
export const useChartZone = (): string => useSession().workspace.time_zone ?? viewerTimeZone();

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
