import { shareOf } from '../../core/connections/amounts.ts';
import { orderIdOf, paymentOfOrderId } from '../../core/connections/payment-parts.ts';
import { lockAccount } from '../connections/connections.ts';
import { type ConnectionPayment, paymentWithRef, recordPaymentOrder } from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import type { OrderReport } from '../orders/orders.ts';
import { giveUpOrder, ordersWithIds, type PaymentOrder } from '../orders/payment-orders.ts';
import { lockOrderByNumber, type ReportedOrder } from '../orders/reported-orders.ts';
import { lockCommissionsOfOrder } from '../referrals/commissions.ts';
import { renameEarlyRefunds } from '../referrals/early-refunds.ts';
import { markSamePayment, type Purchase, purchaseOfOrder } from '../referrals/purchases.ts';
import {
  isProviders,
  moveRefund,
  type Refund,
  refundsOfOrder,
  sameRefund,
  sumRefunds,
  toldMinor,
} from '../referrals/refunds.ts';
import { lockSignup, type Signup } from '../referrals/signups.ts';
import { removeUnmatchedOrder } from '../referrals/unmatched-orders.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { qualifyInOrder } from './correct-purchase.ts';
import { settleEarlyRefunds } from './early-refunds.ts';
import { giveBackRefund } from './give-back-refund.ts';
import { reverseCommissions } from './reverse-commissions.ts';
import { missingRewards, takeBackCommission } from './undo-rewards.ts';

/**
 * One payment has one order, even if reports and events name different ids of it, or if those ids turn out later to
 * belong to one payment.
 */

/**
 * Returns the order id under which a report's order is recorded: all ids of a payment at a provider name the same
 * order. Locks the provider's account for such a report, so that an event of the payment waits.
 */
export async function recordedOrderId(
  tx: Queryable,
  { id: workspace_id }: Pick<Workspace, 'id'>,
  orderId: string,
): Promise<string> {
  const named = paymentOfOrderId(orderId);
  if (!named) return orderId;
  const account = { workspace_id, provider: named.provider };
  await lockAccount(tx, account);
  const payment = await paymentWithRef(tx, account, named.ref);
  if (!payment) return orderId;
  return (await orderOfPayment(tx, { id: workspace_id }, payment))?.order_id ?? orderId;
}

/**
 * Gives reports of orders from the event log the ids under which their orders are recorded, as {@link recordedOrderId}
 * does. Reports of one payment get one id, even before it has an order.
 */
export async function recordedReports(
  tx: Queryable,
  reports: readonly OrderReport[],
): Promise<OrderReport[]> {
  const named = reports.flatMap((report) => {
    const payment = paymentOfOrderId(report.orderId);
    return payment
      ? [
          {
            report,
            ref: payment.ref,
            account: { workspace_id: report.workspaceId, provider: payment.provider },
          },
        ]
      : [];
  });
  const accounts = new Map(
    named.map(({ account }) => [`${account.workspace_id}/${account.provider}`, account]),
  );
  // Locks accounts in one order, and before the orders: a transaction that holds an account waits for no other.
  for (const [, account] of [...accounts].sort(([one], [other]) => (one < other ? -1 : 1)))
    await lockAccount(tx, account);
  const idOf = new Map<OrderReport, string>();
  const idOfPayment = new Map<string, string>();
  for (const { report, ref, account } of named) {
    const payment = await paymentWithRef(tx, account, ref);
    if (!payment) continue;
    const [known] = await ordersWithIds(tx, account.workspace_id, orderIdsOf(payment));
    const id = known?.order_id ?? idOfPayment.get(payment.id) ?? report.orderId;
    idOfPayment.set(payment.id, id);
    idOf.set(report, id);
  }
  return reports.map((report) => ({ ...report, orderId: idOf.get(report) ?? report.orderId }));
}

/** The order ids of a payment: one for each of its ids. */
export const orderIdsOf = ({ provider, refs }: Pick<ConnectionPayment, 'provider' | 'refs'>): string[] =>
  refs.map((ref) => orderIdOf(provider, ref));

/**
 * Joins the orders of a payment: the oldest stays. The rewards of the others are reversed by entries, their purchases
 * get the reason `same_payment`, and their refunds move to the order that stays. It may be repeated. The caller has
 * locked the account.
 *
 * @returns the payment with the order that stays
 */
export async function joinOrders(
  tx: Queryable,
  workspace: Workspace,
  payment: ConnectionPayment,
  now: Date,
): Promise<ConnectionPayment> {
  const [kept, ...others] = await ordersWithIds(tx, workspace.id, orderIdsOf(payment));
  if (!kept) return payment;
  for (const other of others) await giveUp(tx, workspace, { given: other, kept, now });
  if (await renameEarlyRefunds(tx, workspace.id, orderIdsOf(payment), kept.order_id))
    await settleEarlyRefunds(tx, { workspaceId: workspace.id, orderId: kept.order_id, now });
  const { order_internal_id: own } = payment;
  if (own === null || own === kept.internal_id || kept.source === 'pixel') return payment;
  // The manual report came first, and its facts stay.
  await recordPaymentOrder(tx, payment.id, kept.internal_id, null);
  return { ...payment, order_internal_id: kept.internal_id, recorded: null };
}

