import type { Queryable } from '../database/pool.ts';
import type { Purchase } from '../referrals/purchases.ts';
import type { Refund } from '../referrals/refunds.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { recordedOrderId } from './one-payment.ts';
import { type PurchaseReport, recordPurchase } from './record-purchase.ts';
import { type RefundReport, recordRefund } from './record-refund.ts';

/** Reports of the merchant's own server. Of a payment at a billing provider they may name any of its ids. */

/** {@link recordPurchase} of a report by hand. */
export async function reportPurchase(
  tx: Queryable,
  workspace: Workspace,
  report: PurchaseReport,
  now: Date,
): Promise<Purchase> {
  const orderId = await recordedOrderId(tx, workspace, report.orderId);
  return recordPurchase(tx, workspace, { ...report, orderId }, now);
}

/** {@link recordRefund} of a report by hand. */
export async function reportRefund(
  tx: Queryable,
  workspace: Workspace,
  report: RefundReport,
  now: Date,
): Promise<Refund | null> {
  const orderId = await recordedOrderId(tx, workspace, report.orderId);
  return recordRefund(tx, workspace, { ...report, orderId }, now);
}
