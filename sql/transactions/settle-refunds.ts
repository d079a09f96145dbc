import { shareOf } from '../../core/connections/amounts.ts';
import type { PartSale } from '../../core/connections/connector.ts';
import { uuidv7 } from '../../core/ids.ts';
import { toMajor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import type { ReportedOrder } from '../orders/reported-orders.ts';
import type { Purchase } from '../referrals/purchases.ts';
import {
  insertRefund,
  isProviders,
  type Refund,
  refundsOfOrder,
  sameRefund,
  setProviderMinor,
  sumRefunds,
} from '../referrals/refunds.ts';
import { auditProvider } from './audit-provider.ts';
import { giveBackRefund } from './give-back-refund.ts';
import type { PaymentContext } from './payment-buyer.ts';
import { recordRefund } from './record-refund.ts';
import { takeMoreBack } from './take-more-back.ts';

/**
 * Brings the refunds of a payment in line with its parts. A manual report of the amount that the provider gave back, at
 * a near time, is the same refund, and takes of the order what the provider's does; otherwise both count.
 *
 * @returns whether there is a manual report of another refund beside the provider's
 */
export async function settleRefunds(
  tx: Queryable,
  context: PaymentContext,
  {
    order,
    purchase,
    sold: { sale, ...state },
  }: {
    order: ReportedOrder;
    purchase: Purchase | null;
    sold: { sale: PartSale; refundedMinor: number; givenMinor: number };
  },
): Promise<{ hasBoth: boolean }> {
  const { workspace, now } = context;
  const { order_id: orderId, internal_id: orderInternalId } = order;
  const all = await refundsOfOrder(tx, orderInternalId);
  const own = all.filter(isProviders);
  const shared = new Set(own.map(({ same_as }) => same_as));
  let byHand = all.filter((refund) => !isProviders(refund) && !shared.has(refund.id));
  /** The provider's refunds, each with its amount. */
  const counted = own.map((one) => all.find(({ id }) => id === one.same_as) ?? one);
  const { amount_minor: sold, currency } = purchase ?? order;
  // A manual report may be in another currency than the payment: the same share of it was refunded.
  const inOrder = (minor: number) =>
    currency === sale.currency ? minor : shareOf(sold, minor, sale.amountMinor);
  const wantedMinor = inOrder(state.refundedMinor);
  const newMinor = await addedMinor(tx, own, inOrder(state.givenMinor));
  let over = sumRefunds(counted) - wantedMinor;
  const left = Math.min(-over, sold - sumRefunds(all));
  const amount = toMajor(Math.max(0, left), currency);
  const audit = (action: 'refund.record' | 'refund.give_back', minor: number) =>
    auditProvider(tx, context, action, { order_id: orderId, amount: toMajor(minor, currency), currency });

  let last = counted.at(-1);
  if (newMinor > 0 || (over < 0 && !last)) {
    const same = sameRefund(byHand, { all, amountMinor: newMinor, at: now });
    const refundId = `${context.connection.provider}:refund_${uuidv7()}`;
    last = same ?? undefined;
    if (same || left <= 0) {
      const row = {
        workspace_id: order.workspace_id,
        refund_id: refundId,
        order_internal_id: orderInternalId,
        amount_minor: 0,
        provider_minor: newMinor,
        matched: same?.matched ?? (purchase?.enrollment_id ?? null) !== null,
        same_as: same?.id ?? null,
      };
      await insertRefund(tx, row, now);
    } else {
      await recordRefund(tx, workspace, { refundId, orderId, amount, providerMinor: newMinor }, now);
      await audit('refund.record', left);
    }
    if (same) {
      counted.push(same);
      byHand = byHand.filter(({ id }) => id !== same.id);
      over += same.amount_minor;
    }
  }
  const missing = Math.min(-over, sold - sumRefunds(all));
  if (last && missing > 0) {
    await takeMoreBack(tx, { purchase, refund: last, amountMinor: missing, now });
    await audit('refund.record', missing);
  }
  for (const refund of counted.toReversed()) {
    const amountMinor = Math.min(over, refund.amount_minor);
    if (amountMinor <= 0) continue;
    await giveBackRefund(tx, workspace, { refund, amountMinor, now });
    await audit('refund.give_back', amountMinor);
    over -= amountMinor;
  }
  return { hasBoth: state.givenMinor > 0 && byHand.some(({ amount_minor }) => amount_minor > 0) };
}

/**
 * Compares what the provider gave back with what its refunds have of it, and lowers those that have more: the newest
 * first.
 *
 * @returns what no refund has yet
 */
async function addedMinor(tx: Queryable, own: readonly Refund[], givenMinor: number): Promise<number> {
  let over = own.reduce((sum, { provider_minor }) => sum + (provider_minor ?? 0), 0) - givenMinor;
  if (over <= 0) return -over;
  for (const refund of own.toReversed()) {
    const had = refund.provider_minor ?? 0;
    const less = Math.min(over, had);
    if (less > 0) await setProviderMinor(tx, refund, had - less);
    over -= less;
  }
  return 0;
}
