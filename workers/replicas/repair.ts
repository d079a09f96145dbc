import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { replicaStates } from '../../sql/event-log/replica-repairs.ts';
import { repairOrders } from '../jobs/publish-orders.ts';
import { repairRollUps } from '../rollups/keep-rolled-up.ts';
import { forEachReplica } from './for-each-replica.ts';
import { repairErasures } from './repair-erasures.ts';
import { repairImports } from './repair-imports.ts';
import { repairRows } from './repair-rows.ts';
import { repairWorkspaces } from './repair-workspaces.ts';

export type RepairDependencies = { pool: Pool; replicas: readonly Replica[]; log: Logger };

/**
 * Creates the job that writes into each replica what it has missed while it failed. A replica is read again when
 * nothing is left.
 *
 * @returns one run, which returns whether more may be left; it throws when a replica still fails
 */
export function createRepair(dependencies: RepairDependencies): () => Promise<boolean> {
  const { pool, replicas, log } = dependencies;

  /** @returns whether it may have missed more */
  async function repair(replica: Replica): Promise<boolean> {
    const hasMore = [
      await repairOrders(dependencies, replica),
      await repairImports(dependencies, replica),
      await repairWorkspaces(dependencies, replica),
      await repairRows(dependencies, replica, 'clicks'),
      await repairRows(dependencies, replica, 'identifies'),
      await repairRows(dependencies, replica, 'removed_clicks'),
      await repairRows(dependencies, replica, 'attributed_shares'),
      await repairErasures(pool, replica),
    ].includes(true);
    // Last: they count what the others give.
    if (!hasMore) await repairRollUps(dependencies, replica);
    return hasMore;
  }

  return async () => {
    const states = await replicaStates(pool);
    const out = states.filter(({ isOut, isFilling }) => isOut && !isFilling).map(({ name }) => name);
    if (out.length === 0) return false;
    const due = replicas.filter(({ name }) => out.includes(name));
    const hasMore = (await forEachReplica(due, repair)).includes(true);
    const left = (await replicaStates(pool)).filter(({ isOut }) => isOut).map(({ name }) => name);
    for (const { name } of due) {
      if (!left.includes(name)) log.info({ replica: name }, 'a replica has everything that it had missed');
    }
    return hasMore;
  };
}
