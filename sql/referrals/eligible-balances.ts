import type { EnrollmentStatus, PayoutMethod } from '../../core/referrals/terms.ts';
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
};

/**
 * SQL: eligible balances at `$3`, by referrer. Includes commissions whose hold period is over but that the job has
 * not matured yet, as a payout file does.
 */
const ELIGIBLE = `SELECT e.id AS enrollment_id, e.program_id, e.external_user_id, e.name, e.status, e.payout_method,
    e.payout_email, p.min_payout_minor, owed.amount_minor, owed.currency, owed.commissions
  FROM (
    SELECT c.enrollment_id, c.currency, count(*) AS commissions, sum(remaining.amount)::bigint AS amount_minor
    FROM commissions c, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM ledger_entries
                                 WHERE commission_id = c.id) AS remaining
    WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.program_id = $2)
      AND (c.status = 'eligible' OR (c.status = 'pending' AND c.eligible_at <= $3))
    GROUP BY c.enrollment_id, c.currency) AS owed
  JOIN enrollments e ON e.id = owed.enrollment_id JOIN programs p ON p.id = e.program_id
  WHERE owed.amount_minor <> 0`;

/** SQL: the referrers for whom `exportPayouts` of transactions/pay-out.ts would write a line. */
const PAYABLE = `status = 'approved' AND amount_minor > 0 AND amount_minor >= min_payout_minor`;

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
): Promise<(EligibleBalance & { payable: boolean })[]> {
  const { rows } = await db.query<EligibleBalance & { payable: boolean }>(
    `SELECT *, ${PAYABLE} AS payable FROM (${ELIGIBLE}) AS eligible
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
     FROM (${ELIGIBLE}) AS eligible WHERE ${PAYABLE} GROUP BY currency ORDER BY currency`,
    [workspaceId, programId, now],
  );
  return rows;
}
