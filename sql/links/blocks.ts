import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';

/** A link as the operator sees it. `domain` null: the deployment's own. */
export type BlockableLink = {
  id: string;
  domain: string | null;
  slug: string;
  workspace_id: string;
  destination_url: string;
  blocked_at: Date | null;
};

/** How an operator names a link. `address`: the host of a workspace, null for the deployment's own, and a slug. */
export type LinkName =
  | { kind: 'id'; id: string }
  | { kind: 'slug'; slug: string }
  | { kind: 'address'; domain: string | null; slug: string };

const COLUMNS = 'l.id, o.domain, l.slug, l.workspace_id, d.destination_url, l.blocked_at';

/** Returns the live links of all workspaces with this name, oldest first, at most `limit`. */
export async function linksNamed(db: Queryable, name: LinkName, limit: number): Promise<BlockableLink[]> {
  const { condition, values } = conditionOf(name);
  const { rows } = await db.query<BlockableLink>(
    `SELECT ${COLUMNS}
     FROM links l JOIN destinations d ON d.id = l.destination_id LEFT JOIN domains o ON o.number = l.domain_number
     WHERE l.deleted_at IS NULL AND ${condition} ORDER BY l.created_at LIMIT ${limit}`,
    values,
  );
  return rows;
}

/**
 * Blocks a live link of any workspace for visitors, or unblocks it. @returns the link, or null when it does not exist
 */
export async function blockLink(
  db: Queryable,
  id: string,
  isBlocked: boolean,
): Promise<BlockableLink | null> {
  const { rows } = await db.query<BlockableLink>(
    `UPDATE links l SET blocked_at = CASE WHEN $2 THEN coalesce(l.blocked_at, now()) END
     FROM destinations d, links named LEFT JOIN domains o ON o.number = named.domain_number
     WHERE d.id = l.destination_id AND named.id = l.id AND l.id = $1 AND l.deleted_at IS NULL
     RETURNING ${COLUMNS}`,
    [id, isBlocked],
  );
  return rows[0] ?? null;
}

function conditionOf(name: LinkName): { condition: string; values: unknown[] } {
  if (name.kind === 'id') return { condition: 'l.id = $1', values: [name.id] };
  if (name.kind === 'slug') return { condition: 'l.slug = $1', values: [name.slug] };
  if (name.domain === null) return { condition: 'l.slug = $1 AND l.domain_number = 0', values: [name.slug] };
  // A moved link still redirects at its former address.
  return {
    condition: `(l.slug = $1 AND o.domain = $2 OR EXISTS (
      SELECT FROM slugs s JOIN domains f ON f.number = s.domain_number
      WHERE s.kind = 'alias' AND s.target_id = l.id AND s.slug = $3 AND f.domain = $2))`,
    values: [name.slug, name.domain, slugKey(name.slug)],
  };
}
