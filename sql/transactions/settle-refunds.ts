import { shareOf } from '../../core/connections/amounts.ts';
import type { PartSale } from '../../core/connections/connector.ts';
import { toMajor } from '../../core/money/money.ts';
import type { ConnectionPayment } from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import type { ReportedOrder } from '../orders/reported-orders.ts';
import type { Purchase } from '../referrals/purchases.ts';
import { insertRefund, refundsOfOrder, sameRefund, sumRefunds } from '../referrals/refunds.ts';
import { auditProvider } from './audit-provider.ts';
import { giveBackRefund } from './give-back-refund.ts';
import { isRefundOf } from './one-payment.ts';
import type { PaymentContext } from './payment-buyer.ts';
import { recordRefund } from './record-refund.ts';

/**
 * Brings the refunds of a payment in line with its parts. The provider's refunds are identified by their ids. A manual
 * report with the same amount and a near time is the same refund; otherwise both count.
 *
 * @returns whether there is a manual report of another refund beside the provider's
 */
export async function settleRefunds(
  tx: Queryable,
  context: PaymentContext,
  payment: ConnectionPayment,
  {
    order,
    purchase,
    sold: { sale, refundedMinor },
  }: {
    order: ReportedOrder;
    purchase: Purchase | null;
    sold: { sale: PartSale; refundedMinor: number };
  },
): Promise<{ hasBoth: boolean }> {
  const { workspace, now } = context;
  const { order_id: orderId, internal_id: orderInternalId } = order;
  const all = await refundsOfOrder(tx, orderInternalId);
  const isOwn = isRefundOf(payment);
  const own = all.filter(isOwn);
  const shared = new Set(own.map(({ same_as }) => same_as));
  const byHand = all.filter((refund) => !isOwn(refund) && !shared.has(refund.id));
  /** The provider's refunds, each with its amount. */
  const counted = own.map((one) => all.find(({ id }) => id === one.same_as) ?? one);
  const { amount_minor: sold, currency } = purchase ?? order;
  // A manual report may be in another currency than the payment: the same share of it was refunded.
  const wantedMinor =
    currency === sale.currency ? refundedMinor : shareOf(sold, refundedMinor, sale.amountMinor);
  let over = sumRefunds(counted) - wantedMinor;
  if (over < 0) {
    const refundId = `${orderId}/${own.length + 1}`;
    const same = sameRefund(byHand, { all, amountMinor: -over, at: now });
    if (same) {
      const { workspace_id, matched } = same;
      await insertRefund(
        tx,
        {
          workspace_id,
          refund_id: refundId,
          order_internal_id: orderInternalId,
          amount_minor: 0,
          matched,
          same_as: same.id,
        },
        now,
      );
      return { hasBoth: byHand.length > 1 };
    }
    const left = Math.min(-over, sold - sumRefunds(all));
    if (left > 0) {
      const amount = toMajor(left, currency);
      await recordRefund(tx, workspace, { refundId, orderId, amount }, now);
      await auditProvider(tx, context, 'refund.record', { order_id: orderId, amount, currency });
    }
  }
  for (const refund of counted.toReversed()) {
    const amountMinor = Math.min(over, refund.amount_minor);
    if (amountMinor <= 0) continue;
    await giveBackRefund(tx, workspace, { refund, amountMinor, now });
    const amount = toMajor(amountMinor, currency);
    await auditProvider(tx, context, 'refund.give_back', { order_id: orderId, amount, currency });
    over -= amountMinor;
  }
  return { hasBoth: wantedMinor > 0 && byHand.some(({ amount_minor }) => amount_minor > 0) };
}
