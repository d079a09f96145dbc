import type { Queryable } from '../../sql/database/pool.ts';
import { countDifferences } from '../../sql/event-log/count-differences.ts';

const HOUR_MS = 3_600_000;
/** Differences that are named, at most: more say nothing more. */
const NAMED = 100;

/** A stream and an hour of which a replica has other clicks than the log had, as operators read it. */
export type NamedDifference = {
  replica: string;
  /** Name of the stream, or its ordinal. */
  stream: string;
  /** Begin of the hour. */
  hour: string;
  counted: number;
  stored: number;
};

/** Returns the oldest differences, with names. */
export async function describeDifferences(db: Queryable): Promise<NamedDifference[]> {
  const all = await countDifferences(db);
  return all.slice(0, NAMED).map(({ replica, stream, ordinal, hour, counted, stored }) => ({
    replica,
    stream: stream ?? `ordinal ${ordinal}`,
    hour: hourName(hour),
    counted,
    stored,
  }));
}

/** Returns an hour since the epoch as its begin: `2026-11-30T04:00Z`. */
export function hourName(hour: number): string {
  return `${new Date(hour * HOUR_MS).toISOString().slice(0, 16)}Z`;
}
