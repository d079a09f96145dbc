import type { Queryable } from '../database/pool.ts';

/** Returns which of these ids are rows of the workspace. Deleted links are too. */
export async function idsOf(
  db: Queryable,
  table: 'links' | 'folders' | 'programs',
  workspaceId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM ${table} WHERE workspace_id = $1 AND id = ANY ($2::uuid[])`,
    [workspaceId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}
