import { COMPARED_MS } from '../../clickhouse/counts/removed-clicks.ts';
import type { HourRange } from '../../clickhouse/counts/stored-clicks.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  countDifferences,
  lastComparisons,
  recordComparison,
  recordDifferences,
} from '../../sql/event-log/count-differences.ts';
import { pruneCounts } from '../../sql/event-log/counted-clicks.ts';
import { listReplicas } from '../../sql/event-log/replica-marks.ts';
import { compareHours } from './compare-hours.ts';
import { hourName } from './differences.ts';

export type CompareDependencies = { pool: Pool; replicas: readonly Replica[]; log: Logger };

const HOUR_MS = 3_600_000;
export const COMPARE_EVERY_MS = 60_000;
/** Each worker has a schedule of its own: a replica that another one has just compared is left out. Milliseconds. */
const RECENT_MS = 45_000;
/** After the end of an hour its clicks may still be on their way. Milliseconds. */
const SETTLES_MS = 600_000;
const COMPARED_HOURS = COMPARED_MS / HOUR_MS;

/**
 * Compares the clicks of each replica with what the log had: the present hour, the hours that differed before, and one
 * older hour. So each of the last 14 days is compared every six hours.
 *
 * @param now milliseconds since the epoch
 * @returns false: the next run follows on schedule
 */
export async function compareCounts(
  { pool, replicas, log }: CompareDependencies,
  now = Date.now(),
): Promise<boolean> {
  await withJobLease(pool, 'countComparison', async () => {
    const last = new Map((await lastComparisons(pool)).map((known) => [known.replica, known]));
    const readable = (await listReplicas(pool)).filter(({ isReadable }) => isReadable);
    for (const replica of replicas.filter(({ name }) => readable.some((one) => one.name === name))) {
      const known = last.get(replica.name);
      // A time in the future was written while the clock was ahead.
      const age = known ? now - known.comparedAt.getTime() : Number.POSITIVE_INFINITY;
      if (age >= 0 && age < RECENT_MS) continue;
      await compareReplica({ pool, replica, log }, now, known?.nextHour ?? null);
    }
    await pruneCounts(pool, Math.floor(now / HOUR_MS));
  });
  return false;
}

async function compareReplica(
  { pool, replica, log }: { pool: Pool; replica: Replica; log: Logger },
  now: number,
  next: number | null,
): Promise<void> {
  const recent = Math.floor((now - SETTLES_MS) / HOUR_MS);
  const oldest = recent - COMPARED_HOURS;
  const older = next === null || next >= recent || next < oldest ? recent - 1 : next;
  const known = (await countDifferences(pool)).filter(({ replica: name }) => name === replica.name);
  const again = known.map(({ hour }) => hour).filter((hour) => hour < recent && hour >= oldest);
  for (const hour of new Set([...again, older])) await compare({ from: hour, to: hour });
  await compare({ from: recent, to: null });
  await recordComparison(pool, replica.name, { nextHour: older - 1, oldest });

  async function compare(range: HourRange): Promise<void> {
    const found = await compareHours(pool, replica, range);
    const added = await recordDifferences(pool, replica.name, range, found);
    if (added.length === 0) return;
    for (const { ordinal, stream, hour, counted, stored } of await countDifferences(pool)) {
      if (!added.some((one) => one.ordinal === ordinal && one.hour === hour)) continue;
      log.error(
        { replica: replica.name, stream, ordinal, hour: hourName(hour), counted, stored },
        'ClickHouse has other clicks than the event log had; see docs/operations/counts.md',
      );
    }
  }
}
