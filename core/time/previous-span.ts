import { type CalendarDate, dateAt, firstInstantOf } from './first-instant.ts';
import { NANOS_PER_MILLI } from './timestamps.ts';
import { type ZoneClock, zoneClock } from './zone-clock.ts';

/** A half-open span of time in nanoseconds since the epoch. */
type Span = { from: bigint; to: bigint };

const DAY_MS = 86_400_000;

/**
 * Returns the span that ends where the given one begins. Before whole days of the time
 * zone's calendar come as many days, before whole months as many months, although months differ in length; before any
 * other span comes one of its length.
 */
export function previousSpan({ from, to }: Span, timeZone: string): Span {
  const clock = zoneClock(timeZone);
  const first = dateAtMidnight(clock, from);
  const last = dateAtMidnight(clock, to);
  if (!first || !last) return { from: from - (to - from), to: from };
  const before = isWholeMonths(first, last)
    ? { ...first, month: first.month - monthsBetween(first, last) }
    : { ...first, day: first.day - daysBetween(first, last) };
  return { from: BigInt(firstInstantOf(clock, before)) * NANOS_PER_MILLI, to: from };
}

/** Returns the date that begins at an instant on the zone's calendar, or null when none does. */
function dateAtMidnight(clock: ZoneClock, nanos: bigint): CalendarDate | null {
  if (nanos % NANOS_PER_MILLI !== 0n) return null;
  const instant = Number(nanos / NANOS_PER_MILLI);
  const date = dateAt(clock, instant);
  return firstInstantOf(clock, date) === instant ? date : null;
}

const isWholeMonths = (first: CalendarDate, last: CalendarDate) => first.day === 1 && last.day === 1;

const monthsBetween = (first: CalendarDate, last: CalendarDate) =>
  (last.year - first.year) * 12 + last.month - first.month;

const daysBetween = (first: CalendarDate, last: CalendarDate) =>
  Math.round((utcOf(last) - utcOf(first)) / DAY_MS);

const utcOf = ({ year, month, day }: CalendarDate) => Date.UTC(year, month - 1, day);
