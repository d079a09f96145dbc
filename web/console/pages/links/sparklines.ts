import type { TimeUnit } from '../../../../core/analytics/dimensions.ts';
import { dayIn, LEAST_BUCKETS, slotOf } from '../../dashboard/buckets.ts';
import { instantOfDay } from '../../parts/window.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

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

/**
 * The buckets of a window: the slot of the first one, and how many there are. `isOpenEnded`: the last one is not over,
 * so its figure is lower than those of whole ones.
 */
export type Buckets = { unit: SparklineUnit; first: number; count: number; isOpenEnded: boolean };

/**
 * Returns the buckets of a response's window, without a first one that the window cuts: it would look like a rise.
 * Formats a few days, so call it once for all links.
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
  const [from, to] = [Date.parse(window.from), Date.parse(window.to)];
  const first = slotOf(labelAt(from, unit, zone), unit);
  // The end is exclusive.
  const last = slotOf(labelAt(to - 1, unit, zone), unit);
  const startOf = (slot: number) => startOfSlot(slot, unit, zone) + unevenMs(from, unit, zone);
  const isCut = last - first + 1 >= LEAST_BUCKETS && startOf(first) < from;
  return {
    unit,
    first: isCut ? first + 1 : first,
    count: Math.max(1, last - first + (isCut ? 0 : 1)),
    isOpenEnded: startOf(last + 1) > to,
  };
}

/** Returns the clicks of every bucket, empty ones included. */
export function valuesOf(points: readonly Point[], { unit, first, count }: Buckets): number[] {
  const values = Array.from({ length: count }, () => 0);
  for (const { label, clicks } of points) {
    const at = Math.min(count - 1, slotOf(label, unit) - first);
    if (at >= 0) values[at] = (values[at] ?? 0) + clicks;
  }
  return values;
}

/** When a slot begins: milliseconds since the epoch, for hours those of UTC. */
function startOfSlot(slot: number, unit: SparklineUnit, zone: string): number {
  if (unit === 'hour') return slot * HOUR * 1_000;
  return instantOfDay(dayOf(slot, unit), zone, 0).getTime();
}

function dayOf(slot: number, unit: SparklineUnit): string {
  if (unit === 'month') {
    const year = Math.floor((slot - 1) / 12);
    return `${year}-${String(slot - year * 12).padStart(2, '0')}-01`;
  }
  const days = unit === 'day' ? slot : slot * 7 + 4;
  return new Date(days * DAY * 1_000).toISOString().slice(0, 10);
}

/** How long after those of UTC the hours of a zone begin: 30 or 45 minutes in a few. Milliseconds. */
function unevenMs(at: number, unit: SparklineUnit, zone: string): number {
  if (unit !== 'hour') return 0;
  const minute = Number(new Intl.DateTimeFormat('en', { timeZone: zone, minute: 'numeric' }).format(at));
  return ((new Date(at).getUTCMinutes() - minute + 60) % 60) * 60_000;
}

/** The label of the bucket of an instant: for hours when its hour begins, else its day in the time zone. */
function labelAt(at: number, unit: SparklineUnit, zone: string): string {
  return unit === 'hour' ? new Date(at - unevenMs(at, unit, zone)).toISOString() : dayIn(at, zone);
}
