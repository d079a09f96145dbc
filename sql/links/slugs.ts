import { uuidv7 } from '../../core/ids.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';

export type SlugKind = 'link' | 'bio_page' | 'program';

/** `domainNumber` of the deployment's own domain. Others are `number` of `domains`. */
export const OWN_DOMAIN = 0;

/** A slug on a domain and what it is to name. */
export type SlugClaim = {
  /** Left out: {@link OWN_DOMAIN}. */
  domainNumber?: number;
  slug: string;
  kind: SlugKind;
  targetId: string;
  workspaceId: string;
};

/**
 * Claims slugs, case-insensitive, for links, bio pages and programs alike. A target can claim its former slug again,
 * and anything in the workspace an alias. Waits for a transaction that is claiming the same slug.
 *
 * @returns the claims that succeeded; the names of the others are taken
 */
export async function claimSlugs(tx: Queryable, claims: SlugClaim[]): Promise<SlugClaim[]> {
  // In one order everywhere, so that two creates never deadlock.
  const sorted = claims.toSorted((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1));
  const { rows } = await tx.query<Name>(
    `INSERT INTO slugs (domain_number, slug, kind, target_id, workspace_id)
     SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::uuid[], $5::uuid[])
     ON CONFLICT (domain_number, slug) DO UPDATE
       SET kind = excluded.kind, target_id = excluded.target_id, alias_id = NULL
       WHERE (slugs.target_id = excluded.target_id AND slugs.kind = excluded.kind)
         OR (slugs.kind = 'alias' AND slugs.workspace_id = excluded.workspace_id)
     RETURNING domain_number AS "domainNumber", slug`,
    [
      sorted.map((claim) => claim.domainNumber ?? OWN_DOMAIN),
      sorted.map((claim) => slugKey(claim.slug)),
      sorted.map((claim) => claim.kind),
      sorted.map((claim) => claim.targetId),
      sorted.map((claim) => claim.workspaceId),
    ],
  );
  const claimed = new Set(rows.map(nameKey));
  return claims.filter((claim) => claimed.has(claimKey(claim)));
}

function claimKey({ domainNumber = OWN_DOMAIN, slug }: SlugClaim): string {
  return nameKey({ domainNumber, slug });
}

/** A slug on a domain: where a link is. */
export type Name = { domainNumber: number; slug: string };

/** Returns the form in which names are compared: `<domain number>/<slug in lower case>`. */
export function nameKey({ domainNumber, slug }: Name): string {
  return `${domainNumber}/${slugKey(slug)}`;
}

/**
 * Turns a name of a link into its alias: visitors of it are redirected as before, until another link claims it. The
 * link has claimed its new name.
 */
export async function leaveAlias(
  tx: Queryable,
  { domainNumber, slug, linkId }: Name & { linkId: string },
): Promise<void> {
  await tx.query(
    `UPDATE slugs SET kind = 'alias', alias_id = $4
     WHERE domain_number = $1 AND slug = $2 AND target_id = $3 AND kind = 'link'`,
    [domainNumber, slugKey(slug), linkId, uuidv7()],
  );
}

/**
 * Reserves names, so that the caller's transaction can claim them one by one and in any order: other claims of them
 * wait until it ends. Without it, two transactions that claim the same slugs in different orders would deadlock.
 */
export async function reserveSlugs(tx: Queryable, workspaceId: string, given: Name[]): Promise<void> {
  const names = [...new Map(given.map((name) => [nameKey(name), name])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, name]) => name);
  if (names.length === 0) return;
  // A row that is inserted and deleted here still makes others wait until this transaction ends; an existing row is
  // locked.
  const holder = uuidv7();
  await tx.query(
    `INSERT INTO slugs (domain_number, slug, kind, target_id, workspace_id)
     SELECT domain, key, 'link', $3, $4 FROM unnest($1::integer[], $2::text[]) AS name (domain, key)
     ON CONFLICT (domain_number, slug) DO UPDATE SET kind = excluded.kind WHERE false`,
    [
      names.map(({ domainNumber }) => domainNumber),
      names.map(({ slug }) => slugKey(slug)),
      holder,
      workspaceId,
    ],
  );
  await tx.query('DELETE FROM slugs WHERE target_id = $1', [holder]);
}

/** Returns which of these names are taken, case-insensitive, as {@link nameKey}s. */
export async function takenSlugs(db: Queryable, names: Name[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await db.query<Name>(
    `SELECT domain_number AS "domainNumber", slug FROM slugs
     WHERE (domain_number, slug) IN (SELECT * FROM unnest($1::integer[], $2::text[]))`,
    [names.map(({ domainNumber }) => domainNumber), names.map(({ slug }) => slugKey(slug))],
  );
  return new Set(rows.map(nameKey));
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
