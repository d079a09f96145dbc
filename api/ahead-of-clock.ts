import { NANOS_PER_MICRO, NANOS_PER_SECOND, nowNanos } from '../core/time/timestamps.ts';
import type { Queryable } from '../sql/database/pool.ts';
import { clockShiftAt } from '../sql/event-log/clock-corrections.ts';

/** Tolerance for a client whose clock is ahead. */
const SLACK = 5n * NANOS_PER_SECOND;

/**
 * Returns how far a cursor is in the future, in nanoseconds, or 0. Such a cursor was issued while the server's clock
 * was ahead; the times of the events before it have been corrected since. Without the correction the client would get
 * nothing until that time.
 *
 * @param place nanoseconds since the epoch
 */
export async function aheadOfClock(db: Queryable, place: bigint): Promise<bigint> {
  if (place <= nowNanos() + SLACK) return 0n;
  return BigInt(await clockShiftAt(db, place / NANOS_PER_MICRO)) * NANOS_PER_MICRO;
}
