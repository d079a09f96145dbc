import type { Queryable } from '../database/pool.ts';

/** The name of an id; `note` is a link's campaign. */
export type Named = { id: string; name: string; note: string | null };

/** Names of ids by dimension of a report. Deleted links keep theirs. */
const NAMES = {
  link: `SELECT l.id, l.slug AS name, d.name AS note FROM links l JOIN destinations d ON d.id = l.destination_id
    WHERE l.workspace_id = $1 AND l.id = ANY ($2)`,
  campaign: 'SELECT id, name, NULL AS note FROM destinations WHERE workspace_id = $1 AND id = ANY ($2)',
  folder: 'SELECT id, name, NULL AS note FROM folders WHERE workspace_id = $1 AND id = ANY ($2)',
} as const;

export const NAMED_DIMENSIONS = ['link', 'campaign', 'folder'] as const;

/** Returns the names of links, campaigns or folders of a workspace by their ids. */
export async function namesByIds(
  db: Queryable,
  workspaceId: string,
  dimension: (typeof NAMED_DIMENSIONS)[number],
  ids: readonly string[],
): Promise<Named[]> {
  const { rows } = await db.query<Named>(NAMES[dimension], [workspaceId, ids]);
  return rows;
}
