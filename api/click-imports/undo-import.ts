import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { removeImport } from '../../clickhouse/undo-import.ts';
import { AppError } from '../../core/errors.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { clickImport, undoClickImport } from '../../sql/event-log/click-imports.ts';

/** What was removed. */
export type Undone = { import_id: string; clicks: number };

/**
 * Takes an import back: its clicks are in no response when this resolves, and roll-ups follow within seconds. Safe to repeat.
 *
 * @param onBegin records who does it, in the transaction that marks the import
 * @throws {AppError} `not_found` for an import that the workspace does not have, `conflict` while an import runs
 */
export async function undoImport(
  { pool, clickhouse }: { pool: Pool; clickhouse: ClickHouseClient },
  { workspaceId, importId }: { workspaceId: string; importId: string },
  onBegin: (tx: Queryable) => Promise<void>,
): Promise<Undone> {
  if ((await clickImport(pool, workspaceId, importId)) === null) {
    throw new AppError('not_found', 'the workspace has no such import of clicks');
  }
  const done = await withJobLease(pool, `clickImport/${workspaceId}`, async () => {
    // Before they are removed, so that a pass of the roll-ups follows also when this is interrupted.
    await inTransaction(pool, async (tx) => {
      await undoClickImport(tx, workspaceId, importId);
      await onBegin(tx);
    });
    const { clicks } = await removeImport(clickhouse, { workspaceId, importId });
    await undoClickImport(pool, workspaceId, importId);
    return { import_id: importId, clicks };
  });
  if (done === null) {
    throw new AppError('conflict', 'an import of clicks is under way in the workspace: try again later');
  }
  return done;
}
