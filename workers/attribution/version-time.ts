import { versionNanos } from '../../core/order-version.ts';
import { NANOS_PER_MICRO } from '../../core/timestamps.ts';

/**
 * The time of the credits of a version of an order: part of their key, so it must be told by the version alone.
 *
 * @returns microseconds, and the last three digits of the nanoseconds
 */
export function timeOf(version: bigint): { ts: number; ordinal: number } {
  const nanos = versionNanos(version);
  return { ts: Number(nanos / NANOS_PER_MICRO), ordinal: Number(nanos % NANOS_PER_MICRO) };
}
