import { type PurchaseReason, UNCOUNTED_REASONS } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** The outcome of an order: its rewards, or the reason for none. */
export type Purchase = {
  order_internal_id: number;
  workspace_id: string;
  /** Null: no signup brought the order. */
  signup_id: string | null;
  /** A referrer's coupon that the order used. It counts where `signup_id` is null. */
  coupon_id: string | null;
  /** Null with a signup: that signup is pending, and the purchase is qualified with it. */
  enrollment_id: string | null;
  external_user_id: string | null;
  /** The report's email, stored only while the purchase waits for its signup. */
  email: string | null;
  amount_minor: number;
  currency: string;
  /** The part of the amount that earns commission; null: all of it. */
  commissionable_minor: number | null;
  is_renewal: boolean;
  /** Waits for the review of its buyer's signup. */
  held: boolean;
  /** A commission is missing because no rate was set for the currency. */
  without_rate: boolean;
  rewarded: boolean;
  ledger_rows: number;
  reason: PurchaseReason | null;
  purchased_at: Date;
};

const COLUMNS = `order_internal_id, workspace_id, signup_id, coupon_id, enrollment_id, external_user_id, email,
  amount_minor, currency, commissionable_minor, is_renewal, held, without_rate, rewarded, ledger_rows, reason, purchased_at`;

/** SQL: whether a purchase counts as the referrer's. */
export const IS_COUNTED = `NOT held AND (reason IS NULL OR reason NOT IN (${UNCOUNTED_REASONS.map((reason) => `'${reason}'`).join(', ')}))`;

/** SQL: who bought, of purchase `p` and order `o`: the user, else the email, else the order. */
export const BUYER =
  'coalesce(p.external_user_id, o.external_user_id, lower(o.email), p.order_internal_id::text)';

/** SQL: what purchase `p` brought less refunds, in minor units. */
export const KEPT_MINOR = `(p.amount_minor - (SELECT coalesce(sum(f.amount_minor), 0) FROM refunds f
  WHERE f.order_internal_id = p.order_internal_id))`;

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
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
     ON CONFLICT (order_internal_id) DO UPDATE SET signup_id = excluded.signup_id,
       coupon_id = excluded.coupon_id, enrollment_id = excluded.enrollment_id, email = excluded.email, held = excluded.held,
       without_rate = excluded.without_rate, rewarded = excluded.rewarded, ledger_rows = excluded.ledger_rows,
       reason = excluded.reason`,
    [
      purchase.order_internal_id,
      purchase.workspace_id,
      purchase.signup_id,
      purchase.coupon_id,
      purchase.enrollment_id,
      purchase.external_user_id,
      purchase.email,
      purchase.amount_minor,
      purchase.currency,
      purchase.commissionable_minor,
      purchase.is_renewal,
      purchase.held,
      purchase.without_rate,
      purchase.rewarded,
      purchase.ledger_rows,
      purchase.reason,
      purchase.purchased_at,
      now,
    ],
  );
}

/** Takes the purchase of an order from its referrer: an older order of the same payment counts instead. */
export async function markSamePayment(tx: Queryable, orderInternalId: number): Promise<void> {
  await tx.query(
    `UPDATE purchases SET signup_id = NULL, coupon_id = NULL, enrollment_id = NULL, email = NULL, held = false,
       without_rate = false, rewarded = false, ledger_rows = 0, reason = 'same_payment' WHERE order_internal_id = $1`,
    [orderInternalId],
  );
}

/** Returns whether a user has a purchase from before a time. */
export async function hasBoughtBefore(
  tx: Queryable,
  workspaceId: string,
  externalUserId: string,
  before: Date,
): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM purchases WHERE workspace_id = $1 AND external_user_id = $2 AND purchased_at < $3
       AND reason IS DISTINCT FROM 'same_payment') AS found`,
    [workspaceId, externalUserId, before],
  );
  return rows[0]?.found === true;
}

/** Returns when the first of a signup's other purchases was rewarded, or null. */
export async function firstRewardedOfSignup(
  tx: Queryable,
  signupId: string,
  exceptOrder: number,
): Promise<Date | null> {
  const { rows } = await tx.query<{ first_at: Date | null }>(
    `SELECT min(purchased_at) AS first_at FROM purchases
     WHERE signup_id = $1 AND rewarded AND order_internal_id <> $2`,
    [signupId, exceptOrder],
  );
  return rows[0]?.first_at ?? null;
}

/** Returns the purchases of a signup, oldest first. */
export async function purchasesOfSignup(tx: Queryable, signupId: string): Promise<Purchase[]> {
  const { rows } = await tx.query<Purchase>(
    `SELECT ${COLUMNS} FROM purchases WHERE signup_id = $1 ORDER BY purchased_at, order_internal_id`,
    [signupId],
  );
  return rows;
}

/** Forgets which purchases of a signup were rewarded, before they are qualified again. */
export async function clearOutcomes(tx: Queryable, signupId: string): Promise<void> {
  await tx.query('UPDATE purchases SET rewarded = false, ledger_rows = 0 WHERE signup_id = $1 AND rewarded', [
    signupId,
  ]);
}

/**
 * Returns purchases that lack a commission because this pair of currencies had no rate, by order, up to `limit`.
 *
 * @param after an order: only later ones
 */
export async function purchasesWithoutRate(
  db: Queryable,
  pair: { currency: string; base: string },
  after: number,
  limit: number,
): Promise<{ order_internal_id: number; workspace_id: string }[]> {
  const { rows } = await db.query<{ order_internal_id: number; workspace_id: string }>(
    `SELECT p.order_internal_id, p.workspace_id FROM purchases p JOIN enrollments e ON e.id = p.enrollment_id
     JOIN programs program ON program.id = e.program_id
     WHERE p.without_rate AND p.currency = $1 AND program.currency = $2 AND p.order_internal_id > $3
     ORDER BY p.order_internal_id LIMIT $4`,
    [pair.currency, pair.base, after, limit],
  );
  return rows;
}
