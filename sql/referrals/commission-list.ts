import type { CommissionStatus } from '../../core/referrals/terms.ts';
import { conditionsAfter } from '../database/conditions.ts';
import type { Queryable } from '../database/pool.ts';
import type { Commission } from './commissions.ts';
import { REFERRER_NAMES, type ReferrerNames } from './enrollments.ts';

/** A commission with its referrer, its order, and what is left of it. */
export type ListedCommission = Commission &
  ReferrerNames & {
    external_user_id: string;
    /** The merchant's id. */
    order_id: string | null;
    remaining_minor: number;
  };

export type CommissionFilter = {
  id: string | null;
  enrollmentId: string | null;
  programId: string | null;
  status: CommissionStatus | null;
  /** A commission's id: only older ones. */
  before: string | null;
  limit: number;
};

/** Returns the commissions of a workspace that pass the filter, newest first. */
export async function listCommissions(
  db: Queryable,
  workspaceId: string,
  filter: CommissionFilter,
): Promise<ListedCommission[]> {
  const { add, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `c.id = ${p}`, filter.id);
  add((p) => `c.enrollment_id = ${p}`, filter.enrollmentId);
  add((p) => `c.program_id = ${p}`, filter.programId);
  add((p) => `c.status = ${p}`, filter.status);
  add((p) => `c.id < ${p}`, filter.before);
  const { rows } = await db.query<ListedCommission>(
    `SELECT c.*, e.external_user_id, ${REFERRER_NAMES}, o.order_id,
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = c.id)::bigint AS remaining_minor
     FROM (SELECT c.* FROM commissions c WHERE c.workspace_id = $1${text()}
           ORDER BY c.id DESC LIMIT ${parameter(filter.limit)}) AS c
     JOIN enrollments e ON e.id = c.enrollment_id LEFT JOIN orders o ON o.internal_id = c.order_internal_id
     ORDER BY c.id DESC`,
    values,
  );
  return rows;
}

/** A commission as the referrer's dashboard lists it. */
export type RecentCommission = {
  created_at: Date;
  type: 'sale' | 'renewal' | 'refund' | 'correction' | 'manual' | 'imported';
  level: number | null;
  /**
   * The order's amount in minor units of its currency, negative for a refund. A manual or imported commission has its
   * own amount here.
   */
  sale_minor: number;
  sale_currency: string;
  /** What is left of the commission after refunds. */
  earnings_minor: number;
  currency: string;
  status: CommissionStatus;
  /** When the hold of a pending one ends. */
  eligible_at: Date;
};

/** Returns a referrer's newest commissions. */
export async function recentCommissions(
  db: Queryable,
  enrollmentId: string,
  limit: number,
): Promise<RecentCommission[]> {
  const { rows } = await db.query<RecentCommission>(
    `SELECT c.created_at, CASE WHEN c.kind <> 'sale' THEN c.kind WHEN p.is_renewal THEN 'renewal' ELSE 'sale' END
         AS type, c.level, CASE WHEN c.kind = 'correction' THEN sign(c.amount_minor)::bigint * p.amount_minor
         ELSE coalesce(-r.amount_minor, p.amount_minor, c.amount_minor) END AS sale_minor,
       coalesce(p.currency, c.currency) AS sale_currency,
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = c.id)::bigint AS earnings_minor,
       c.currency, c.status, c.eligible_at
     FROM (SELECT * FROM commissions WHERE enrollment_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2) AS c
     LEFT JOIN purchases p USING (order_internal_id) LEFT JOIN refunds r ON r.id = c.refund_id
     ORDER BY c.created_at DESC, c.id DESC`,
    [enrollmentId, limit],
  );
  return rows;
}

/**
 * Returns the commission that a workspace's sales earned in `[from, to)` by currency, net of refunds. Minor units. What
 * was imported was earned elsewhere.
 */
export async function commissionEarned(
  db: Queryable,
  workspaceId: string,
  from: Date,
  to: Date,
): Promise<{ currency: string; amount_minor: number }[]> {
  const { rows } = await db.query<{ currency: string; amount_minor: number }>(
    `SELECT e.unit AS currency, sum(e.amount)::bigint AS amount_minor
     FROM commissions c JOIN ledger_entries e ON e.commission_id = c.id
     WHERE c.workspace_id = $1 AND c.created_at >= $2 AND c.created_at < $3 AND c.kind <> 'imported' GROUP BY e.unit`,
    [workspaceId, from, to],
  );
  return rows;
}
