import type { Queryable } from '../database/pool.ts';
import { nextVersion } from './orders.ts';
import { queuePublications } from './publications.ts';

/** An order of a payment at a billing provider. */
export type PaymentOrder = { internal_id: number; order_id: string };

/** Returns the orders with these ids that a server reported and that count, the oldest first. */
export async function serverOrdersOf(
  tx: Queryable,
  workspaceId: string,
  orderIds: readonly string[],
): Promise<PaymentOrder[]> {
  const { rows } = await tx.query<PaymentOrder>(
    `SELECT internal_id, order_id FROM orders
     WHERE workspace_id = $1 AND order_id = ANY ($2) AND source = 'server' AND same_as IS NULL ORDER BY internal_id`,
    [workspaceId, orderIds],
  );
  return rows;
}

/** Records that an older order of the same payment counts instead: reports leave this one out. */
export async function giveUpOrder(tx: Queryable, internalId: number, sameAs: number): Promise<void> {
  await tx.query(
    `UPDATE orders SET same_as = $2, amount_minor = 0, commissionable_minor = NULL, version = ${nextVersion('orders')}
     WHERE internal_id = $1`,
    [internalId, sameAs],
  );
  await queuePublications(tx, [internalId]);
}
