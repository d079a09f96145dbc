import type { TimeUnit } from '../../../../core/analytics/dimensions.ts';
import { bucketStart } from '../../dashboard/buckets.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Buckets of a sparkline's window: rows of one response are at most 1,000, for the 25 links of a page. */
export type SparklineUnit = Extract<TimeUnit, 'hour' | 'day' | 'week' | 'month'>;

/** The unit of the buckets of a window that is `days` long: at most 40 of them. */
export function sparklineUnit(days: number): SparklineUnit {
  if (days <= 1) return 'hour';
  if (days <= 38) return 'day';
  return days <= 7 * 38 ? 'week' : 'month';
}

/** The figures of a link by bucket, as the API has them: buckets without clicks are left out. */
export type Point = { label: string; clicks: number };

/** The buckets of a window: the slot of the first one, and how many there are. */
export type Buckets = { unit: SparklineUnit; first: number; count: number };

/**
 * Returns the buckets of a response's window. Formats two days, so call it once for all links.
 *
 * @param given.window instants
 * @param given.zone of the buckets
 */
export function bucketsOf({
  unit,
  window,
  zone,
}: {
  unit: SparklineUnit;
  window: { from: string; to: string };
  zone: string;
}): Buckets {
  const first = slotOf(labelAt(window.from, unit, zone), unit);
  // The end is exclusive.
  const last = slotOf(labelAt(new Date(Date.parse(window.to) - 1).toISOString(), unit, zone), unit);
  return { unit, first, count: Math.max(1, last - first + 1) };
}

/** Returns the clicks of every bucket, empty ones included. */
export function valuesOf(points: readonly Point[], { unit, first, count }: Buckets): number[] {
  const values = Array.from({ length: count }, () => 0);
  for (const { label, clicks } of points) {
    const at = Math.min(count - 1, Math.max(0, slotOf(label, unit) - first));
    values[at] = (values[at] ?? 0) + clicks;
  }
  return values;
}

/** A number that grows by one with each bucket. */
function slotOf(label: string, unit: SparklineUnit): number {
  if (unit === 'month') {
    const [year = 0, month = 0] = label.split('-').map(Number);
    return year * 12 + month;
  }
  const start = bucketStart(label);
  if (unit === 'hour') return Math.floor(start / HOUR);
  // Day 4 of the epoch was a Monday.
  return unit === 'day' ? Math.floor(start / DAY) : Math.floor((start - 4 * DAY) / WEEK);
}

/** The label of the bucket of an instant: for hours the instant, else its day in the time zone. */
function labelAt(instant: string, unit: SparklineUnit, zone: string): string {
  if (unit === 'hour') return instant;
  // The Swedish format is `2026-02-28`.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(new Date(instant));
}
