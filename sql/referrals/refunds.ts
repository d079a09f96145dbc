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
  /**
   * What the provider gave back, tax and shipping included: `amount_minor` is what that takes of the order. Minor units
   * of the order's currency. Null: a manual report.
   */
  provider_minor: number | null;
  matched: boolean;
  ledger_rows: number;
  /** The same refund under another id, which has the amount: a report by hand, and the provider's. Null: none. */
  same_as: string | null;
  created_at: Date;
};

const COLUMNS =
  'id, workspace_id, refund_id, order_internal_id, amount_minor, provider_minor, matched, ledger_rows, same_as, created_at';

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

/** Whether the provider told of a refund. Its id does not say so: the merchant chooses those of manual reports. */
export const isProviders = ({ provider_minor }: Pick<Refund, 'provider_minor'>): boolean =>
  provider_minor !== null;

/** Returns what was told of a refund: what the provider gave back, else the amount of the report. */
export const toldMinor = ({ provider_minor, amount_minor }: Refund): number => provider_minor ?? amount_minor;

/** Writes a refund, or returns null when its id exists. Waits for a concurrent report. */
export async function insertRefund(
  tx: Queryable,
  given: Omit<Refund, 'id' | 'ledger_rows' | 'provider_minor' | 'same_as' | 'created_at'> &
    Partial<Pick<Refund, 'provider_minor' | 'same_as'>>,
  now: Date,
): Promise<Refund | null> {
  const { rows } = await tx.query<Refund>(
    `INSERT INTO refunds (id, workspace_id, refund_id, order_internal_id, amount_minor, matched, ledger_rows,
       created_at, same_as, provider_minor)
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, $9) ON CONFLICT (workspace_id, refund_id) DO NOTHING RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      given.workspace_id,
      given.refund_id,
      given.order_internal_id,
      given.amount_minor,
      given.matched,
      now,
      given.same_as ?? null,
      given.provider_minor ?? null,
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

/** Sets what the provider gave back with a refund. */
export async function setProviderMinor(tx: Queryable, { id }: Refund, minor: number): Promise<void> {
  await tx.query('UPDATE refunds SET provider_minor = $2 WHERE id = $1', [id, minor]);
}

/**
 * Moves a refund to another order of the same payment, with what of it that order has left.
 *
 * @param refund what was told of it is in the currency of the other order
 * @param to.sameAs the same refund of that order, which has the amount; none: the one that it had
 */
export async function moveRefund(
  tx: Queryable,
  refund: Refund,
  to: { orderInternalId: number; amountMinor: number; sameAs?: string },
): Promise<Refund> {
  const moved = {
    ...refund,
    order_internal_id: to.orderInternalId,
    amount_minor: to.amountMinor,
    same_as: to.sameAs ?? refund.same_as,
  };
  await tx.query(
    `UPDATE refunds SET order_internal_id = $2, amount_minor = $3, same_as = $4, provider_minor = $5 WHERE id = $1`,
    [refund.id, moved.order_internal_id, moved.amount_minor, moved.same_as, moved.provider_minor],
  );
  return moved;
}

/** How far apart a report by hand and the provider's of one refund may be. Milliseconds. */
const SAME_WITHIN_MS = 72 * 3_600_000;

/**
 * Returns the refund among these of the same amount, as it was told, that was told at nearly the same time and that no
 * other id names, or null: it is the same refund, told a second time under another id.
 *
 * @param given.at when the second one was told
 */
export function sameRefund(
  refunds: readonly Refund[],
  { all, amountMinor, at }: { all: readonly Refund[]; amountMinor: number; at: Date },
): Refund | null {
  const taken = new Set(all.map(({ same_as }) => same_as));
  return (
    refunds.find(
      (refund) =>
        refund.same_as === null &&
        toldMinor(refund) === amountMinor &&
        amountMinor > 0 &&
        Math.abs(at.getTime() - refund.created_at.getTime()) <= SAME_WITHIN_MS &&
        !taken.has(refund.id),
    ) ?? null
  );
}
