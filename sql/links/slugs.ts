import { uuidv7 } from '../../core/ids.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';

export type SlugKind = 'link' | 'bio_page' | 'program';

/** A slug and what it is to name. */
export type SlugClaim = { slug: string; kind: SlugKind; targetId: string; workspaceId: string };

/**
 * Claims slugs, case-insensitive, for links, bio pages and programs alike. A target can claim its former slug again.
 * Waits for a transaction that is claiming the same slug.
 *
 * @returns the claimed slugs, as they were given; the others are taken
 */
export async function claimSlugs(tx: Queryable, claims: SlugClaim[]): Promise<string[]> {
  // In one order everywhere, so that two creates never deadlock.
  const sorted = claims.toSorted((a, b) => (slugKey(a.slug) < slugKey(b.slug) ? -1 : 1));
  const { rows } = await tx.query<{ slug: string }>(
    `INSERT INTO slugs (slug, kind, target_id, workspace_id)
     SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[])
     ON CONFLICT (slug) DO UPDATE SET kind = excluded.kind
       WHERE slugs.target_id = excluded.target_id AND slugs.kind = excluded.kind
     RETURNING slug`,
    [
      sorted.map((claim) => slugKey(claim.slug)),
      sorted.map((claim) => claim.kind),
      sorted.map((claim) => claim.targetId),
      sorted.map((claim) => claim.workspaceId),
    ],
  );
  const claimed = new Set(rows.map((row) => row.slug));
  return claims.map((claim) => claim.slug).filter((slug) => claimed.has(slugKey(slug)));
}

/**
 * Reserves slugs, so that the caller's transaction can claim them one by one and in any order: other claims of them
 * wait until it ends. Without it, two transactions that claim the same slugs in different orders would deadlock.
 */
export async function reserveSlugs(tx: Queryable, workspaceId: string, slugs: string[]): Promise<void> {
  const keys = [...new Set(slugs.map(slugKey))].toSorted();
  if (keys.length === 0) return;
  // A row that is inserted and deleted here still makes others wait until this transaction ends; an existing row is
  // locked.
  const holder = uuidv7();
  await tx.query(
    `INSERT INTO slugs (slug, kind, target_id, workspace_id) SELECT key, 'link', $2, $3 FROM unnest($1::text[]) AS key
     ON CONFLICT (slug) DO UPDATE SET kind = excluded.kind WHERE false`,
    [keys, holder, workspaceId],
  );
  await tx.query('DELETE FROM slugs WHERE target_id = $1', [holder]);
}

/** Returns which of these slugs are taken, case-insensitive, as {@link slugKey}s. */
export async function takenSlugs(db: Queryable, slugs: string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const { rows } = await db.query<{ slug: string }>('SELECT slug FROM slugs WHERE slug = ANY ($1)', [
    slugs.map(slugKey),
  ]);
  return new Set(rows.map((row) => row.slug));
}

/** Returns what a slug names, case-insensitive, or null when it is free. */
export async function slugTarget(
  db: Queryable,
  slug: string,
): Promise<{ kind: SlugKind; target_id: string; workspace_id: string } | null> {
  const { rows } = await db.query<{ kind: SlugKind; target_id: string; workspace_id: string }>(
    'SELECT kind, target_id, workspace_id FROM slugs WHERE slug = $1',
    [slugKey(slug)],
  );
  return rows[0] ?? null;
}

/** Returns slugs of links of the workspace by link id. Deleted links too: journeys still show their clicks. */
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
