import { METHOD_OF_FORMAT, unitSql, wiseNameSql } from '../../core/referrals/payout-formats.ts';
import type { EnrollmentStatus, HeldBack, PayoutFormat, PayoutMethod } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { isInOpenFile } from './payouts.ts';

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
  /** What of it is in open files of the format. */
  in_open_files_minor: number;
  currency: string;
  commissions: number;
  /** Why a file created now would leave the balance out; null: it would not. */
  held_back: HeldBack | null;
  /** End of `payout_hold_days` since a page changed the payout address. */
  payout_held_until: Date | null;
};

/** SQL: the minimum payout of an enrollment `e` for a balance of program `p`, minor units: its group's, or the program's. */
const MIN_PAYOUT = `coalesce((SELECT g.min_payout_minor FROM partner_groups g
  WHERE g.id = e.group_id AND g.program_id = p.id), p.min_payout_minor)`;

/**
 * SQL: why a payout file leaves out the balance of an enrollment `e`, or null. The reasons are in the order of
 * `HELD_BACK`. Needs the enrollment's workspace `w` and program `p`.
 *
 * @param sql.amount the balance in minor units, without what is in open files of the format and program
 * @param sql.inOpenFiles the part of the balance that is in those files
 * @param sql.currency the currency of both
 * @param sql.now the time of the file
 * @param sql.format the format of the file
 */
export const heldBack = (sql: {
  amount: string;
  inOpenFiles: string;
  currency: string;
  now: string;
  format: string;
}) =>
  `CASE WHEN e.status = 'suspended' THEN 'suspended'
    WHEN ${sql.amount} <= 0 AND ${sql.inOpenFiles} > 0 THEN 'in_open_file'
    WHEN ${sql.amount} <= 0 THEN 'negative' WHEN ${sql.amount} < ${MIN_PAYOUT} THEN 'below_minimum'
    WHEN ${sql.amount} < ${unitSql(sql)} THEN 'below_one_unit'
    WHEN e.payout_method IS NULL THEN 'no_payout_method'
    WHEN e.payout_unconfirmed_at > ${sql.now}::timestamptz - make_interval(days => w.payout_hold_days)
      THEN 'payout_method_changed'
    WHEN EXISTS (SELECT FROM payouts l WHERE l.enrollment_id = e.id AND l.status = 'failed' AND l.retried_at IS NULL
                 AND (l.method, l.payout_email) = (e.payout_method, e.payout_email)) THEN 'payout_failed'
    WHEN ${sql.format}::text = 'wise' AND NOT coalesce(${wiseNameSql('coalesce(e.payout_name, e.name)')}, false)
      THEN 'payout_name' END`;

/**
 * SQL: eligible balances of workspace `$1` and program `$2` or null at `$3`, by referrer, for a file of format `$4`.
 * Includes commissions whose hold period is over but that the job has not matured yet, as a payout file does. A balance
 * of one program is judged by that program's minimum, also where its referrer has moved to another.
 */
export const ELIGIBLE = `SELECT e.id AS enrollment_id, p.id AS program_id, e.external_user_id, e.name, e.status,
    e.payout_method, e.payout_email, ${MIN_PAYOUT} AS min_payout_minor, owed.amount_minor, owed.in_open_files_minor, owed.currency,
    owed.commissions, ${heldBack({
      amount: '(owed.amount_minor - owed.in_open_files_minor)',
      inOpenFiles: 'owed.in_open_files_minor',
      currency: 'owed.currency',
      now: '$3',
      format: '$4',
    })} AS held_back,
    e.payout_unconfirmed_at + make_interval(days => w.payout_hold_days) AS payout_held_until
  FROM (
    SELECT c.enrollment_id, c.currency, count(*) AS commissions, sum(remaining.amount)::bigint AS amount_minor,
      coalesce(sum(remaining.amount) FILTER (WHERE ${isInOpenFile({ format: '$4', programId: '$2' })}), 0)::bigint AS in_open_files_minor
    FROM commissions c, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM ledger_entries
                                 WHERE commission_id = c.id) AS remaining
    WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.program_id = $2)
      AND (c.status = 'eligible' OR (c.status = 'pending' AND c.eligible_at <= $3))
    GROUP BY c.enrollment_id, c.currency) AS owed
  JOIN enrollments e ON e.id = owed.enrollment_id JOIN programs p ON p.id = coalesce($2, e.program_id)
  JOIN workspaces w ON w.id = e.workspace_id
  WHERE owed.amount_minor <> 0`;

/**
 * @param programId null: every program of the workspace
 * @param format of the file; those of PayPal and Wise have the balances of that method alone
 */
type Scope = { workspaceId: string; programId: string | null; format: PayoutFormat; now: Date };

/**
 * Returns referrers with an eligible balance, latest enrolled first.
 *
 * @param page.before an enrollment's id: only older ones
 */
export async function listEligible(
  db: Queryable,
  { workspaceId, programId, format, now }: Scope,
  page: { before: string | null; limit: number },
): Promise<EligibleBalance[]> {
  const { rows } = await db.query<EligibleBalance>(
    `SELECT * FROM (${ELIGIBLE}) AS eligible
     WHERE ($5::uuid IS NULL OR enrollment_id < $5) AND ($7::text IS NULL OR payout_method = $7)
     ORDER BY enrollment_id DESC LIMIT $6`,
    [workspaceId, programId, now, format, page.before, page.limit, METHOD_OF_FORMAT[format]],
  );
  return rows;
}

/** Returns what a payout file created now would list: referrers and minor units, by currency. */
export async function sumPayable(
  db: Queryable,
  { workspaceId, programId, format, now }: Scope,
): Promise<{ currency: string; referrers: number; amount_minor: number }[]> {
  const { rows } = await db.query<{ currency: string; referrers: number; amount_minor: number }>(
    `SELECT currency, count(*) AS referrers, sum(amount_minor - in_open_files_minor)::bigint AS amount_minor
     FROM (${ELIGIBLE}) AS eligible WHERE held_back IS NULL AND ($5::text IS NULL OR payout_method = $5)
     GROUP BY currency ORDER BY currency`,
    [workspaceId, programId, now, format, METHOD_OF_FORMAT[format]],
  );
  return rows;
}
