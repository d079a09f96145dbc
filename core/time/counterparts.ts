import type { TimeUnit } from '../analytics/dimensions.ts';
import { NANOS_PER_MILLI } from './timestamps.ts';
import { zoneClock } from './zone-clock.ts';

/**
 * Returns for each bucket of a window the matching one of the compared window. Buckets of days and longer go by
 * position. Those of hours and minutes go by the local time since the window's start, so that 10:00 matches 10:00 after
 * a clock change too. An hour that occurs twice has a counterpart once.
 *
 * @param starts when buckets begin, nanoseconds, rising
 */
export function counterparts(
  starts: readonly bigint[],
  others: readonly bigint[],
  units: readonly TimeUnit[],
  timeZone: string,
): Map<bigint, bigint> {
  const places = units.some((unit) => unit === 'hour' || unit === 'minute')
    ? placesOnClock(timeZone)
    : (some: readonly bigint[]) => some.map((_, n) => n);
  const free = new Map<number, bigint>();
  const there = places(others);
  for (const [n, start] of others.entries()) {
    const place = there[n] ?? 0;
    if (!free.has(place)) free.set(place, start);
  }
  const found = new Map<bigint, bigint>();
  const here = places(starts);
  for (const [n, start] of starts.entries()) {
    const place = here[n] ?? 0;
    const other = free.get(place);
    if (other === undefined) continue;
    found.set(start, other);
    free.delete(place);
  }
  return found;
}

/** Returns a function that computes, for each bucket, the local time since the first one. Milliseconds. */
function placesOnClock(timeZone: string) {
  const clock = zoneClock(timeZone);
  const reading = (start: bigint) => clock(Number(start / NANOS_PER_MILLI));
  return ([first, ...more]: readonly bigint[]): number[] => {
    if (first === undefined) return [];
    const from = reading(first);
    return [0, ...more.map((start) => reading(start) - from)];
  };
}
