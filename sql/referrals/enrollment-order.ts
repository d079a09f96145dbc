import type { EnrollmentSort } from '../../core/referrals/enrollment-sorts.ts';
import { conditionsAfter } from '../database/conditions.ts';
import type { Queryable } from '../database/pool.ts';
import { addEnrollmentFilter, type EnrollmentFilter } from './enrollment-list.ts';
import type { LinkClicks } from './program-activity.ts';
import { BUYER, IS_COUNTED, KEPT_MINOR } from './purchases.ts';

export type EnrollmentOrder = {
  sort: EnrollmentSort;
  isDescending: boolean;
  offset: number;
  limit: number;
  /** All-time clicks on referral links; only sorts by clicks need them. */
  clicks: LinkClicks;
  /** Worth of a minor unit by currency, in a common one; amounts in others count as nothing. */
  worths: ReadonlyMap<string, number>;
};

/** SQL: what a sort compares, by enrollment. `$1` workspace, `$2` links, `$3` their clicks, `$4`, `$5` worths. */
const FIGURES: Record<Exclude<EnrollmentSort, 'created' | 'name'>, string> = {
  clicks: 'SELECT enrollment_id, clicks AS figure FROM clicked',
  signups: `SELECT enrollment_id, count(*) AS figure FROM signups
    WHERE workspace_id = $1 AND state = 'matched' AND block_reason IS NULL GROUP BY enrollment_id`,
  purchases: `SELECT enrollment_id, count(*) AS figure FROM purchases
    WHERE workspace_id = $1 AND enrollment_id IS NOT NULL AND ${IS_COUNTED} GROUP BY enrollment_id`,
  revenue: 'SELECT enrollment_id, revenue AS figure FROM sold',
  average_lifetime_value: 'SELECT enrollment_id, revenue / buyers AS figure FROM sold',
  owed: `SELECT enrollment_id, sum(value) FILTER (WHERE account <> 'cash_paid') AS figure FROM earned
    GROUP BY enrollment_id`,
  epc: `SELECT enrollment_id, sum(value) / max(clicks) AS figure FROM earned JOIN clicked USING (enrollment_id)
    GROUP BY enrollment_id`,
};

const SOURCES = `worth AS (SELECT * FROM unnest($4::text[], $5::float8[]) AS worth (currency, factor)),
  clicked AS (
    SELECT r.enrollment_id, sum(k.clicks)::float8 AS clicks FROM unnest($2::uuid[], $3::bigint[]) AS k (link_id, clicks)
    JOIN referral_links r USING (link_id) GROUP BY r.enrollment_id),
  sold AS (
    SELECT p.enrollment_id, count(DISTINCT ${BUYER}) AS buyers, sum(${KEPT_MINOR} * coalesce(factor, 0)) AS revenue
    FROM (SELECT * FROM purchases WHERE workspace_id = $1 AND enrollment_id IS NOT NULL AND ${IS_COUNTED}) AS p
    JOIN orders o ON o.internal_id = p.order_internal_id LEFT JOIN worth ON worth.currency = p.currency
    GROUP BY p.enrollment_id),
  earned AS (
    SELECT e.id AS enrollment_id, l.account, sum(l.amount * coalesce(factor, 0)) AS value
    FROM ledger_entries l
    JOIN enrollments e ON e.workspace_id = $1 AND e.external_user_id = l.external_user_id AND e.deleted_at IS NULL
    LEFT JOIN worth ON worth.currency = l.unit
    WHERE l.workspace_id = $1 AND l.account IN ('cash_pending', 'cash_eligible', 'cash_paid')
    GROUP BY e.id, l.account)`;

/** Returns the ids of the referrers that pass the filter, in an order. Referrers without a figure count as 0. */
export async function orderedEnrollmentIds(
  db: Queryable,
  workspaceId: string,
  filter: Omit<EnrollmentFilter, 'limit'>,
  { sort, isDescending, offset, limit, clicks, worths }: EnrollmentOrder,
): Promise<string[]> {
  const conditions = conditionsAfter(
    workspaceId,
    [...clicks.keys()],
    [...clicks.values()],
    [...worths.keys()],
    [...worths.values()],
  );
  addEnrollmentFilter(conditions, filter);
  const direction = isDescending ? 'DESC' : 'ASC';
  const isOwn = sort === 'created' || sort === 'name';
  const by = isOwn
    ? { created: 'id', name: `lower(coalesce(nullif(name, ''), email, external_user_id))` }[sort]
    : 'coalesce(figure, 0)';
  const { rows } = await db.query<{ id: string }>(
    `WITH ${SOURCES}, figures AS (${isOwn ? 'SELECT NULL::uuid AS enrollment_id' : FIGURES[sort]})
     SELECT id FROM enrollments LEFT JOIN figures ON figures.enrollment_id = enrollments.id
     WHERE workspace_id = $1 AND deleted_at IS NULL${conditions.text()}
     ORDER BY ${by} ${direction}, id ${direction}
     LIMIT ${conditions.parameter(limit)} OFFSET ${conditions.parameter(offset)}`,
    conditions.values,
  );
  return rows.map(({ id }) => id);
}
