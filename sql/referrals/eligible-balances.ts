import type { EnrollmentStatus, HeldBack, PayoutMethod } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** What a referrer could be paid now, in minor units. Negative where refunds exceed what is eligible. */
export type EligibleBalance = {
  enrollment_id: string;
  program_id: string;
  external_user_id: string;
  name: string | null;
  status: EnrollmentStatus;
  payout_method: PayoutMethod | null;
  payout_email: string | null;
  min_payout_minor: number;
  amount_minor: number;
  currency: string;
  commissions: number;
  /** Why a file created now would leave the balance out; null: it would not. */
  held_back: HeldBack | null;
};

/**
 * SQL: why a payout file leaves out the balance of an enrollment `e`, or null. The reasons are in the order of
 * `HELD_BACK`. Needs the enrollment's workspace `w` and program `p`.
 *
 * @param amount SQL of the balance in minor units
 * @param now SQL of the time of the file
 */
export const heldBack = (amount: string, now: string) => `CASE WHEN e.status = 'suspended' THEN 'suspended'
    WHEN ${amount} <= 0 THEN 'negative' WHEN ${amount} < p.min_payout_minor THEN 'below_minimum'
    WHEN e.payout_method IS NULL THEN 'no_payout_method'
    WHEN e.payout_unconfirmed_at > ${now}::timestamptz - make_interval(days => w.payout_hold_days)
      THEN 'payout_method_changed' END`;

/**
 * SQL: eligible balances of workspace `$1` and program `$2` or null at `$3`, by referrer. Includes commissions whose hold period is over but that the job has
 * not matured yet, as a payout file does. A balance of one program is judged by that program's minimum, also where its
 * referrer has moved to another.
 */
export const ELIGIBLE = `SELECT e.id AS enrollment_id, p.id AS program_id, e.external_user_id, e.name, e.status,
    e.payout_method, e.payout_email, p.min_payout_minor, owed.amount_minor, owed.currency, owed.commissions,
    ${heldBack('owed.amount_minor', '$3')} AS held_back
  FROM (
    SELECT c.enrollment_id, c.currency, count(*) AS commissions, sum(remaining.amount)::bigint AS amount_minor
    FROM commissions c, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM ledger_entries
                                 WHERE commission_id = c.id) AS remaining
    WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.program_id = $2)
      AND (c.status = 'eligible' OR (c.status = 'pending' AND c.eligible_at <= $3))
    GROUP BY c.enrollment_id, c.currency) AS owed
  JOIN enrollments e ON e.id = owed.enrollment_id JOIN programs p ON p.id = coalesce($2, e.program_id)
  JOIN workspaces w ON w.id = e.workspace_id
  WHERE owed.amount_minor <> 0`;

/** @param programId null: every program of the workspace */
type Scope = { workspaceId: string; programId: string | null; now: Date };

/**
 * Returns referrers with an eligible balance, latest enrolled first.
 *
 * @param page.before an enrollment's id: only older ones
 */
export async function listEligible(
  db: Queryable,
  { workspaceId, programId, now }: Scope,
  page: { before: string | null; limit: number },
): Promise<EligibleBalance[]> {
  const { rows } = await db.query<EligibleBalance>(
    `SELECT * FROM (${ELIGIBLE}) AS eligible
     WHERE $4::uuid IS NULL OR enrollment_id < $4 ORDER BY enrollment_id DESC LIMIT $5`,
    [workspaceId, programId, now, page.before, page.limit],
  );
  return rows;
}

/** Returns what a payout file created now would list: referrers and minor units, by currency. */
export async function sumPayable(
  db: Queryable,
  { workspaceId, programId, now }: Scope,
): Promise<{ currency: string; referrers: number; amount_minor: number }[]> {
  const { rows } = await db.query<{ currency: string; referrers: number; amount_minor: number }>(
    `SELECT currency, count(*) AS referrers, sum(amount_minor)::bigint AS amount_minor
     FROM (${ELIGIBLE}) AS eligible WHERE held_back IS NULL GROUP BY currency ORDER BY currency`,
    [workspaceId, programId, now],
  );
  return rows;
}
