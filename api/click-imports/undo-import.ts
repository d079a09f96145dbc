import { type ReplicasToWrite, writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { removeImport } from '../../clickhouse/undo-import.ts';
import { databaseFault } from '../../core/databases/faults.ts';
import { AppError } from '../../core/errors.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { clickImport, clicksRemoved, undoClickImport } from '../../sql/event-log/click-imports.ts';
import { undoImportedOrders } from '../../sql/orders/imported-orders.ts';

/** The removed rows. `complete`: false while ClickHouse does not respond; a worker removes the clicks once it does. */
export type Undone = { import_id: string; clicks: number; orders: number; complete: boolean };

/**
 * Undoes an import. When this resolves as complete, its clicks are in no response; roll-ups and the shares of its
 * orders follow within seconds. Safe to repeat.
 *
 * @param onBegin records the caller, in the transaction that marks the import
 * @throws {AppError} `not_found` for an import that the workspace does not have, `conflict` while an import runs
 */
export async function undoImport(
  { pool, clickhouses }: { pool: Pool; clickhouses: ReplicasToWrite },
  { workspaceId, importId }: { workspaceId: string; importId: string },
  onBegin: (tx: Queryable) => Promise<void>,
): Promise<Undone> {
  const known = await clickImport(pool, workspaceId, importId);
  if (known === null) throw new AppError('not_found', 'the workspace has no such import of clicks');
  const done = await withJobLease(pool, `clickImport/${workspaceId}`, async () => {
    // Marked before the removal, so that a worker continues it after an interruption.
    const orders = await inTransaction(pool, async (tx) => {
      await undoClickImport(tx, workspaceId, importId);
      await onBegin(tx);
      return undoImportedOrders(tx, workspaceId, importId);
    });
    try {
      let clicks = 0;
      const cleaned = await writeToEach(pool, clickhouses, {
        what: 'the removal of an import',
        async write(clickhouse) {
          clicks = Math.max(clicks, (await removeImport(clickhouse, { workspaceId, importId })).clicks);
        },
      });
      await clicksRemoved(pool, workspaceId, importId, cleaned);
      return { import_id: importId, clicks, orders, complete: true };
    } catch (error) {
      const fault = databaseFault(error);
      if (fault === null || fault.database === 'PostgreSQL') throw error;
      return { import_id: importId, clicks: known.clicks, orders, complete: false };
    }
  });
  if (done === null) {
    throw new AppError('conflict', 'an import of clicks is under way in the workspace: try again later');
  }
  return done;
}
