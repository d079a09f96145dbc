/** Timers count whole milliseconds of a clock that is up to one behind, so they may fire that much early. */
const TIMER_MS = 1;

/**
 * Returns a wait that ends just after the next multiple of an interval. Loops that share this wait wake the process
 * once. A wait that ended too early would need a second one up to the multiple: two wake-ups instead of one.
 *
 * @param everyMs at least 1
 * @param now of a monotonic clock, milliseconds
 * @returns whole milliseconds
 */
export function untilNextTick(everyMs: number, now: number = performance.now()): number {
  return Math.ceil(everyMs - (now % everyMs)) + TIMER_MS;
}
