import type { EventSource } from './types.ts';

const SERVER = 1n << 63n;
const LATEST = SERVER - 1n;

/**
 * Which of several reports of one order counts: the one with the highest version. A server's report beats the
 * pixel's, then the earliest wins. It depends on the report alone, so that Postgres and ClickHouse agree
 * whatever the order of arrival.
 *
 * @param tsNanos the report's time, nanoseconds, unique in a deployment
 * @returns an unsigned 64-bit number
 */
export function orderVersion(source: EventSource, tsNanos: bigint): bigint {
  return (source === 'server' ? SERVER : 0n) + (LATEST - tsNanos);
}

/** The time of the report that a version was made of, nanoseconds. */
export function versionNanos(version: bigint): bigint {
  return LATEST - (version & LATEST);
}
