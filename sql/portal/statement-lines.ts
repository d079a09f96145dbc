import type { CommissionStatus } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** A commission of a referrer in a month. Money is minor units. */
export type StatementLine = {
  created_at: Date;
  kind: string;
  /** The purchase, or what was refunded of it; null: a bonus or claw-back. */
  sale_minor: number | null;
  sale_currency: string | null;
  earnings_minor: number;
  currency: string;
  status: CommissionStatus;
};

/** Most lines of a statement. */
const MOST = 5_000;

/** Returns what a referrer earned in `[from, to)`, oldest first, with what later refunds left of each. */
export async function statementLines(
  db: Queryable,
  enrollmentId: string,
  from: Date,
  to: Date,
): Promise<StatementLine[]> {
  const { rows } = await db.query<StatementLine>(
    `SELECT c.created_at, c.kind, coalesce(-r.amount_minor, p.amount_minor) AS sale_minor, p.currency AS sale_currency,
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = c.id)::bigint AS earnings_minor,
       c.currency, c.status
     FROM commissions c LEFT JOIN purchases p USING (order_internal_id) LEFT JOIN refunds r ON r.id = c.refund_id
     WHERE c.enrollment_id = $1 AND c.created_at >= $2 AND c.created_at < $3
     ORDER BY c.created_at, c.id LIMIT ${MOST}`,
    [enrollmentId, from, to],
  );
  return rows;
}
