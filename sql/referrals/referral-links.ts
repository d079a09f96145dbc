import { utmMediumOf } from '../../core/enrich/channels.ts';
import type { LinkAddress } from '../../core/links/short-urls.ts';
import { generateSlug, linkSlugProblem, slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';
import { DOMAIN_IS_OWN, defaultDomain } from '../domains/domains.ts';
import { newLinkId } from '../links/links.ts';
import { claimSlugs, OWN_DOMAIN, type SlugClaim } from '../links/slugs.ts';
import type { Program } from './programs.ts';

const CHANNEL = 'referral';

type NewReferralLink = {
  id: string;
  workspaceId: string;
  destinationId: string;
  domainNumber: number;
  slug: string;
  /** The campaign's name. */
  campaign: string;
  extraQuery: string | null;
  forwardPath: boolean;
};

/** The caller has locked the workspace: creation times of links are unique in it. */
async function insertReferralLink(tx: Queryable, link: NewReferralLink): Promise<void> {
  await tx.query(
    `INSERT INTO links (id, workspace_id, destination_id, slug, channel, utm_source, utm_medium, utm_campaign,
       extra_query, domain_number, forward_path, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, at, at FROM next_link_time($2) AS at`,
    [
      link.id,
      link.workspaceId,
      link.destinationId,
      link.slug,
      CHANNEL,
      utmMediumOf(CHANNEL),
      link.campaign,
      link.extraQuery,
      link.domainNumber,
      link.forwardPath,
    ],
  );
}

/** Creates the link of a program's code, under the program's id. The caller has claimed the code. */
export async function insertCodeLink(
  tx: Queryable,
  program: Pick<Program, 'id' | 'workspace_id' | 'destination_id' | 'code' | 'name'>,
): Promise<void> {
  await insertReferralLink(tx, {
    id: program.id,
    workspaceId: program.workspace_id,
    destinationId: program.destination_id,
    domainNumber: OWN_DOMAIN,
    slug: program.code,
    campaign: program.name,
    extraQuery: null,
    forwardPath: false,
  });
}

/**
 * Changes the slug of the code link to the program's code, and restores the link when it was deleted. A restored link
 * loses its `external_id`: another link may have it. The caller has claimed the code.
 */
export async function updateCodeLink(
  tx: Queryable,
  program: Pick<Program, 'id' | 'workspace_id'>,
  code: string,
): Promise<void> {
  await tx.query(
    `UPDATE links SET slug = $3, deleted_at = NULL, updated_at = clock_timestamp(),
       external_id = CASE WHEN deleted_at IS NULL THEN external_id END
     WHERE id = $1 AND workspace_id = $2 AND (slug <> $3 OR deleted_at IS NOT NULL)`,
    [program.id, program.workspace_id, code],
  );
}

/**
 * Creates a referrer's link: a short link of the program's campaign under a generated slug, which adds `ref=<slug>`
 * to the destination, on the workspace's default domain. The caller has locked the workspace.
 *
 * @param wanted a slug to use instead, if it is free
 */
export async function createReferralLink(
  tx: Queryable,
  program: Pick<Program, 'workspace_id' | 'destination_id' | 'name' | 'portal'>,
  enrollmentId: string,
  wanted: string | null = null,
): Promise<LinkAddress> {
  const id = newLinkId();
  const { number: domainNumber, domain } = await defaultDomain(tx, program.workspace_id);
  const claim = { domainNumber, targetId: id, workspaceId: program.workspace_id };
  const slug =
    (wanted !== null && (await claimWanted(tx, claim, wanted))) || (await claimGeneratedSlug(tx, claim));
  await insertReferralLink(tx, {
    id,
    workspaceId: program.workspace_id,
    destinationId: program.destination_id,
    domainNumber,
    slug,
    campaign: program.name,
    extraQuery: `ref=${slug}`,
    forwardPath: program.portal.deep_links,
  });
  await tx.query('INSERT INTO referral_links (link_id, enrollment_id) VALUES ($1, $2)', [id, enrollmentId]);
  return { domain, slug };
}

/** @returns null when the slug is taken or invalid */
async function claimWanted(
  tx: Queryable,
  claim: Omit<SlugClaim, 'slug' | 'kind'>,
  slug: string,
): Promise<string | null> {
  if (linkSlugProblem(slug) !== null) return null;
  const claimed = await claimSlugs(tx, [{ ...claim, slug, kind: 'link' }]);
  return claimed.length === 1 ? slug : null;
}

async function claimGeneratedSlug(tx: Queryable, claim: Omit<SlugClaim, 'slug' | 'kind'>): Promise<string> {
  for (;;) {
    const slug = generateSlug();
    const claimed = await claimSlugs(tx, [{ ...claim, slug, kind: 'link' }]);
    if (claimed.length === 1) return slug;
  }
}

/** Moves a referrer's links to another program's campaign, so that they lead to its destination. */
export async function moveReferralLinks(
  tx: Queryable,
  enrollmentId: string,
  program: Pick<Program, 'destination_id' | 'name' | 'portal'>,
): Promise<void> {
  await tx.query(
    `UPDATE links SET destination_id = $2, utm_campaign = $3, forward_path = $4, updated_at = clock_timestamp()
     WHERE id IN (SELECT link_id FROM referral_links WHERE enrollment_id = $1) AND deleted_at IS NULL`,
    [enrollmentId, program.destination_id, program.name, program.portal.deep_links],
  );
}

/** Sets whether the referral links of a program append the path behind their slug to the destination's. */
export async function setForwardPath(tx: Queryable, programId: string, forwards: boolean): Promise<void> {
  await tx.query(
    `UPDATE links SET forward_path = $2, updated_at = clock_timestamp()
     WHERE id IN (SELECT r.link_id FROM referral_links r JOIN enrollments e ON e.id = r.enrollment_id
       WHERE e.program_id = $1) AND deleted_at IS NULL AND forward_path <> $2`,
    [programId, forwards],
  );
}

/** Returns where the referrer's newest live link is that takes a path behind its slug, or null. */
export async function deepLinkAddress(db: Queryable, enrollmentId: string): Promise<LinkAddress | null> {
  const { rows } = await db.query<LinkAddress>(
    `SELECT o.domain, l.slug FROM referral_links r JOIN links l ON l.id = r.link_id
     LEFT JOIN domains o ON o.number = l.domain_number
     WHERE r.enrollment_id = $1 AND l.deleted_at IS NULL AND l.forward_path AND ${DOMAIN_IS_OWN}
     ORDER BY l.created_at DESC LIMIT 1`,
    [enrollmentId],
  );
  return rows[0] ?? null;
}

/** Returns where the referrer's newest live link is, or null when all were deleted or are on a lost domain. */
export async function referralAddress(db: Queryable, enrollmentId: string): Promise<LinkAddress | null> {
  const { rows } = await db.query<LinkAddress>(
    `SELECT o.domain, l.slug FROM referral_links r JOIN links l ON l.id = r.link_id
     LEFT JOIN domains o ON o.number = l.domain_number
     WHERE r.enrollment_id = $1 AND l.deleted_at IS NULL AND ${DOMAIN_IS_OWN}
     ORDER BY l.created_at DESC LIMIT 1`,
    [enrollmentId],
  );
  return rows[0] ?? null;
}

/** Returns every link that the referrer ever had: the clicks of all of them count. */
export async function referralLinkIds(db: Queryable, enrollmentId: string): Promise<string[]> {
  const { rows } = await db.query<{ link_id: string }>(
    'SELECT link_id FROM referral_links WHERE enrollment_id = $1',
    [enrollmentId],
  );
  return rows.map((row) => row.link_id);
}

/**
 * Returns the referrer whose link has or had this slug, or whose code at an earlier program it was, case-insensitive,
 * or null. A visitor may still have a `ref` of a former slug or a deleted link.
 */
export async function enrollmentOfRef(
  db: Queryable,
  workspaceId: string,
  ref: string,
): Promise<string | null> {
  const { rows } = await db.query<{ enrollment_id: string }>(
    `SELECT r.enrollment_id, 0 AS rank FROM slugs s JOIN referral_links r ON r.link_id = s.target_id
     JOIN enrollments e ON e.id = r.enrollment_id AND e.deleted_at IS NULL
     WHERE s.slug = $1 AND s.kind IN ('link', 'alias') AND s.workspace_id = $2
       AND s.domain_number IN (SELECT 0 UNION ALL SELECT number FROM domains WHERE workspace_id = $2)
     UNION ALL
     SELECT c.enrollment_id, 1 FROM referral_codes c JOIN enrollments e ON e.id = c.enrollment_id AND e.deleted_at IS NULL
     WHERE c.workspace_id = $2 AND c.code_key = $1
     ORDER BY rank LIMIT 1`,
    [slugKey(ref), workspaceId],
  );
  return rows[0]?.enrollment_id ?? null;
}

/** Returns the referrer of the first of these links that belongs to one in the workspace, or null. */
export async function enrollmentOfLinks(
  db: Queryable,
  workspaceId: string,
  linkIds: readonly string[],
): Promise<string | null> {
  const { rows } = await db.query<{ enrollment_id: string }>(
    `SELECT r.enrollment_id FROM unnest($1::uuid[]) WITH ORDINALITY AS clicked (link_id, nth)
     JOIN referral_links r USING (link_id) JOIN enrollments e ON e.id = r.enrollment_id
     WHERE e.workspace_id = $2 AND e.deleted_at IS NULL ORDER BY nth LIMIT 1`,
    [linkIds, workspaceId],
  );
  return rows[0]?.enrollment_id ?? null;
}
