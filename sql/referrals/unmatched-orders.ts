import type { Queryable } from '../database/pool.ts';
import type { Signup } from './signups.ts';

/** Orders without a referrer that a later signup of their buyer may claim. */

/** Stores an order that no referrer brought. `user`: of the purchase's report, where it names one. */
export async function insertUnmatchedOrder(
  tx: Queryable,
  order: { internal_id: number; workspace_id: string; email: string | null; visitor_id: string | null },
  externalUserId: string | null,
  now: Date,
): Promise<void> {
  await tx.query(
    `INSERT INTO unmatched_orders (order_internal_id, workspace_id, external_user_id, email, visitor_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (order_internal_id) DO NOTHING`,
    [order.internal_id, order.workspace_id, externalUserId, order.email, order.visitor_id, now],
  );
}

/**
 * Removes an order from those that wait for a signup.
 *
 * @returns false when it was not among them
 */
export async function removeUnmatchedOrder(tx: Queryable, orderInternalId: number): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM unmatched_orders WHERE order_internal_id = $1', [
    orderInternalId,
  ]);
  return rowCount === 1;
}

/**
 * Returns the orders that may be this user's, with a purchase first reported at `since` or later, oldest first. One
 * that names no user has the signup's email or visitor: `userOfOrder` tells whose it is.
 */
export async function unmatchedOrdersOf(
  tx: Queryable,
  signup: Pick<Signup, 'workspace_id' | 'external_user_id' | 'email' | 'visitor_id'>,
  since: Date,
): Promise<{ order_internal_id: number; external_user_id: string | null; is_purchase: boolean }[]> {
  const { rows } = await tx.query<{
    order_internal_id: number;
    external_user_id: string | null;
    is_purchase: boolean;
  }>(
    `SELECT u.order_internal_id, u.external_user_id, p.order_internal_id IS NOT NULL AS is_purchase
     FROM unmatched_orders u JOIN orders o ON o.internal_id = u.order_internal_id
     LEFT JOIN purchases p ON p.order_internal_id = u.order_internal_id
     WHERE u.workspace_id = $1
       AND (u.external_user_id = $2 OR (u.external_user_id IS NULL AND (u.email = $3 OR u.visitor_id = $4)))
       AND coalesce(p.purchased_at, to_timestamp(o.ts / 1000000.0)) >= $5
     ORDER BY coalesce(p.purchased_at, to_timestamp(o.ts / 1000000.0)), u.order_internal_id`,
    [signup.workspace_id, signup.external_user_id, signup.email, signup.visitor_id, since],
  );
  return rows;
}
