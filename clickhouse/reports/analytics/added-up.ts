import type { Metric } from '../../../core/analytics/dimensions.ts';
import { byRevenueThenClicks } from '../figures.ts';
import type { AnalyticsRow } from './query.ts';

/** The metrics of clicks, and those of leads and orders: each half is a query of one source. */
export const HALVES: readonly (readonly Metric[])[] = [
  ['clicks', 'visitors'],
  ['leads', 'conversions', 'revenue'],
];

/** Adds up rows of the {@link HALVES} by their keys: most revenue first, then most clicks. */
export function addedUp(rows: readonly AnalyticsRow[]): AnalyticsRow[] {
  const byKeys = new Map<string, AnalyticsRow>();
  for (const row of rows) {
    const name = row.keys.join('\0');
    const found = byKeys.get(name);
    byKeys.set(name, found ? { ...found, figures: sum(found.figures, row.figures) } : row);
  }
  return [...byKeys.values()].sort(inOrder);
}

const sum = (a: AnalyticsRow['figures'], b: AnalyticsRow['figures']): AnalyticsRow['figures'] => ({
  ...a,
  clicks: a.clicks + b.clicks,
  visitors: a.visitors + b.visitors,
  leads: a.leads + b.leads,
  conversions: a.conversions + b.conversions,
  revenueMinor: a.revenueMinor + b.revenueMinor,
});

/** Keys are compared by their bytes, as ClickHouse does. */
const inOrder = (a: AnalyticsRow, b: AnalyticsRow): number =>
  byRevenueThenClicks(a.figures, b.figures) ||
  Buffer.compare(Buffer.from(a.keys.join('\0')), Buffer.from(b.keys.join('\0')));
