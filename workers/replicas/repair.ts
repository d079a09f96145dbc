import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { replicaStates } from '../../sql/event-log/replica-repairs.ts';
import { repairOrders } from '../jobs/publish-orders.ts';

export type RepairDependencies = { pool: Pool; replicas: readonly Replica[]; log: Logger };

/**
 * Creates the job that writes into each replica what it has missed while it failed. A replica is read again when
 * nothing is left.
 *
 * @returns one run, which returns whether more may be left; it throws when a replica still fails
 */
export function createRepair({ pool, replicas, log }: RepairDependencies): () => Promise<boolean> {
  return async () => {
    const out = (await replicaStates(pool)).filter(({ isOut }) => isOut);
    const due = replicas.filter(({ name }) => out.some((state) => state.name === name));
    const repaired = await Promise.allSettled(
      due.map(async (replica) => {
        const written = await repairOrders(pool, replica);
        if (written > 0) log.info({ replica: replica.name, orders: written }, 'repaired a replica');
        return written;
      }),
    );
    const failed = repaired.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    return repaired.some((one) => one.status === 'fulfilled' && one.value > 0);
  };
}
