import { exponentOf, MoneyError, toMinor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrder, type ReportedOrder } from '../orders/reported-orders.ts';
import { removeEarlyRefunds } from '../referrals/early-refunds.ts';
import { purchaseOfOrder } from '../referrals/purchases.ts';
import { insertRefund, type Refund, refundsOfOrder, sumRefunds } from '../referrals/refunds.ts';
import { reverseCommissions } from './reverse-commissions.ts';

/**
 * Writes the refunds that were reported before their order, just before the order is qualified. The caller has locked
 * the order. Their reports were accepted, so an amount above the order's, or finer than its currency, is cut to the
 * remaining amount.
 *
 * @returns the refunds that were written
 */
export async function adoptEarlyRefunds(
  tx: Queryable,
  order: Pick<ReportedOrder, 'workspace_id' | 'order_id' | 'internal_id'>,
  sold: { amountMinor: number; currency: string },
): Promise<Refund[]> {
  const early = await removeEarlyRefunds(tx, order.workspace_id, order.order_id);
  if (early.length === 0) return [];
  const before = sumRefunds(await refundsOfOrder(tx, order.internal_id));
  let left = Math.max(0, sold.amountMinor - before);
  const adopted: Refund[] = [];
  for (const { refund_id, amount, reported_at } of early) {
    const amountMinor = amount === null ? left : Math.min(left, nearestMinor(amount, sold.currency));
    const refund = await insertRefund(
      tx,
      {
        workspace_id: order.workspace_id,
        refund_id,
        order_internal_id: order.internal_id,
        amount_minor: amountMinor,
        matched: false,
      },
      reported_at,
    );
    // Null: the same `refund_id` was meanwhile reported for another order.
    if (!refund) continue;
    adopted.push(refund);
    left -= amountMinor;
  }
  return adopted;
}

/**
 * Applies early refunds of an order that was being qualified when the refund was reported: neither transaction could
 * read the other's rows.
 */
export async function settleEarlyRefunds(
  tx: Queryable,
  { workspaceId, orderId, now }: { workspaceId: string; orderId: string; now: Date },
): Promise<void> {
  const order = await lockOrder(tx, workspaceId, orderId);
  const purchase = order && (await purchaseOfOrder(tx, order.internal_id));
  if (!order || !purchase) return;
  const sold = { amountMinor: purchase.amount_minor, currency: purchase.currency };
  let refundedMinor = sumRefunds(await refundsOfOrder(tx, order.internal_id));
  const adopted = await adoptEarlyRefunds(tx, order, sold);
  for (const refund of adopted) {
    refundedMinor = Math.min(refundedMinor + refund.amount_minor, purchase.amount_minor);
    await reverseCommissions(tx, { purchase, refund, refundedMinor, now });
  }
}

function nearestMinor(amount: number, currency: string): number {
  try {
    return toMinor(amount, currency);
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
    return Math.round(amount * 10 ** exponentOf(currency));
  }
}
