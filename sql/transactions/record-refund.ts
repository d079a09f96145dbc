import { badRequest } from '../../core/errors.ts';
import { MoneyError, toMajor, toMinor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrder } from '../orders/reported-orders.ts';
import { keepEarlyRefund } from '../referrals/early-refunds.ts';
import type { Purchase } from '../referrals/purchases.ts';
import { insertRefund, type Refund, refundById, refundedBy, refundsOfOrder } from '../referrals/refunds.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { judgeTrackedOrder } from './record-purchase.ts';
import { takeBack } from './take-back.ts';

export type RefundReport = {
  refundId: string;
  orderId: string;
  /** Major units of the order's currency; null: all that is left of it. */
  amount: number | null;
};

/**
 * Writes a refund once and takes back what the order earned, in proportion.
 *
 * @returns the refund; null when no server has reported the order yet: then it is kept, and taken back with the order's
 *   verdict (`early-refunds.ts`)
 * @throws {AppError} `bad_request` when more is refunded than is left, or the amount is none of the currency
 */
export async function recordRefund(
  tx: Queryable,
  workspace: Workspace,
  report: RefundReport,
  now: Date,
): Promise<Refund | null> {
  const order = await lockOrder(tx, workspace.id, report.orderId);
  // After the lock: an identical call that ran before has committed by now.
  const known = await refundById(tx, workspace.id, report.refundId);
  if (known) return known;
  // What a browser says of an order is no measure of what is refunded: a server's report replaces it.
  if (!order || order.source === 'pixel') {
    const { refundId, orderId, amount } = report;
    await keepEarlyRefund(tx, {
      workspace_id: workspace.id,
      refund_id: refundId,
      order_id: orderId,
      amount,
      reported_at: now,
    });
    return null;
  }
  const purchase = await judgeTrackedOrder(tx, workspace, order, now);
  const { amount_minor: orderMinor, currency } = purchase ?? order;
  const before = refundedBy(await refundsOfOrder(tx, order.internal_id));
  // The order may have been tracked for more than the purchase is, and refunded then.
  const left = Math.max(0, orderMinor - before);
  const amountMinor = refundedNow(report.amount, currency, left);
  const refund = await insertRefund(
    tx,
    {
      workspace_id: workspace.id,
      refund_id: report.refundId,
      order_internal_id: order.internal_id,
      amount_minor: amountMinor,
      matched: isReferred(purchase),
    },
    now,
  );
  // The same refund_id came for another order at this very moment, and was first.
  if (!refund) return refundById(tx, workspace.id, report.refundId);
  if (!purchase || !isReferred(purchase) || amountMinor === 0) return refund;
  return takeBack(tx, { purchase, refund, refundedMinor: before + amountMinor, now });
}

function isReferred(purchase: Purchase | null): boolean {
  return purchase !== null && purchase.enrollment_id !== null;
}

function refundedNow(amount: number | null, currency: string, left: number): number {
  if (amount === null) return left;
  try {
    const minor = toMinor(amount, currency);
    if (minor <= left) return minor;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
    // What is more than numbers hold is more than is left.
    if (error.problem !== 'out_of_range') throw badRequest('amount', `must be an amount of money: ${error.message}`);
  }
  throw badRequest(
    'amount',
    `must be at most ${toMajor(left, currency)} ${currency}, what is left of the order`,
  );
}
