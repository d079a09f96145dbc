import type { Queryable } from '../database/pool.ts';
import { claimSlugs } from '../links/slugs.ts';
import type { Domain, LinkDomain } from './domains.ts';

/** Returns how many live links are on a domain. */
export async function countLinksOn(db: Queryable, { number }: Pick<Domain, 'number'>): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM links WHERE domain_number = $1 AND deleted_at IS NULL',
    [number],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Moves every live link of a domain to another one. The caller rolls back when a slug is taken there.
 *
 * @returns the slugs that are taken
 */
export async function moveLinks(
  tx: Queryable,
  from: Pick<Domain, 'number' | 'workspace_id'>,
  to: LinkDomain,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string; slug: string }>(
    'SELECT id, slug FROM links WHERE domain_number = $1 AND deleted_at IS NULL ORDER BY created_at',
    [from.number],
  );
  const claimed = await claimSlugs(
    tx,
    rows.map(({ id, slug }) => ({
      domainNumber: to.number,
      slug,
      kind: 'link',
      targetId: id,
      workspaceId: from.workspace_id,
    })),
  );
  const ids = new Set(claimed.map(({ targetId }) => targetId));
  const taken = rows.filter(({ id }) => !ids.has(id)).map(({ slug }) => slug);
  if (taken.length > 0) return taken;
  await tx.query(
    `UPDATE links SET domain_number = $2, updated_at = clock_timestamp()
     WHERE domain_number = $1 AND deleted_at IS NULL`,
    [from.number, to.number],
  );
  return [];
}

/** Deletes every link of a domain. Links that have moved away stay. */
export async function deleteLinksOn(tx: Queryable, { number }: Pick<Domain, 'number'>): Promise<void> {
  await tx.query(
    `UPDATE links SET deleted_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE domain_number = $1 AND deleted_at IS NULL`,
    [number],
  );
}

/** Deletes a domain without live links, and its names. */
export async function deleteDomain(
  tx: Queryable,
  { id, number }: Pick<Domain, 'id' | 'number'>,
): Promise<void> {
  await tx.query('DELETE FROM slugs WHERE domain_number = $1', [number]);
  await tx.query('DELETE FROM domains WHERE id = $1', [id]);
}
