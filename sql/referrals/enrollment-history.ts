import type { Queryable } from '../database/pool.ts';

/** A change of a referrer, as its history shows it. Addresses are masked. */
export type HistoryEntry = {
  id: number;
  at: Date;
  field: string;
  from: string | null;
  to: string | null;
  by: string;
};

/**
 * Returns the changes of a referrer, newest first, or null when the workspace has no such referrer.
 *
 * @param page.before an entry's id: only older ones
 */
export async function enrollmentHistory(
  db: Queryable,
  workspaceId: string,
  id: string,
  page: { before: number | null; limit: number },
): Promise<HistoryEntry[] | null> {
  const { rowCount } = await db.query(
    'SELECT FROM enrollments WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL',
    [workspaceId, id],
  );
  if (rowCount === 0) return null;
  const { rows } = await db.query<HistoryEntry>(
    `SELECT id, changed_at AS at, field, old_value AS "from", new_value AS "to", changed_by AS by
     FROM enrollment_changes WHERE enrollment_id = $1 AND ($2::bigint IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [id, page.before, page.limit],
  );
  return rows;
}