async function giveUp(
  tx: Queryable,
  workspace: Workspace,
  { given, kept, now }: { given: PaymentOrder; kept: PaymentOrder; now: Date },
): Promise<void> {
  // Locks signups before orders, as everywhere.
  const signups = await signupsOf(tx, workspace, [kept, given]);
  const order = await lockOrderByNumber(tx, given.internal_id);
  await lockOrderByNumber(tx, kept.internal_id);
  await markSamePayment(tx, order.internal_id);
  const moved = await refundsOfOrder(tx, order.internal_id);
  const { amount_minor, currency } = (await purchaseOfOrder(tx, order.internal_id)) ?? order;
  const of = { amountMinor: amount_minor, currency };
  for (const refund of moved) {
    if (refund.amount_minor > 0)
      await giveBackRefund(tx, workspace, { refund, amountMinor: refund.amount_minor, now });
  }
  // Includes paid commissions: the next payout is reduced.
  for (const commission of await lockCommissionsOfOrder(tx, order.internal_id))
    await takeBackCommission(tx, commission, now);
  await missingRewards(tx, order, [], { takesBack: true, now });
  await removeUnmatchedOrder(tx, order.internal_id);
  await giveUpOrder(tx, order.internal_id, kept.internal_id);
  for (const signup of signups) await qualifyInOrder(tx, workspace, signup, now);
  await addRefunds(tx, { kept, moved, of, now });
}

async function signupsOf(
  tx: Queryable,
  workspace: Workspace,
  orders: readonly PaymentOrder[],
): Promise<Signup[]> {
  const ids = new Set<string>();
  for (const { internal_id } of orders) {
    const id = (await purchaseOfOrder(tx, internal_id))?.signup_id;
    if (id) ids.add(id);
  }
  const signups: Signup[] = [];
  for (const id of [...ids].sort()) {
    const signup = await lockSignup(tx, workspace.id, id);
    if (signup) signups.push(signup);
  }
  return signups;
}

/**
 * Applies refunds of a replaced order to the order that stays, up to its remaining amount. One that was told of both
 * orders, by hand of one and by the provider of the other, counts once.
 *
 * @param given.of what the replaced order was sold for; its refunds are of this currency
 */
async function addRefunds(
  tx: Queryable,
  given: {
    kept: PaymentOrder;
    moved: readonly Refund[];
    of: { amountMinor: number; currency: string };
    now: Date;
  },
): Promise<void> {
  const { kept, moved, of, now } = given;
  const order = await lockOrderByNumber(tx, kept.internal_id);
  const paired = new Set(moved.map(({ same_as }) => same_as));
  for (const one of moved) {
    const purchase: Purchase | null = await purchaseOfOrder(tx, kept.internal_id);
    const all: Refund[] = await refundsOfOrder(tx, kept.internal_id);
    const sold = purchase ?? order;
    const inKept = (minor: number) =>
      sold.currency === of.currency ? minor : shareOf(sold.amount_minor, minor, of.amountMinor);
    const refund: Refund = {
      ...one,
      amount_minor: inKept(one.amount_minor),
      provider_minor: one.provider_minor === null ? null : inKept(one.provider_minor),
    };
    const others = all.filter((other) => isProviders(other) !== isProviders(refund));
    const same =
      one.same_as !== null || paired.has(one.id)
        ? null
        : sameRefund(others, {
            all: [...all, ...moved],
            amountMinor: toldMinor(refund),
            at: refund.created_at,
          });
    if (same) {
      await joinRefunds(tx, { moved: refund, same, kept });
      continue;
    }
    const before = sumRefunds(all);
    const left = Math.max(0, sold.amount_minor - before);
    const amountMinor = Math.min(refund.amount_minor, left);
    const there = await moveRefund(tx, refund, { orderInternalId: kept.internal_id, amountMinor });
    if (purchase && amountMinor > 0)
      await reverseCommissions(tx, { purchase, refund: there, refundedMinor: before + amountMinor, now });
  }
}

/**
 * Records that two refunds are the same one. The report by hand has the amount that the order's refund had, which
 * `settleRefunds` corrects.
 */
async function joinRefunds(
  tx: Queryable,
  given: { moved: Refund; same: Refund; kept: PaymentOrder },
): Promise<void> {
  const { moved, same } = given;
  const orderInternalId = given.kept.internal_id;
  if (isProviders(moved)) {
    await moveRefund(tx, moved, { orderInternalId, amountMinor: 0, sameAs: same.id });
    return;
  }
  await moveRefund(tx, moved, { orderInternalId, amountMinor: same.amount_minor });
  await moveRefund(tx, same, { orderInternalId, amountMinor: 0, sameAs: moved.id });
}

/** Returns the order of a payment, locked: its own, else one that a report has written; null: none. */
export async function orderOfPayment(
  tx: Queryable,
  workspace: Pick<Workspace, 'id'>,
  payment: ConnectionPayment,
): Promise<ReportedOrder | null> {
  if (payment.order_internal_id !== null) return lockOrderByNumber(tx, payment.order_internal_id);
  const [reported] = await ordersWithIds(tx, workspace.id, orderIdsOf(payment));
  return reported ? lockOrderByNumber(tx, reported.internal_id) : null;
}
