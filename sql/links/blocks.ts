import type { Queryable } from '../database/pool.ts';

/** A link as the operator sees it. */
export type BlockableLink = {
  id: string;
  slug: string;
  workspace_id: string;
  destination_url: string;
  blocked_at: Date | null;
};

/**
 * Blocks a link of any workspace for visitors, or ends that. An id wins over a slug that looks like it.
 *
 * @returns the link, or null when no live link has the id or slug
 */
export async function blockLink(
  db: Queryable,
  idOrSlug: string,
  isBlocked: boolean,
): Promise<BlockableLink | null> {
  const { rows } = await db.query<BlockableLink>(
    `UPDATE links l SET blocked_at = CASE WHEN $2 THEN coalesce(l.blocked_at, now()) END
     FROM destinations d
     WHERE d.id = l.destination_id AND l.id = (
       SELECT id FROM links WHERE (id::text = lower($1) OR slug = $1) AND deleted_at IS NULL
       ORDER BY id::text = lower($1) DESC LIMIT 1)
     RETURNING l.id, l.slug, l.workspace_id, d.destination_url, l.blocked_at`,
    [idOrSlug, isBlocked],
  );
  return rows[0] ?? null;
}
