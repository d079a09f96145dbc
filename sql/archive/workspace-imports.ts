import type { Queryable } from '../database/pool.ts';
import type { Numbered } from './archived-table.ts';

/** The import of a workspace's archive: under way or interrupted until `finished_at`. */
export type WorkspaceImport = {
  workspace_id: string;
  archive_id: string;
  /** What is added to the archive's numbers here, also after an interruption. */
  offsets: Record<Numbered, number>;
  finished_at: Date | null;
};

/** Returns the import of a workspace, or null. */
export async function workspaceImport(db: Queryable, workspaceId: string): Promise<WorkspaceImport | null> {
  const { rows } = await db.query<WorkspaceImport>(
    'SELECT workspace_id, archive_id, offsets, finished_at FROM workspace_imports WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0] ?? null;
}

/** Records that the import of an archive begins, in place of one of another archive that was interrupted. */
export async function beginWorkspaceImport(
  tx: Queryable,
  given: Pick<WorkspaceImport, 'workspace_id' | 'archive_id' | 'offsets'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO workspace_imports AS one (workspace_id, archive_id, offsets) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id) DO UPDATE SET archive_id = excluded.archive_id, offsets = excluded.offsets,
       started_at = clock_timestamp() WHERE one.finished_at IS NULL`,
    [given.workspace_id, given.archive_id, JSON.stringify(given.offsets)],
  );
}

/** Records that everything of the archive is stored. */
export async function finishWorkspaceImport(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query(
    `UPDATE workspace_imports SET finished_at = clock_timestamp(), roll_up_due = clock_timestamp()
     WHERE workspace_id = $1`,
    [workspaceId],
  );
}
