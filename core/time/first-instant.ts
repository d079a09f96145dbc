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
 * Returns the start of a date in a zone: midnight, or the end of the hour that clocks skip. Milliseconds since the
 * epoch.
 */
export function firstInstantOf(clock: ZoneClock, { year, month, day }: CalendarDate): number {
  const midnight = Date.UTC(year, month - 1, day);
  // The offset at that instant is the one at midnight UTC, or another one when clocks change in between.
  for (const guess of [midnight - offsetAt(clock, midnight), midnight - offsetAt(clock, midnight - DAY)]) {
    if (clock(guess) === midnight && clock(guess - 1) < midnight) return guess;
  }
  let before = midnight - DAY;
  let after = midnight + DAY;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (clock(middle) < midnight) before = middle;
    else after = middle;
  }
  return after;
}
