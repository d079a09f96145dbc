import { type PurchaseReason, UNCOUNTED_REASONS } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** The outcome of an order: its rewards, or the reason for none. */
export type Purchase = {
  order_internal_id: number;
  workspace_id: string;
  /** Null: the buyer was not referred. */
  signup_id: string | null;
  /** Null with a signup: that signup is pending, and the purchase is qualified with it. */
  enrollment_id: string | null;
  external_user_id: string | null;
  /** The report's email, stored only while the purchase waits for its signup. */
  email: string | null;
  amount_minor: number;
  currency: string;
  is_renewal: boolean;
  rewarded: boolean;
  ledger_rows: number;
  reason: PurchaseReason | null;
  purchased_at: Date;
};

const COLUMNS = `order_internal_id, workspace_id, signup_id, enrollment_id, external_user_id, email, amount_minor,
  currency, is_renewal, rewarded, ledger_rows, reason, purchased_at`;

/** SQL: whether a purchase counts as the referrer's. */
export const IS_COUNTED = `NOT held AND (reason IS NULL OR reason NOT IN (${UNCOUNTED_REASONS.map((reason) => `'${reason}'`).join(', ')}))`;

/** Returns the outcome of an order, or null. Call it with the order locked. */
export async function purchaseOfOrder(tx: Queryable, orderInternalId: number): Promise<Purchase | null> {
  const { rows } = await tx.query<Purchase>(`SELECT ${COLUMNS} FROM purchases WHERE order_internal_id = $1`, [
    orderInternalId,
  ]);
  return rows[0] ?? null;
}

/** Writes the outcome of an order, or completes that of a purchase whose signup was pending. */
export async function upsertPurchase(tx: Queryable, purchase: Purchase, now: Date): Promise<void> {
  await tx.query(
    `INSERT INTO purchases (${COLUMNS}, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     ON CONFLICT (order_internal_id) DO UPDATE SET signup_id = excluded.signup_id,
       enrollment_id = excluded.enrollment_id, email = excluded.email, rewarded = excluded.rewarded,
       ledger_rows = excluded.ledger_rows, reason = excluded.reason`,
    [
      purchase.order_internal_id,
      purchase.workspace_id,
      purchase.signup_id,
      purchase.enrollment_id,
      purchase.external_user_id,
      purchase.email,
      purchase.amount_minor,
      purchase.currency,
      purchase.is_renewal,
      purchase.rewarded,
      purchase.ledger_rows,
      purchase.reason,
      purchase.purchased_at,
      now,
    ],
  );
}

/** Returns whether the buyer had an earlier first sale, and when the first purchase was. */
export async function earlierPurchases(
  tx: Queryable,
  signupId: string,
  exceptOrder: number,
): Promise<{ sold: boolean; firstAt: Date | null }> {
  const { rows } = await tx.query<{ sold: boolean | null; first_at: Date | null }>(
    `SELECT bool_or(NOT is_renewal) AS sold, min(purchased_at) AS first_at FROM purchases
     WHERE signup_id = $1 AND enrollment_id IS NOT NULL AND amount_minor > 0 AND order_internal_id <> $2`,
    [signupId, exceptOrder],
  );
  return { sold: rows[0]?.sold ?? false, firstAt: rows[0]?.first_at ?? null };
}

/** Returns purchases that wait for the signup to be matched, oldest first. */
export async function pendingPurchases(tx: Queryable, signupId: string): Promise<Purchase[]> {
  const { rows } = await tx.query<Purchase>(
    `SELECT ${COLUMNS} FROM purchases WHERE signup_id = $1 AND enrollment_id IS NULL
     ORDER BY purchased_at, order_internal_id`,
    [signupId],
  );
  return rows;
}
