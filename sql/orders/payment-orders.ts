import type { Queryable } from '../database/pool.ts';
import { nextVersion } from './orders.ts';
import { queuePublications } from './publications.ts';

/** An order of a payment at a billing provider. */
export type PaymentOrder = { internal_id: number; order_id: string; source: 'pixel' | 'server' };

/** Returns the orders with these ids that count: a server's before the pixel's, then the oldest first. */
export async function ordersWithIds(
  tx: Queryable,
  workspaceId: string,
  orderIds: readonly string[],
): Promise<PaymentOrder[]> {
  const { rows } = await tx.query<PaymentOrder>(
    `SELECT internal_id, order_id, source FROM orders
     WHERE workspace_id = $1 AND order_id = ANY ($2) AND same_as IS NULL ORDER BY source <> 'server', internal_id`,
    [workspaceId, orderIds],
  );
  return rows;
}

/**
 * Records that another order of the same payment counts instead of this one, which reports then leave out. The order
 * that counts takes over the visitor of the pixel's report, as when two reports have one id. The caller has locked
 * both.
 */
export async function giveUpOrder(tx: Queryable, internalId: number, sameAs: number): Promise<void> {
  await tx.query(
    `UPDATE orders AS kept SET pixel_visitor_id = coalesce(other.visitor_id, other.pixel_visitor_id),
       other_visitor_ids = other.other_visitor_ids, version = ${nextVersion('kept')}
     FROM orders AS other WHERE kept.internal_id = $2 AND other.internal_id = $1
       AND kept.visitor_id IS NULL AND kept.pixel_visitor_id IS NULL
       AND coalesce(other.visitor_id, other.pixel_visitor_id) IS NOT NULL`,
    [internalId, sameAs],
  );
  await tx.query(
    `UPDATE orders SET same_as = $2, amount_minor = 0, commissionable_minor = NULL,
       referral_evaluated_at = coalesce(referral_evaluated_at, now()), version = ${nextVersion('orders')}
     WHERE internal_id = $1`,
    [internalId, sameAs],
  );
  await queuePublications(tx, [internalId, sameAs]);
}
