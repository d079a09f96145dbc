import type { Queryable } from '../database/pool.ts';

/** A refund that was reported before a server reported its order. */
export type EarlyRefund = {
  workspace_id: string;
  refund_id: string;
  order_id: string;
  /** Major units of the order's currency; null: all that is left of it. */
  amount: number | null;
  reported_at: Date;
};

/** Returns the early refund with this id in the workspace, or null. */
export async function earlyRefundById(
  db: Queryable,
  workspaceId: string,
  refundId: string,
): Promise<EarlyRefund | null> {
  const { rows } = await db.query<EarlyRefund>(
    `SELECT workspace_id, refund_id, order_id, amount, reported_at FROM early_refunds
     WHERE workspace_id = $1 AND refund_id = $2`,
    [workspaceId, refundId],
  );
  return rows[0] ?? null;
}

/** Stores a refund until its order is known. @returns what is stored: the first report of a refund id wins */
export async function insertEarlyRefund(tx: Queryable, refund: EarlyRefund): Promise<EarlyRefund> {
  const { rows } = await tx.query<EarlyRefund>(
    `INSERT INTO early_refunds (workspace_id, refund_id, order_id, amount, reported_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, refund_id) DO NOTHING
     RETURNING workspace_id, refund_id, order_id, amount, reported_at`,
    [refund.workspace_id, refund.refund_id, refund.order_id, refund.amount, refund.reported_at],
  );
  if (rows[0]) return rows[0];
  const known = await earlyRefundById(tx, refund.workspace_id, refund.refund_id);
  // Null: a concurrent report of the order has removed the refund.
  return known ?? insertEarlyRefund(tx, refund);
}

/** Removes and returns the early refunds of an order, in the order of their reports. */
export async function removeEarlyRefunds(
  tx: Queryable,
  workspaceId: string,
  orderId: string,
): Promise<EarlyRefund[]> {
  const { rows } = await tx.query<EarlyRefund>(
    `DELETE FROM early_refunds WHERE workspace_id = $1 AND order_id = $2
     RETURNING workspace_id, refund_id, order_id, amount, reported_at`,
    [workspaceId, orderId],
  );
  return rows.sort((a, b) => +a.reported_at - +b.reported_at || (a.refund_id < b.refund_id ? -1 : 1));
}

/**
 * Gives early refunds of these orders another order id: all of them are of one payment.
 *
 * @returns whether there were any
 */
export async function renameEarlyRefunds(
  tx: Queryable,
  workspaceId: string,
  orderIds: readonly string[],
  to: string,
): Promise<boolean> {
  const others = orderIds.filter((id) => id !== to);
  if (others.length === 0) return false;
  const { rowCount } = await tx.query(
    'UPDATE early_refunds SET order_id = $3 WHERE workspace_id = $1 AND order_id = ANY ($2)',
    [workspaceId, others, to],
  );
  return rowCount !== 0;
}

/**
 * Returns a qualified order that still has an early refund, or null. A random one: an order that can't be settled
 * must not block the others.
 */
export async function qualifiedOrderWithEarlyRefund(
  db: Queryable,
): Promise<{ workspace_id: string; order_id: string } | null> {
  const { rows } = await db.query<{ workspace_id: string; order_id: string }>(
    `SELECT early.workspace_id, early.order_id FROM early_refunds AS early
     JOIN orders USING (workspace_id, order_id) JOIN purchases ON order_internal_id = internal_id
     ORDER BY random() LIMIT 1`,
  );
  return rows[0] ?? null;
}
