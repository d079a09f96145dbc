import type { EventSource } from './types.ts';

const SERVER = 1n << 63n;
const LATEST = SERVER - 1n;

/**
 * Returns the version of a report of an order; the highest one counts. A server's report beats the pixel's, then the
 * earliest wins. It depends on the report alone, so PostgreSQL and ClickHouse agree in any order of arrival.
 *
 * @param tsNanos the report's time, nanoseconds, unique in a deployment
 * @returns an unsigned 64-bit number
 */
export function orderVersion(source: EventSource, tsNanos: bigint): bigint {
  return (source === 'server' ? SERVER : 0n) + (LATEST - tsNanos);
}

/** Returns the time of the report behind a version. Nanoseconds. */
export function versionNanos(version: bigint): bigint {
  return LATEST - (version & LATEST);
}
