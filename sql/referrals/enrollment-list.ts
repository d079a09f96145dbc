import type { LinkAddress } from '../../core/links/short-urls.ts';
import type { EnrollmentStatus, RewardMode } from '../../core/referrals/terms.ts';
import { type Conditions, conditionsAfter } from '../database/conditions.ts';
import type { Queryable } from '../database/pool.ts';
import { DOMAIN_IS_OWN } from '../domains/domains.ts';
import { ENROLLMENT_COLUMNS, type Enrollment } from './enrollments.ts';
import { BUYER, IS_COUNTED, KEPT_MINOR } from './purchases.ts';

/** A referrer with its link and totals since enrollment. */
export type ListedEnrollment = Enrollment & {
  /** Where the newest live link is; null when all were deleted. */
  address: LinkAddress | null;
  /** Every link that the referrer ever had: clicks on all of them count. */
  link_ids: string[];
  /** Blocked and held signups excluded. */
  signups: number;
  blocked_signups: number;
  /** Excludes purchases of blocked signups and those made while the referrer was suspended. */
  purchases: number;
  /** Different buyers of these purchases. */
  buyers: number;
  /** What these purchases brought less refunds, in minor units by currency. */
  revenue_minor: Record<string, number>;
};

export type EnrollmentFilter = {
  id: string | null;
  /** Only these; all by default. */
  ids?: readonly string[];
  programId: string | null;
  status: EnrollmentStatus | null;
  rewardMode: RewardMode | null;
  groupId: string | null;
  /** Part of the user's id, email or name, case-insensitive. */
  search: string | null;
  /** An enrollment's id: only older ones. */
  before: string | null;
  limit: number;
};

/** Adds the conditions of a filter to those of a statement on `enrollments`. */
export function addEnrollmentFilter({ add }: Conditions, filter: Omit<EnrollmentFilter, 'limit'>): void {
  add((p) => `id = ${p}`, filter.id);
  add((p) => `id = ANY (${p}::uuid[])`, filter.ids ?? null);
  add((p) => `program_id = ${p}`, filter.programId);
  add((p) => `status = ${p}`, filter.status);
  add((p) => `reward_mode = ${p}`, filter.rewardMode);
  add((p) => `group_id = ${p}`, filter.groupId);
  // position() knows no wildcards, so nothing needs escaping.
  add(
    (p) => `position(lower(${p}) in lower(concat_ws(chr(10), external_user_id, email, name))) > 0`,
    filter.search,
  );
  add((p) => `id < ${p}`, filter.before);
}

/** Returns the referrers of a workspace that pass the filter, newest first. */
export async function listEnrollments(
  db: Queryable,
  workspaceId: string,
  filter: EnrollmentFilter,
): Promise<ListedEnrollment[]> {
  const conditions = conditionsAfter(workspaceId);
  addEnrollmentFilter(conditions, filter);
  const { parameter, text, values } = conditions;
  const { rows } = await db.query<ListedEnrollment>(
    `SELECT e.*, brought.*, links.address, links.link_ids
     FROM (SELECT ${ENROLLMENT_COLUMNS} FROM enrollments
           WHERE workspace_id = $1 AND deleted_at IS NULL${text()}
           ORDER BY id DESC LIMIT ${parameter(filter.limit)}) AS e,
       LATERAL (SELECT coalesce(array_agg(r.link_id), '{}') AS link_ids,
           (array_agg(json_build_object('domain', o.domain, 'slug', l.slug) ORDER BY l.created_at DESC)
             FILTER (WHERE l.deleted_at IS NULL AND ${DOMAIN_IS_OWN}))[1] AS address
         FROM referral_links r JOIN links l ON l.id = r.link_id LEFT JOIN domains o ON o.number = l.domain_number
         WHERE r.enrollment_id = e.id) AS links,
       LATERAL (SELECT
           (SELECT count(*) FROM signups s WHERE s.enrollment_id = e.id AND state = 'matched'
              AND block_reason IS NULL) AS signups,
           (SELECT count(*) FROM signups s WHERE s.enrollment_id = e.id AND block_reason IS NOT NULL)
             AS blocked_signups,
           (SELECT count(*) FROM purchases p WHERE p.enrollment_id = e.id
              AND ${IS_COUNTED}) AS purchases,
           (SELECT count(DISTINCT ${BUYER}) FROM purchases p JOIN orders o ON o.internal_id = p.order_internal_id
            WHERE p.enrollment_id = e.id AND ${IS_COUNTED}) AS buyers,
           (SELECT coalesce(jsonb_object_agg(currency, minor), '{}') FROM (
              SELECT p.currency, sum(${KEPT_MINOR})::bigint AS minor
              FROM purchases p WHERE p.enrollment_id = e.id AND ${IS_COUNTED}
              GROUP BY p.currency) AS sums) AS revenue_minor) AS brought
     ORDER BY e.id DESC`,
    values,
  );
  return rows;
}
