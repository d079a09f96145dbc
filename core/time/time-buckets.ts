// Browsers run this file too.
import type { TimeUnit } from '../analytics/dimensions.ts';
import { badRequest } from '../errors.ts';
import { dateAt, firstInstantOf, offsetAt } from './first-instant.ts';
import { NANOS_PER_MILLI } from './timestamps.ts';
import { type ZoneClock, zoneClock } from './zone-clock.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;

/**
 * Cuts a window into units of a clock in the time zone. A day on which clocks change has 23 or 25 hours; an hour that
 * comes twice is two buckets. Weeks begin on Monday.
 *
 * @param span nanoseconds, half-open
 * @param most buckets
 * @returns the starts of the buckets, nanoseconds, ascending, the first one not after the window's start; null: more
 * than `most`
 */
export function bucketStarts(
  span: { from: bigint; to: bigint },
  unit: TimeUnit,
  timezone: string,
  most: number,
): bigint[] | null {
  const from = floorMillis(span.from);
  const clock = zoneClock(timezone);
  const starts = isOfClock(unit) ? clockUnitsFrom(clock, from, MILLIS[unit]) : datesFrom(clock, from, unit);
  const found: bigint[] = [];
  for (const start of starts) {
    const nanos = BigInt(start) * NANOS_PER_MILLI;
    if (nanos >= span.to) break;
    if (found.length === most) return null;
    found.push(nanos);
  }
  return found;
}

const MILLIS = { minute: MINUTE, hour: HOUR } as const;
const isOfClock = (unit: TimeUnit): unit is keyof typeof MILLIS => unit in MILLIS;

/**
 * Returns the labels of buckets: of minutes and hours `2026-10-25T02:00:00+01:00`, of days and weeks `2026-10-25`, of
 * months `2026-10`.
 *
 * @param starts within the buckets, such as {@link bucketStarts} returns
 */
export function bucketLabels(starts: readonly bigint[], unit: TimeUnit, timezone: string): string[] {
  const clock = zoneClock(timezone);
  return starts.map((start) => {
    const instant = Number(start / NANOS_PER_MILLI);
    const date = new Date(clock(instant));
    if (unit === 'week') date.setUTCDate(date.getUTCDate() - daysSinceMonday(date));
    const shown = date.toISOString();
    if (unit === 'month') return shown.slice(0, 7);
    if (!isOfClock(unit)) return shown.slice(0, 10);
    return `${shown.slice(0, 19)}${formatOffset(offsetAt(clock, instant))}`;
  });
}

const daysSinceMonday = (date: Date) => (date.getUTCDay() + 6) % 7;

/** Formats an offset from UTC, milliseconds, as ISO 8601 does. Offsets of the nineteenth century have seconds. */
function formatOffset(offset: number): string {
  const seconds = Math.round(Math.abs(offset) / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = '', minutes = '', rest = ''] = parts.map((part) => String(part).padStart(2, '0'));
  return `${offset < 0 ? '-' : '+'}${hours}:${minutes}${rest === '00' ? '' : `:${rest}`}`;
}

/**
 * Returns a time zone's name. `europe/berlin` is spelled as the IANA database does; an alias such as `Asia/Kolkata`
 * stays.
 *
 * @param path name of the parameter
 * @throws {AppError} `bad_request` when it is not a name of the IANA time zone database
 */
export function checkTimeZone(path: string, name: string): string {
  // An offset such as +01:00 is known to the runtime too, but knows no summer time.
  const canonical = /^[A-Za-z]/.test(name) ? canonicalZone(name) : null;
  if (canonical === null) throw badRequest(path, 'must be an IANA time zone, such as Europe/Berlin');
  const isAlias = canonical.toLowerCase() !== name.toLowerCase();
  return isAlias && /^[A-Z]/.test(name) ? name : canonical;
}

/**
 * Returns a time zone's name as the IANA database spells it, the only spelling that ClickHouse knows; null: unknown.
 */
export function canonicalZone(timeZone: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Yields each full hour or minute on the clock, from the one that contains `from`. @param unit milliseconds */
function* clockUnitsFrom(clock: ZoneClock, from: number, unit: number): Generator<number> {
  let start = from - (remainder(clock(from), unit) + remainder(from, 1_000));
  for (;;) {
    yield start;
    const next = start + unit;
    // When clocks change by half an hour, the next full hour is not an hour away.
    const past = remainder(clock(next), unit);
    start = past === 0 ? next : next + unit - past;
  }
}

/** Yields the first instant of each day, week or month on the calendar, from the one that contains `from`. */
function* datesFrom(clock: ZoneClock, from: number, unit: 'day' | 'week' | 'month'): Generator<number> {
  const date = dateAt(clock, from);
  const sinceMonday = daysSinceMonday(new Date(clock(from)));
  let last = Number.NEGATIVE_INFINITY;
  for (let step = 0; ; step++) {
    const at = {
      day: { ...date, day: date.day + step },
      week: { ...date, day: date.day - sinceMonday + 7 * step },
      month: { ...date, month: date.month + step, day: 1 },
    }[unit];
    const start = firstInstantOf(clock, at);
    // A day that a zone skipped when it crossed the date line begins with the next one.
    if (start > last) yield start;
    last = start;
  }
}

/** Returns the remainder of a division, never below zero. */
const remainder = (value: number, by: number) => ((value % by) + by) % by;

function floorMillis(nanos: bigint): number {
  const rest = ((nanos % NANOS_PER_MILLI) + NANOS_PER_MILLI) % NANOS_PER_MILLI;
  return Number((nanos - rest) / NANOS_PER_MILLI);
}
