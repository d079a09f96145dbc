import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { FoundLinks } from '../../api/links.ts';
import { valueIn } from '../../dashboard/dimensions.ts';
import { analyticsOptions, type Result } from '../../dashboard/source.ts';
import type { WindowQuery } from '../../parts/window.ts';
import { bucketsOf, type Point, type SparklineUnit, sparklineUnit, valuesOf } from './sparklines.ts';
import { useChartZone } from './use-chart-zone.ts';

const DAY_MS = 86_400_000;
const MOST_ROWS = 1_000;

export type Sparklines = {
  unit: SparklineUnit;
  /** Whether the last value is of a bucket that is not over. */
  isOpenEnded: boolean;
  valuesOf: (linkId: string) => number[];
};

/**
 * Reads the clicks of all links of a page over its time range, in one request.
 *
 * @param isShown false: nothing is read
 * @returns null until there is a response
 */
export function useSparklines(
  links: FoundLinks['links'],
  window: WindowQuery,
  isShown: boolean,
): Sparklines | null {
  const zone = useChartZone();
  const unit = sparklineUnit(daysOf(window));
  // In the order of ids: another order of the same page has the same response.
  const ids = links.map(({ link }) => link.id).toSorted();
  const { data } = useQuery<Result>({
    ...analyticsOptions('/analytics/query', {
      metrics: ['clicks'],
      dimensions: ['link', `time:${unit}`],
      filters: [{ dimension: 'link', operator: 'is', values: ids }],
      window,
      time_zone: zone,
      limit: MOST_ROWS,
    }),
    enabled: isShown && ids.length > 0,
  });
  return useMemo(() => {
    if (!data) return null;
    const points = new Map<string, Point[]>();
    for (const row of data.rows) {
      const link = valueIn(row, 'link') ?? '';
      const ofLink = points.get(link) ?? [];
      points.set(link, ofLink);
      ofLink.push({ label: valueIn(row, `time:${unit}`) ?? '', clicks: row.metrics.clicks ?? 0 });
    }
    const buckets = bucketsOf({ unit, window: data.window, zone });
    const { isOpenEnded } = buckets;
    return { unit, isOpenEnded, valuesOf: (linkId) => valuesOf(points.get(linkId) ?? [], buckets) };
  }, [data, unit, zone]);
}

const daysOf = ({ days, from, to }: WindowQuery): number =>
  days ?? (Date.parse(to ?? '') - Date.parse(from ?? '')) / DAY_MS;
