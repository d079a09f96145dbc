import { uuidv7 } from '../../core/ids.ts';
import { firstSegment, slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';

export type SlugKind = 'link' | 'bio_page' | 'program';

/** `domainNumber` of the deployment's own domain. Others are `number` of `domains`. */
export const OWN_DOMAIN = 0;

/** A slug on a domain, and the target that it will name. */
export type SlugClaim = {
  /** Left out: {@link OWN_DOMAIN}. */
  domainNumber?: number;
  slug: string;
  kind: SlugKind;
  targetId: string;
  workspaceId: string;
};

/** Returns the slug of the row for a prefix: slugs of several segments begin with this one. */
export function prefixSlug(segment: string): string {
  return `${segment}/`;
}

/**
 * Claims slugs, case-insensitive, for links, bio pages and programs alike. A target can claim its former slug again,
 * and any target of the workspace an alias. Waits for a transaction that is claiming the same slug. On the deployment's
 * own domain, all slugs below another workspace's slug are taken.
 *
 * @returns the claims that succeeded; the names of the others are taken
 */
export async function claimSlugs(tx: Queryable, claims: SlugClaim[]): Promise<SlugClaim[]> {
  const [below, open] = await apartFromOthers(tx, claims);
  // In one order everywhere, so that two creates never deadlock.
  const sorted = open.toSorted((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1));
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
  const held = claims.filter((claim) => claimed.has(claimKey(claim)));
  await addPrefixes(
    tx,
    below.filter((claim) => claimed.has(claimKey(claim))),
  );
  return held;
}

/**
 * Returns the claims of slugs of several segments, and all claims, without those below another workspace's slug, whose
 * link may forward paths and would lose those visits.
 */
async function apartFromOthers(tx: Queryable, claims: SlugClaim[]): Promise<[SlugClaim[], SlugClaim[]]> {
  const below = claims.filter(({ slug }) => firstSegment(slug) !== null);
  if (below.length === 0) return [below, claims];
  const above = below.flatMap((claim) => {
    const segments = slugKey(claim.slug).split('/').slice(0, -1);
    return segments.map((_, last) => ({ claim, slug: segments.slice(0, last + 1).join('/') }));
  });
  const { rows } = await tx.query<{ nth: number }>(
    `SELECT DISTINCT wanted.nth::integer AS nth
     FROM unnest($1::integer[], $2::text[], $3::uuid[]) WITH ORDINALITY AS wanted (domain, slug, workspace, nth)
     JOIN slugs s ON s.domain_number = wanted.domain AND s.slug = wanted.slug AND s.workspace_id <> wanted.workspace`,
    [
      above.map(({ claim }) => claim.domainNumber ?? OWN_DOMAIN),
      above.map(({ slug }) => slug),
      above.map(({ claim }) => claim.workspaceId),
    ],
  );
  const taken = new Set(rows.map(({ nth }) => above[nth - 1]?.claim));
  return [below, claims.filter((claim) => !taken.has(claim))];
}

/** Records the first segment of each slug, in rows of the kind `prefix`; see {@link prefixSlug}. */
async function addPrefixes(tx: Queryable, claims: SlugClaim[]): Promise<void> {
  const prefixes = new Map(
    claims.map(({ domainNumber = OWN_DOMAIN, slug, workspaceId }) => {
      const prefix = prefixSlug(firstSegment(slugKey(slug)) ?? '');
      return [`${domainNumber}/${prefix}`, { domainNumber, prefix, workspaceId }];
    }),
  );
  if (prefixes.size === 0) return;
  const sorted = [...prefixes.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  await tx.query(
    `INSERT INTO slugs (domain_number, slug, kind, target_id, workspace_id)
     SELECT domain, slug, 'prefix', id, workspace
     FROM unnest($1::integer[], $2::text[], $3::uuid[], $4::uuid[]) AS one (domain, slug, id, workspace)
     ON CONFLICT (domain_number, slug) DO NOTHING`,
    [
      sorted.map(({ domainNumber }) => domainNumber),
      sorted.map(({ prefix }) => prefix),
      sorted.map(() => uuidv7()),
      sorted.map(({ workspaceId }) => workspaceId),
    ],
  );
}

function claimKey({ domainNumber = OWN_DOMAIN, slug }: SlugClaim): string {
  return nameKey({ domainNumber, slug });
}

/** A slug on a domain: the address of a link. */
export type Name = { domainNumber: number; slug: string };

/** Returns the form in which names are compared: `<domain number>/<slug in lower case>`. */
export function nameKey({ domainNumber, slug }: Name): string {
  return `${domainNumber}/${slugKey(slug)}`;
}

/**
 * Turns a name of a link into its alias, which redirects visitors as before until another link claims it. The link has
 * claimed its new name.
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

/** Returns the name of the row that claiming a name of several segments adds. */
function prefixOf({ domainNumber, slug }: Name): Name[] {
  const segment = firstSegment(slug);
  return segment === null ? [] : [{ domainNumber, slug: prefixSlug(segment) }];
}

/**
 * Reserves names, so that the caller's transaction can claim them one by one and in any order: other claims of them
 * wait until it ends. Otherwise two transactions that claim the same slugs in different orders would deadlock.
 */
export async function reserveSlugs(tx: Queryable, workspaceId: string, given: Name[]): Promise<void> {
  const all = given.flatMap((name) => [name, ...prefixOf(name)]);
  const names = [...new Map(all.map((name) => [nameKey(name), name])).entries()]
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
