import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { replicaStates } from '../../sql/event-log/replica-repairs.ts';
import { repairOrders } from '../jobs/publish-orders.ts';
import { repairRollUps } from '../rollups/keep-rolled-up.ts';
import { forEachReplica } from './for-each-replica.ts';

export type RepairDependencies = { pool: Pool; replicas: readonly Replica[]; log: Logger };

/**
 * Creates the job that writes into each replica what it has missed while it failed. A replica is read again when
 * nothing is left.
 *
 * @returns one run, which returns whether more may be left; it throws when a replica still fails
 */
export function createRepair(dependencies: RepairDependencies): () => Promise<boolean> {
  const { pool, replicas, log } = dependencies;

  async function repair(replica: Replica): Promise<boolean> {
    const orders = await repairOrders(pool, replica);
    const rollUps = await repairRollUps(dependencies, replica);
    if (orders + rollUps === 0) return false;
    log.info({ replica: replica.name, orders, rollUps }, 'repaired a replica');
    return true;
  }

  return async () => {
    const out = (await replicaStates(pool)).filter(({ isOut }) => isOut);
    const due = replicas.filter(({ name }) => out.some((state) => state.name === name));
    return (await forEachReplica(due, repair)).includes(true);
  };
}
