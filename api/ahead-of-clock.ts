import { NANOS_PER_MICRO, NANOS_PER_SECOND, nowNanos } from '../core/time/timestamps.ts';
import type { Queryable } from '../sql/database/pool.ts';
import { clockShiftAt } from '../sql/event-log/clock-corrections.ts';

/** A reader whose clock is a little ahead means what it says. */
const SLACK = 5n * NANOS_PER_SECOND;

/**
 * How much earlier a reader's place is than it says: a place in the future was given out while the clock was ahead, and since then the
 * events before it have got their right times. Without this the reader would get nothing until that time has come.
 *
 * @param place nanoseconds since the epoch
 * @returns nanoseconds; 0 for a place that is not in the future
 */
export async function aheadOfClock(db: Queryable, place: bigint): Promise<bigint> {
  if (place <= nowNanos() + SLACK) return 0n;
  return BigInt(await clockShiftAt(db, place / NANOS_PER_MICRO)) * NANOS_PER_MICRO;
}
