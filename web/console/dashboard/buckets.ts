import type { TimeUnit } from '../../../core/analytics/dimensions.ts';
import { instantOfDay } from '../parts/window.ts';
import { valueIn } from './dimensions.ts';
import type { Result } from './source.ts';

/**
 * Seconds since the epoch at which a bucket begins. Labels of days, weeks and months have no offset: they are taken as
 * UTC, and written in UTC by {@link chartZone}.
 */
function bucketStart(label: string): number {
  const text = label.length === 7 ? `${label}-01` : label;
  return Date.parse(text) / 1_000;
}

/** The time zone in which a chart of these buckets writes its times: labels of days are midnights in UTC. */
export const chartZone = (unit: TimeUnit, zone: string): string =>
  unit === 'minute' || unit === 'hour' ? zone : 'UTC';

const FORMATS: Record<TimeUnit, Intl.DateTimeFormatOptions> = {
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  hour: { dateStyle: 'medium', timeStyle: 'short' },
  day: { dateStyle: 'medium' },
  week: { dateStyle: 'medium' },
  month: { month: 'long', year: 'numeric' },
};

/** A bucket's label for people: `25 Nov 2026, 14:00`, `November 2026`. */
export function bucketName(label: string, unit: TimeUnit, zone = 'UTC'): string {
  const at = new Date(bucketStart(label) * 1_000);
  if (Number.isNaN(at.getTime())) return label;
  const written = new Intl.DateTimeFormat(undefined, {
    ...FORMATS[unit],
    timeZone: chartZone(unit, zone),
  }).format(at);
  return unit === 'week' ? `Week of ${written}` : written;
}

const UNIT_DAYS: Partial<Record<TimeUnit, number>> = { day: 1, week: 7 };
const UNIT_MS: Partial<Record<TimeUnit, number>> = { minute: 60_000, hour: 3_600_000 };

/** The instants at which a bucket begins and ends, in the zone that it was made in. Milliseconds since the epoch. */
function boundsOf(label: string, unit: TimeUnit, zone: string): [from: number, to: number] {
  const length = UNIT_MS[unit];
  if (length !== undefined) return [Date.parse(label), Date.parse(label) + length];
  const first = label.length === 7 ? `${label}-01` : label;
  const [year = 0, month = 1] = first.split('-').map(Number);
  const days = UNIT_DAYS[unit] ?? new Date(Date.UTC(year, month, 0)).getUTCDate();
  return [instantOfDay(first, zone, 0).getTime(), instantOfDay(first, zone, days).getTime()];
}

/** The day of an instant in a time zone, such as `2026-02-28`. @param at milliseconds since the epoch */
export const dayIn = (at: number, zone: string): string =>
  // The Swedish format is `2026-02-28`.
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(at);

/**
 * Returns which bucket an instant is in; -1: none.
 *
 * @param labels of the buckets, ascending
 * @param at milliseconds since the epoch
 */
export function bucketAt(labels: readonly string[], at: number, unit: TimeUnit, zone: string): number {
  const isShort = UNIT_MS[unit] !== undefined;
  const day = isShort ? '' : dayIn(at, zone);
  const bucket = labels.findLastIndex((label) => (isShort ? Date.parse(label) <= at : label <= day));
  const label = labels[bucket];
  return label !== undefined && at < boundsOf(label, unit, zone)[1] ? bucket : -1;
}

const HOUR = 3_600;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** The units whose buckets are numbered. */
export type SlotUnit = Exclude<TimeUnit, 'minute'>;

/** A number that grows by one with each bucket. */
export function slotOf(label: string, unit: SlotUnit): number {
  if (unit === 'month') {
    const [year = 0, month = 0] = label.split('-').map(Number);
    return year * 12 + month;
  }
  const start = bucketStart(label);
  if (unit === 'hour') return Math.floor(start / HOUR);
  // Day 4 of the epoch was a Monday.
  return unit === 'day' ? Math.floor(start / DAY) : Math.floor((start - 4 * DAY) / WEEK);
}

/** Returns how many days, weeks, or months of a time zone a window touches; null for buckets of one length. */
export function touchedBuckets(window: Result['window'], unit: TimeUnit, zone: string): number | null {
  if (unit === 'minute' || unit === 'hour') return null;
  // The end is exclusive.
  const last = slotOf(dayIn(Date.parse(window.to) - 1, zone), unit);
  return last - slotOf(dayIn(Date.parse(window.from), zone), unit) + 1;
}

/** Fewest buckets of a chart of which the first may be left out. */
export const LEAST_BUCKETS = 4;

/**
 * The buckets of a chart. The first is left out where the window cuts it, and the last is marked where it is not over:
 * their figures are lower than those of whole ones, and would look like a fall.
 */
export function chartBuckets(
  { rows: all, window }: Pick<Result, 'rows' | 'window'>,
  unit: TimeUnit,
  zone: string,
) {
  const labelOf = (row: Result['rows'][number]) => valueIn(row, `time:${unit}`) ?? '';
  const [first] = all;
  const last = all.at(-1);
  const isCut =
    first !== undefined &&
    all.length >= LEAST_BUCKETS &&
    boundsOf(labelOf(first), unit, zone)[0] < Date.parse(window.from);
  const rows = isCut ? all.slice(1) : all;
  return {
    rows,
    labels: rows.map(labelOf),
    times: rows.map((row) => bucketStart(labelOf(row))),
    isOpenEnded: last !== undefined && boundsOf(labelOf(last), unit, zone)[1] > Date.parse(window.to),
  };
}
