import type { Replica } from '../../clickhouse/replicas.ts';
import { rollUp } from '../../clickhouse/rollups/roll-up.ts';
import type { Logger } from '../../core/tier/log.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { rolledUp, rollUpDue } from '../../sql/event-log/click-imports.ts';
import { replicaWatermark } from '../../sql/event-log/replica-marks.ts';
import { missedOf, recordMissed, recordRepaired } from '../../sql/event-log/replica-repairs.ts';
import { forEachReplica } from '../replicas/for-each-replica.ts';

export type RollUpDependencies = { pool: Pool; replicas: readonly Replica[]; log: Logger };

/**
 * Rolls up the days and months that the watermark has passed, in each replica by its own. Afterwards only an erasure or
 * a retired stream changes a day; the next run rolls it up again.
 *
 * @returns false: the next run follows on schedule
 */
export async function keepRolledUp(dependencies: RollUpDependencies): Promise<boolean> {
  await withLease(dependencies.pool, () =>
    forEachReplica(dependencies.replicas, (replica) => rollUpClosed(dependencies, replica)),
  );
  return false;
}

/**
 * Rolls up the days that imports of clicks have changed, or imports that were undone. A replica that fails does it
 * when it is repaired.
 *
 * @returns false: the next run follows on schedule
 */
export async function rollUpImports(dependencies: RollUpDependencies): Promise<boolean> {
  const { pool, replicas } = dependencies;
  const due = await rollUpDue(pool);
  if (due === null) return false;
  await withLease(pool, async () => {
    const ended = await Promise.allSettled(replicas.map((replica) => rollUpClosed(dependencies, replica)));
    const failed = ended.find((one) => one.status === 'rejected');
    const stored = replicas.filter((_, n) => ended[n]?.status === 'fulfilled').map(({ name }) => name);
    if (failed && stored.length === 0) throw failed.reason;
    if (ended.some((one) => one.status === 'fulfilled' && !one.value)) return;
    await inTransaction(pool, async (tx) => {
      await recordMissed(tx, { stored, of: [{ work: 'roll_ups', subject: 'all' }] });
      await rolledUp(tx, due);
    });
  });
  return false;
}

/** Rolls up what a replica missed of imports, unless another process rolls up. */
export async function repairRollUps(dependencies: RollUpDependencies, replica: Replica): Promise<void> {
  const { pool } = dependencies;
  const missed = await missedOf(pool, replica.name, 'roll_ups', 1);
  if (missed.length === 0) return;
  await withLease(pool, async () => {
    if (await rollUpClosed(dependencies, replica))
      await recordRepaired(pool, replica.name, 'roll_ups', missed);
  });
}

/** One process at a time rolls up. */
const withLease = (pool: Pool, work: () => Promise<unknown>) => withJobLease(pool, 'rollups', work);

/** @returns false when there is no stream, so that no day has ended */
async function rollUpClosed(
  { pool, log }: Pick<RollUpDependencies, 'pool' | 'log'>,
  { name, clickhouse }: Replica,
): Promise<boolean> {
  const micros = await replicaWatermark(pool, name);
  if (micros === null) return false;
  const closed = new Date(micros / 1_000).toISOString().slice(0, 10);
  const { made } = await rollUp(clickhouse, closed);
  if (made.length > 0)
    log.info({ replica: name, closed, made: made.length, newest: made.at(-1) }, 'rolled up clicks');
  return true;
}
