import { AppError, badRequest } from '../../core/errors.ts';
import { MoneyError, toMajor, toMinor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrder } from '../orders/reported-orders.ts';
import { earlyRefundById, insertEarlyRefund } from '../referrals/early-refunds.ts';
import { insertRefund, type Refund, refundById, refundsOfOrder, sumRefunds } from '../referrals/refunds.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { qualifyTrackedOrder } from './record-purchase.ts';
import { reverseCommissions } from './reverse-commissions.ts';

export type RefundReport = {
  refundId: string;
  orderId: string;
  /** Major units of the order's currency; null: all of the remaining amount. */
  amount: number | null;
  /** What the provider gave back, in minor units of that currency; left out: a manual report. */
  providerMinor?: number;
};

/**
 * Writes a refund once, and reverses the order's rewards in proportion.
 *
 * @returns the refund; null when no server has reported the order yet: `early-refunds.ts` applies it with the order
 * @throws {AppError} `bad_request` when the amount exceeds the remaining amount, or is not an amount of the currency;
 *   `conflict` when the refund was reported for another order
 */
export async function recordRefund(
  tx: Queryable,
  workspace: Workspace,
  report: RefundReport,
  now: Date,
): Promise<Refund | null> {
  const order = await lockOrder(tx, workspace.id, report.orderId);
  // Read after the lock: an identical call that held it has committed by now.
  const known = await refundById(tx, workspace.id, report.refundId);
  if (known && known.order_internal_id !== order?.internal_id) throw otherOrder(report);
  if (known) return known;
  // A browser's report, or an imported one, can't bound a refund, because a server's report replaces it.
  if (order?.source !== 'server') {
    const { refundId, orderId, amount } = report;
    const stored = await insertEarlyRefund(tx, {
      workspace_id: workspace.id,
      refund_id: refundId,
      order_id: orderId,
      amount,
      reported_at: now,
    });
    if (stored.order_id !== orderId) throw otherOrder(report);
    return null;
  }
  const early = await earlyRefundById(tx, workspace.id, report.refundId);
  if (early && early.order_id !== report.orderId) throw otherOrder(report);
  const purchase = await qualifyTrackedOrder(tx, workspace, order, now);
  const { amount_minor: orderMinor, currency } = purchase ?? order;
  const before = sumRefunds(await refundsOfOrder(tx, order.internal_id));
  // The tracked order may have a larger amount than the purchase, and larger refunds.
  const left = Math.max(0, orderMinor - before);
  const amountMinor = refundedNow(report.amount, currency, left);
  const refund = await insertRefund(
    tx,
    {
      workspace_id: workspace.id,
      refund_id: report.refundId,
      order_internal_id: order.internal_id,
      amount_minor: amountMinor,
      provider_minor: report.providerMinor ?? null,
      matched: purchase !== null && purchase.enrollment_id !== null,
    },
    now,
  );
  // A concurrent call wrote the same `refund_id` first, for another order: this one is locked here.
  if (!refund) throw otherOrder(report);
  if (!purchase || amountMinor === 0) return refund;
  return reverseCommissions(tx, { purchase, refund, refundedMinor: before + amountMinor, now });
}

function otherOrder({ refundId }: RefundReport): AppError {
  return new AppError('conflict', `the refund ${refundId} was reported for another order`);
}

function refundedNow(amount: number | null, currency: string, left: number): number {
  if (amount === null) return left;
  try {
    const minor = toMinor(amount, currency);
    if (minor <= left) return minor;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
    // An amount beyond the number range exceeds the remaining amount.
    if (error.problem !== 'out_of_range')
      throw badRequest('amount', `must be an amount of ${currency}: ${error.message}`);
  }
  throw badRequest(
    'amount',
    `must be at most ${toMajor(left, currency)} ${currency}, what is left of the order`,
  );
}
