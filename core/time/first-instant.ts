// Browsers run this file too.
import type { ZoneClock } from './zone-clock.ts';

const DAY = 86_400_000;

/** A date of a calendar, month 1 to 12. A month or day beyond the last one is in the next year or month. */
export type CalendarDate = { year: number; month: number; day: number };

/** Returns how much a clock is ahead of UTC at an instant. Milliseconds. */
export const offsetAt = (clock: ZoneClock, instant: number): number => clock(instant) - instant;

/** Returns the date that a clock shows at an instant. */
export function dateAt(clock: ZoneClock, instant: number): CalendarDate {
  const shown = new Date(clock(instant));
  return { year: shown.getUTCFullYear(), month: shown.getUTCMonth() + 1, day: shown.getUTCDate() };
}

/**
 * Returns the start of an hour of a date in a zone, midnight by default: of an hour that comes twice the first one, of
 * an hour that clocks skip its end. Milliseconds since the epoch.
 */
export function firstInstantOf(clock: ZoneClock, { year, month, day }: CalendarDate, hour = 0): number {
  const local = Date.UTC(year, month - 1, day, hour);
  // The offset at that instant is the one at that time in UTC, or another one when clocks change in between.
  for (const guess of [local - offsetAt(clock, local), local - offsetAt(clock, local - DAY)]) {
    if (clock(guess) === local && clock(guess - 1) < local) return guess;
  }
  let before = local - DAY;
  let after = local + DAY;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (clock(middle) < local) before = middle;
    else after = middle;
  }
  return after;
}
