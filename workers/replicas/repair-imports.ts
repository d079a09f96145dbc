import { copyImport, matchImport } from '../../clickhouse/copies/copy-import.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { removeImport } from '../../clickhouse/undo-import.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { clickImport } from '../../sql/event-log/click-imports.ts';
import { copyableOf, missRollUps, recordRepaired } from '../../sql/event-log/replica-repairs.ts';
import { copyFrom } from './copy-from.ts';

const CHUNK = 20;

/**
 * Gives a replica the clicks of imports that it has missed, and removes those of imports that were undone. Its roll-ups
 * follow.
 *
 * @returns whether it may have missed more
 */
export async function repairImports(
  { pool, replicas }: { pool: Pool; replicas: readonly Replica[] },
  replica: Replica,
): Promise<boolean> {
  const { name, clickhouse } = replica;
  const missed = await copyableOf(pool, name, 'click_imports', CHUNK);
  for (const one of missed) {
    const [workspaceId = '', importId = ''] = one.subject.split('/');
    const clicks = { workspaceId, importId };
    const isUndone = (await clickImport(pool, workspaceId, importId))?.undone_at != null;
    if (isUndone) await removeImport(clickhouse, clicks);
    else
      await copyFrom(replicas, one, (source) =>
        (one.areWhole ? matchImport : copyImport)(source.clickhouse, clickhouse, clicks),
      );
    await inTransaction(pool, async (tx) => {
      await missRollUps(tx, name);
      await recordRepaired(tx, name, 'click_imports', [one]);
    });
  }
  return missed.length === CHUNK;
}
