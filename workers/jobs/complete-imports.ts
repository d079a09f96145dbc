import type { ReplicasToWrite } from '../../analytics/replicas/write-to-each.ts';
import { answers } from '../../clickhouse/client.ts';
import { copyImport } from '../../clickhouse/copies/copy-import.ts';
import { assertNoInsertRuns } from '../../clickhouse/copies/copy-missed.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { AppError } from '../../core/errors.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { importsToComplete, recordComplete } from '../../sql/event-log/click-imports.ts';
import { replicaStates } from '../../sql/event-log/replica-repairs.ts';

/**
 * Makes the clicks of imports that were killed, or failed, the same in each replica of ClickHouse: one may have got
 * clicks that another one did not. A replica that does not respond has missed them, and is repaired. A running import
 * holds the lease.
 */
export async function completeImports({
  pool,
  replicas,
}: Pick<ReplicasToWrite, 'replicas'> & { pool: Pool }): Promise<void> {
  for (const clicks of await importsToComplete(pool, null)) {
    await withJobLease(pool, `clickImport/${clicks.workspaceId}`, async () => {
      const whole = await wholeReplicas(pool, replicas);
      if (whole.length === 0)
        throw new AppError('unavailable', 'no replica of ClickHouse is up to date; imports wait');
      for (const { clickhouse } of whole) await assertNoInsertRuns(clickhouse);
      for (const to of whole) {
        for (const from of whole) if (from !== to) await copyImport(from.clickhouse, to.clickhouse, clicks);
      }
      await recordComplete(
        pool,
        clicks,
        whole.map(({ name }) => name),
      );
    });
  }
}

/** Returns the replicas that have missed nothing, and respond. */
async function wholeReplicas(pool: Pool, replicas: readonly Replica[]): Promise<Replica[]> {
  const states = await replicaStates(pool);
  const due = replicas.filter(({ name }) =>
    states.some((state) => state.name === name && state.isFilled && !state.isOut),
  );
  const respond = await Promise.all(due.map(({ clickhouse }) => answers(clickhouse)));
  return due.filter((_, n) => respond[n]);
}
