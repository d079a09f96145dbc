import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

export type Refund = {
  id: string;
  workspace_id: string;
  /** The merchant's own id: the idempotency key. */
  refund_id: string;
  order_internal_id: number;
  /** Minor units of the order's currency. */
  amount_minor: number;
  matched: boolean;
  ledger_rows: number;
};

const COLUMNS = 'id, workspace_id, refund_id, order_internal_id, amount_minor, matched, ledger_rows';

/** Returns the refund with this id in the workspace, or null. */
export async function refundById(
  db: Queryable,
  workspaceId: string,
  refundId: string,
): Promise<Refund | null> {
  const { rows } = await db.query<Refund>(
    `SELECT ${COLUMNS} FROM refunds WHERE workspace_id = $1 AND refund_id = $2`,
    [workspaceId, refundId],
  );
  return rows[0] ?? null;
}

/** Returns the refunds of an order, in the order of their reports. Call it with the order locked. */
export async function refundsOfOrder(tx: Queryable, orderInternalId: number): Promise<Refund[]> {
  const { rows } = await tx.query<Refund>(
    `SELECT ${COLUMNS} FROM refunds WHERE order_internal_id = $1 ORDER BY created_at, id`,
    [orderInternalId],
  );
  return rows;
}

/** Returns the sum of these refunds, in minor units of their order's currency. */
export function sumRefunds(refunds: readonly Refund[]): number {
  return refunds.reduce((sum, refund) => sum + refund.amount_minor, 0);
}

/** Writes a refund, or returns null when its id exists. Waits for a concurrent report. */
export async function insertRefund(
  tx: Queryable,
  given: Omit<Refund, 'id' | 'ledger_rows'>,
  now: Date,
): Promise<Refund | null> {
  const { rows } = await tx.query<Refund>(
    `INSERT INTO refunds (id, workspace_id, refund_id, order_internal_id, amount_minor, matched, ledger_rows,
       created_at)
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7) ON CONFLICT (workspace_id, refund_id) DO NOTHING RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      given.workspace_id,
      given.refund_id,
      given.order_internal_id,
      given.amount_minor,
      given.matched,
      now,
    ],
  );
  return rows[0] ?? null;
}

/** Completes a refund with the number of ledger rows that it wrote. */
export async function completeRefund(
  tx: Queryable,
  refund: Refund,
  result: { matched: boolean; ledgerRows: number },
): Promise<Refund> {
  await tx.query('UPDATE refunds SET matched = $2, ledger_rows = $3 WHERE id = $1', [
    refund.id,
    result.matched,
    result.ledgerRows,
  ]);
  return { ...refund, matched: result.matched, ledger_rows: result.ledgerRows };
}

/** Moves a refund to another order of the same payment, with what of it that order has left. */
export async function moveRefund(
  tx: Queryable,
  refund: Refund,
  { orderInternalId, amountMinor }: { orderInternalId: number; amountMinor: number },
): Promise<Refund> {
  await tx.query('UPDATE refunds SET order_internal_id = $2, amount_minor = $3 WHERE id = $1', [
    refund.id,
    orderInternalId,
    amountMinor,
  ]);
  return { ...refund, order_internal_id: orderInternalId, amount_minor: amountMinor };
}
