import { type ReplicasToWrite, writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { removeImport } from '../../clickhouse/undo-import.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { clicksRemoved, importsToRemove } from '../../sql/event-log/click-imports.ts';

/**
 * Removes the clicks of imports that were undone while ClickHouse did not respond. A call that is undoing an import
 * holds the lease.
 */
export async function removeUndoneImports({
  pool,
  ...clickhouses
}: ReplicasToWrite & { pool: Pool }): Promise<void> {
  for (const { workspaceId, importId } of await importsToRemove(pool, null)) {
    await withJobLease(pool, `clickImport/${workspaceId}`, async () => {
      const cleaned = await writeToEach(pool, clickhouses, {
        what: 'the removal of an import',
        async write(clickhouse) {
          await removeImport(clickhouse, { workspaceId, importId });
        },
      });
      await clicksRemoved(pool, workspaceId, importId, cleaned);
    });
  }
}
