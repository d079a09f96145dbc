import { uuidv7 } from '../../core/ids.ts';
import { NOT_AHEAD } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type SavedView = { id: string; name: string; query: Record<string, unknown>; created_at: string };

const COLUMNS = `id, name, query, ${isoMicros('created_at')} AS created_at`;

/** Creates a view. The caller has locked the workspace: creation times are unique in it. */
export async function insertSavedView(
  tx: Queryable,
  workspaceId: string,
  { name, query }: Pick<SavedView, 'name' | 'query'>,
): Promise<SavedView> {
  const { rows } = await tx.query<SavedView>(
    `INSERT INTO saved_views (id, workspace_id, name, query, created_at)
     SELECT $1, $2, $3, $4, GREATEST(date_trunc('microseconds', clock_timestamp()),
       (SELECT max(created_at) + interval '1 microsecond' FROM saved_views
        WHERE workspace_id = $2 AND ${NOT_AHEAD}))
     RETURNING ${COLUMNS}`,
    [uuidv7(), workspaceId, name, JSON.stringify(query)],
  );
  if (!rows[0]) throw new Error('the saved view was not inserted');
  return rows[0];
}

/** Returns how many views the workspace has. */
export async function countSavedViews(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM saved_views WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns the views of a workspace, newest first.
 *
 * @param before ISO 8601 with microseconds: older ones only
 */
export async function listSavedViews(
  db: Queryable,
  workspaceId: string,
  page: { before: string | null; limit: number },
): Promise<SavedView[]> {
  const { rows } = await db.query<SavedView>(
    `SELECT ${COLUMNS} FROM saved_views
     WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR saved_views.created_at < $2)
     ORDER BY saved_views.created_at DESC LIMIT $3`,
    [workspaceId, page.before, page.limit],
  );
  return rows;
}

/** Deletes a view. @returns false when the workspace has none with this id */
export async function deleteSavedView(db: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM saved_views WHERE id = $1 AND workspace_id = $2', [
    id,
    workspaceId,
  ]);
  return rowCount === 1;
}
