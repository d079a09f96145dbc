import type { Queryable } from '../database/pool.ts';

/**
 * Slugs of links of the workspace by link id, deleted links too: their clicks stay in journeys.
 */
export async function slugsOfLinks(
  db: Queryable,
  workspaceId: string,
  ids: string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<{ id: string; slug: string }>(
    'SELECT id, slug FROM links WHERE workspace_id = $1 AND id = ANY ($2)',
    [workspaceId, ids],
  );
  return new Map(rows.map((row) => [row.id, row.slug]));
}
