import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';

/** A link by one of its names. */
export type NamedLink = {
  id: string;
  /** The name in lower case, which may be a former one of the link. */
  name: string;
  /** The domain of the name; 0: the deployment's own. */
  domain_number: number;
  /** The link's own. */
  slug: string;
  link_domain_number: number;
  channel: string | null;
};

/**
 * Returns the links of a workspace that have one of these slugs on one of these domains, in any case; no deleted ones.
 */
export async function linksOfNames(
  db: Queryable,
  workspaceId: string,
  given: { slugs: readonly string[]; domains: readonly number[] },
): Promise<NamedLink[]> {
  if (given.slugs.length === 0) return [];
  const { rows } = await db.query<NamedLink>(
    `SELECT l.id, s.slug AS name, s.domain_number, l.slug, l.domain_number AS link_domain_number, l.channel
     FROM slugs s JOIN links l ON l.id = s.target_id
     WHERE s.slug = ANY ($2) AND s.domain_number = ANY ($3) AND s.workspace_id = $1
       AND l.workspace_id = $1 AND l.deleted_at IS NULL`,
    [workspaceId, given.slugs.map(slugKey), given.domains],
  );
  return rows;
}

/** Returns links of a workspace by id, deleted ones left out. */
export async function linksOfIds(
  db: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<Omit<NamedLink, 'name' | 'domain_number'>[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<Omit<NamedLink, 'name' | 'domain_number'>>(
    `SELECT id, slug, domain_number AS link_domain_number, channel FROM links
     WHERE workspace_id = $1 AND id = ANY ($2) AND deleted_at IS NULL`,
    [workspaceId, ids],
  );
  return rows;
}
