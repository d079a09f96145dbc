import { copyWorkspace } from '../../clickhouse/copies/copy-workspace.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { copyableOf, missRollUps, recordRepaired } from '../../sql/event-log/replica-repairs.ts';
import { copyFrom } from './copy-from.ts';

const CHUNK = 5;

/**
 * Gives a replica the events of imported workspaces that it has missed. Its roll-ups follow.
 *
 * @returns whether it may have missed more
 */
export async function repairWorkspaces(
  { pool, replicas }: { pool: Pool; replicas: readonly Replica[] },
  { name, clickhouse }: Replica,
): Promise<boolean> {
  const missed = await copyableOf(pool, name, 'workspace_imports', CHUNK);
  for (const one of missed) {
    await copyFrom(replicas, one, (source) => copyWorkspace(source.clickhouse, clickhouse, one.subject));
    await inTransaction(pool, async (tx) => {
      await missRollUps(tx, name);
      await recordRepaired(tx, name, 'workspace_imports', [one]);
    });
  }
  return missed.length === CHUNK;
}
