/**
 * Returns the time until the next multiple of an interval. Loops that wait so wake the process together.
 *
 * @param everyMs at least 1
 * @param now of a monotonic clock, milliseconds
 */
export function untilNextTick(everyMs: number, now: number = performance.now()): number {
  return everyMs - (now % everyMs);
}
