import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';

/** A code that a page was opened with. */
export type WantedCode = { workspaceId: string; parameter: string; code: string };

/** The link that a code names. */
export type CodeLink = {
  link_id: string;
  /** Null: the deployment's own. */
  domain: string | null;
  slug: string;
  /** Whether the code is the link's present slug. */
  is_slug: boolean;
  append_visitor: boolean;
};

const CODE_IN = `SELECT r.enrollment_id, r.link_id, 0 AS rank
    FROM slugs s JOIN referral_links r ON r.link_id = s.target_id
    WHERE s.slug = wanted.code AND s.kind IN ('link', 'alias') AND s.workspace_id = wanted.workspace_id
      AND s.domain_number IN (
        SELECT 0 UNION ALL SELECT number FROM domains WHERE workspace_id = wanted.workspace_id)
    UNION ALL
    SELECT enrollment_id, NULL, 1 FROM referral_codes
    WHERE workspace_id = wanted.workspace_id AND code_key = wanted.code
    ORDER BY rank LIMIT 1`;

/**
 * Returns the links of referrers that these codes name where the program takes the parameter, each in the place of its
 * code. A former slug and an old code name the referrer's newest link. A link that is blocked, expired, protected or
 * limited is left out: opening it would not be a click either.
 */
export async function linksOfCodes(
  db: Queryable,
  codes: readonly WantedCode[],
): Promise<(CodeLink | null)[]> {
  const { rows } = await db.query<CodeLink & { nth: number }>(
    `SELECT wanted.nth::integer AS nth, l.id AS link_id, o.domain, l.slug, lower(l.slug) = wanted.code AS is_slug,
       l.append_visitor
     FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (workspace_id, parameter, code, nth)
     CROSS JOIN LATERAL (${CODE_IN}) AS found
     JOIN enrollments e ON e.id = found.enrollment_id AND e.deleted_at IS NULL
     JOIN programs p ON p.id = e.program_id AND wanted.parameter = ANY (p.link_parameters)
     CROSS JOIN LATERAL (
       SELECT l.* FROM referral_links r JOIN links l ON l.id = r.link_id
       WHERE r.enrollment_id = e.id AND l.deleted_at IS NULL AND l.blocked_at IS NULL
         AND (l.starts_at IS NULL OR l.starts_at <= now()) AND (l.expires_at IS NULL OR l.expires_at > now())
         AND l.password_hash IS NULL AND l.max_clicks IS NULL
       ORDER BY l.id = found.link_id DESC NULLS LAST, l.created_at DESC LIMIT 1
     ) AS l
     LEFT JOIN domains o ON o.number = l.domain_number`,
    [
      codes.map(({ workspaceId }) => workspaceId),
      codes.map(({ parameter }) => parameter),
      codes.map(({ code }) => slugKey(code)),
    ],
  );
  const found: (CodeLink | null)[] = codes.map(() => null);
  for (const { nth, ...link } of rows) found[nth - 1] = link;
  return found;
}

/**
 * Gives a referrer a code beside the slugs of its links. Returns false when another referrer of the workspace has it.
 */
export async function addReferralCode(
  tx: Queryable,
  given: { workspaceId: string; enrollmentId: string; code: string },
): Promise<boolean> {
  const { rows } = await tx.query<{ enrollment_id: string }>(
    `INSERT INTO referral_codes (workspace_id, code_key, enrollment_id) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, code_key) DO UPDATE SET enrollment_id = referral_codes.enrollment_id
     RETURNING enrollment_id`,
    [given.workspaceId, slugKey(given.code), given.enrollmentId],
  );
  return rows[0]?.enrollment_id === given.enrollmentId;
}
