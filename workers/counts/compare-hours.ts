import { setTimeout as delay } from 'node:timers/promises';
import { type HourRange, storedClicks } from '../../clickhouse/counts/stored-clicks.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { comparisonPoint } from '../../sql/event-log/counted-clicks.ts';

/** A stream and an hour with other clicks than the log had. */
export type HourDifference = {
  ordinal: number;
  hour: number;
  counted: number;
  stored: number;
  /** How far the sums of sequences are apart. */
  sequences: bigint;
};

/** Looks at a range that differs, at most. */
const LOOKS = 6;
const BETWEEN_LOOKS_MS = 1_000;

/**
 * Compares the clicks of a range of hours in one replica with the log's counts, and returns the streams and hours that
 * differ.
 *
 * A replay of dead letters, or an erasure, may change both databases between two reads. So what differs is looked at
 * again, until two looks in a row find the same difference.
 */
export async function compareHours(
  pool: Pool,
  replica: Replica,
  range: HourRange,
): Promise<HourDifference[]> {
  let before = await look(pool, replica, range);
  for (let looks = 1; before.length > 0; looks++) {
    await delay(BETWEEN_LOOKS_MS);
    const now = await look(pool, replica, range);
    const stable = now.filter((found) => before.some((known) => isSame(found, known)));
    if (stable.length === now.length || looks === LOOKS) return stable;
    before = now;
  }
  return before;
}

/** The marks are read before the clicks: every click below them is stored by then. */
async function look(pool: Pool, { name, clickhouse }: Replica, range: HourRange): Promise<HourDifference[]> {
  const point = await comparisonPoint(pool, name, range);
  const hours = new Map<string, HourDifference>();
  for (const { ordinal, hour, clicks, sequences } of point.counted) {
    hours.set(`${ordinal}/${hour}`, { ordinal, hour, counted: clicks, stored: 0, sequences: -sequences });
  }
  for (const { ordinal, hour, clicks, sequences } of await storedClicks(clickhouse, range, point.next)) {
    if (point.isExcluded(ordinal, hour)) continue;
    const key = `${ordinal}/${hour}`;
    const known = hours.get(key) ?? { ordinal, hour, counted: 0, stored: 0, sequences: 0n };
    hours.set(key, { ...known, stored: clicks, sequences: known.sequences + sequences });
  }
  return [...hours.values()].filter(
    ({ counted, stored, sequences }) => counted !== stored || sequences !== 0n,
  );
}

function isSame(one: HourDifference, other: HourDifference): boolean {
  return (
    one.ordinal === other.ordinal &&
    one.hour === other.hour &&
    one.stored - one.counted === other.stored - other.counted &&
    one.sequences === other.sequences
  );
}
