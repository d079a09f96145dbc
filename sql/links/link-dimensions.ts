import type { LinkDimension } from '../../core/analytics/dimensions.ts';
import type { Queryable } from '../database/pool.ts';

/**
 * SQL of each value of a link's dimension, as rows of `link_id` and `value`: no row for a link without a value, several
 * for tags.
 */
const VALUES: Record<LinkDimension, string> = {
  campaign: 'SELECT l.id AS link_id, l.destination_id::text AS value FROM links l WHERE l.workspace_id = $1',
  folder: `SELECT l.id AS link_id, d.folder_id::text AS value FROM links l JOIN destinations d ON d.id = l.destination_id
    WHERE l.workspace_id = $1 AND d.folder_id IS NOT NULL`,
  tag: `SELECT DISTINCT l.id AS link_id, tag AS value
    FROM links l JOIN destinations d ON d.id = l.destination_id, unnest(d.tags) AS tag WHERE l.workspace_id = $1`,
};

/** Values of links: `values[i]` is one of `links[i]`. */
export type LinkValues = { links: string[]; values: string[] };

/**
 * Returns the campaign, folder, or tags of links now. Deleted links keep theirs.
 *
 * @param only of these values alone; null: all
 */
export async function linkValues(
  db: Queryable,
  workspaceId: string,
  dimension: LinkDimension,
  only: readonly string[] | null = null,
): Promise<LinkValues> {
  const { rows } = await db.query<{ links: string[]; values: string[] }>(
    `SELECT coalesce(array_agg(link_id), '{}') AS links, coalesce(array_agg(value), '{}') AS values
     FROM (${VALUES[dimension]}) AS found WHERE $2::text[] IS NULL OR value = ANY ($2)`,
    [workspaceId, only],
  );
  return rows[0] ?? { links: [], values: [] };
}

/** Returns the different values that links of the workspace have now. */
export async function valuesInUse(
  db: Queryable,
  workspaceId: string,
  dimension: LinkDimension,
): Promise<string[]> {
  const { rows } = await db.query<{ value: string }>(
    `SELECT DISTINCT value FROM (${VALUES[dimension]}) AS found`,
    [workspaceId],
  );
  return rows.map(({ value }) => value);
}
