import { isRewriting } from '../../clickhouse/erasures.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { expiredMonths, removeMonth } from '../../clickhouse/retention.ts';
import { dataFrom } from '../../core/time/retention.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { workspacesByRetention } from '../../sql/workspaces/workspaces.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { forEachReplica } from '../replicas/for-each-replica.ts';

export type RetainDependencies = { pool: Pool; replicas: readonly Replica[]; metrics: WorkerMetrics };

/**
 * Removes the clicks that are older than the retention of their workspace from each replica, by month. The next pass of
 * the roll-ups follows, since a day's clicks changed. It reads the rows that are left, so it may be interrupted
 * anywhere, and late clicks are removed by the next run.
 *
 * One worker at a time: two would start the same mutation of ClickHouse twice.
 *
 * @param now milliseconds since the epoch
 * @returns false: the next run follows on schedule
 */
export async function removeExpired(dependencies: RetainDependencies, now = Date.now()): Promise<boolean> {
  await withJobLease(dependencies.pool, 'retention', () => removeMonths(dependencies, now));
  return false;
}

async function removeMonths({ pool, replicas, metrics }: RetainDependencies, now: number): Promise<void> {
  const kept = await workspacesByRetention(pool);
  if (kept.size === 0) return;
  await forEachReplica(replicas, (replica) => removeMonthsOf(replica, kept, metrics, now));
}

async function removeMonthsOf(
  { clickhouse }: Replica,
  kept: Awaited<ReturnType<typeof workspacesByRetention>>,
  metrics: WorkerMetrics,
  now: number,
): Promise<void> {
  if (await isRewriting(clickhouse)) return;
  for (const [months, workspaceIds] of kept) {
    const expired = await expiredMonths(clickhouse, { workspaceIds, before: dataFrom(months, now) });
    for (const [month, workspaces] of expired) {
      await removeMonth(clickhouse, month, workspaces);
      metrics.cleaned.inc({ what: 'click_months' }, workspaces.length);
    }
  }
}
