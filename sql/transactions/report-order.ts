import { paymentOfOrderId } from '../../core/connections/payment-parts.ts';
import { MoneyError, toMinor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrder } from '../orders/reported-orders.ts';
import { type Purchase, purchaseOfOrder } from '../referrals/purchases.ts';
import {
  insertRefund,
  isProviders,
  type Refund,
  refundById,
  refundsOfOrder,
  sameRefund,
} from '../referrals/refunds.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { recordedOrderId } from './one-payment.ts';
import { type PurchaseReport, recordPurchase } from './record-purchase.ts';
import { type RefundReport, recordRefund } from './record-refund.ts';

/**
 * Manual reports, made by the merchant's own server. For a payment at a billing provider they may name any of its ids.
 */

/** {@link recordPurchase} for a manual report. */
export async function reportPurchase(
  tx: Queryable,
  workspace: Workspace,
  report: PurchaseReport,
  now: Date,
): Promise<Purchase> {
  const orderId = await recordedOrderId(tx, workspace, report.orderId);
  return recordPurchase(tx, workspace, { ...report, orderId }, now);
}

/** {@link recordRefund} for a manual report. */
export async function reportRefund(
  tx: Queryable,
  workspace: Workspace,
  report: RefundReport,
  now: Date,
): Promise<Refund | null> {
  const orderId = await recordedOrderId(tx, workspace, report.orderId);
  return (
    (await sameAsProviders(tx, workspace, { ...report, orderId }, now)) ??
    recordRefund(tx, workspace, { ...report, orderId }, now)
  );
}

/**
 * Records a manual report of a refund that the provider has reported too: it is the same refund, and reverses nothing
 * more.
 */
async function sameAsProviders(
  tx: Queryable,
  workspace: Workspace,
  { refundId, orderId, amount }: RefundReport,
  now: Date,
): Promise<Refund | null> {
  if (amount === null || !paymentOfOrderId(orderId)) return null;
  const order = await lockOrder(tx, workspace.id, orderId);
  if (order?.source !== 'server' || (await refundById(tx, workspace.id, refundId))) return null;
  const all = await refundsOfOrder(tx, order.internal_id);
  const { currency } = (await purchaseOfOrder(tx, order.internal_id)) ?? order;
  const theirs = all.filter(isProviders);
  const same = sameRefund(theirs, { all, amountMinor: minorOf(amount, currency), at: now });
  if (!same) return null;
  const known = { workspace_id: workspace.id, refund_id: refundId, order_internal_id: order.internal_id };
  return insertRefund(tx, { ...known, amount_minor: 0, matched: same.matched, same_as: same.id }, now);
}

/** Returns minor units; 0 for an amount that the currency can't have, which is refused when it is recorded. */
function minorOf(amount: number, currency: string): number {
  try {
    return toMinor(amount, currency);
  } catch (error) {
    if (error instanceof MoneyError) return 0;
    throw error;
  }
}
