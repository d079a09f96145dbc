import type { PartSale, Question } from '../../core/connections/connector.ts';
import {
  OPEN_MS,
  orderIdOf,
  type PaymentState,
  paymentState,
  providerUserOf,
} from '../../core/connections/payment-parts.ts';
import { AppError } from '../../core/errors.ts';
import { AMOUNT_LIMIT } from '../../core/money/money.ts';
import { textsOfCodes } from '../connections/customers.ts';
import type { Outcome } from '../connections/events.ts';
import { NAMES } from '../connections/named-payments.ts';
import {
  type ConnectionPayment,
  paymentsOfSubscription,
  type RecordedFacts,
  recordPaymentOrder,
  settledPayment,
} from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrder, lockOrderByNumber, type ReportedOrder } from '../orders/reported-orders.ts';
import { couponById, referrerOfCoupon } from '../referrals/coupons.ts';
import { renameEarlyRefunds } from '../referrals/early-refunds.ts';
import { hasBoughtBefore, type Purchase, purchaseOfOrder } from '../referrals/purchases.ts';
import { lockSignup, signupOfUser } from '../referrals/signups.ts';
import { auditProvider } from './audit-provider.ts';
import { correctAmount, correctPurchase, qualifyInOrder } from './correct-purchase.ts';
import { joinOrders, orderIdsOf, orderOfPayment } from './one-payment.ts';
import { buyerOfPayment, codesOfPayment, type PaymentBuyer, type PaymentContext } from './payment-buyer.ts';
import { couponOfRenewal, recordPurchase, recordUnnamedOrder, type UsedCoupon } from './record-purchase.ts';
import { settleRefunds } from './settle-refunds.ts';

type Sold = PaymentState & { sale: PartSale };

/**
 * Brings the order of a payment in line with its parts: records it, applies corrections from events, and refunds or
 * reverses refunds. It may be repeated. The caller has locked the connection.
 *
 * @param options.isForced also changes the buyer of a payment that events no longer change
 * @param options.isAsked the provider was asked about the payment
 */
export async function settlePayment(
  tx: Queryable,
  context: PaymentContext,
  given: ConnectionPayment,
  { isForced = false, isAsked = false }: { isForced?: boolean; isAsked?: boolean } = {},
): Promise<Outcome> {
  const payment = await joinOrders(tx, context.workspace, given, context.now);
  const endsAt = new Date(payment.created_at.getTime() + OPEN_MS);
  const isOver = endsAt <= context.now;
  const state = paymentState(payment.parts, isOver || payment.order_internal_id !== null);
  const { names = null, ...outcome } = await outcomeOf(tx, context, payment, state, isOver && !isForced);
  // With a key, the provider is asked at once for facts that the events lack.
  const asks = context.connection.restricted_key !== null && !isAsked && !isOver;
  const isAskedNow = asks && (await questionAbout(tx, payment, state)) !== null;
  const dueAt = isAskedNow ? context.now : state.isUnsure ? endsAt : null;
  await settledPayment(tx, payment.id, { ...outcome, dueAt, names });
  return outcome;
}

/** `names`: what may name the buyer yet; left out: nothing. */
type Settled = Outcome & { names?: readonly string[] | null };

const unmatched = (reason: string): Outcome => ({ status: 'unmatched', reason });

async function outcomeOf(
  tx: Queryable,
  context: PaymentContext,
  payment: ConnectionPayment,
  state: PaymentState,
  isClosed: boolean,
): Promise<Settled> {
  const { sale } = state;
  if (state.isUnsure) return unmatched('waits_for_invoice');
  if (sale === null) return unmatched('no_purchase');
  if (sale.amountMinor <= 0 && payment.recorded === null) {
    return sale.cycle === 'first' && sale.isPriced !== true
      ? { status: 'recorded', reason: 'trial_nothing_paid' }
      : { status: 'ignored', reason: 'nothing_paid' };
  }
  if (sale.amountMinor > AMOUNT_LIMIT) return { status: 'failed', reason: 'amount_too_large' };
  const sold = { ...state, sale, codes: await codesOfPayment(tx, payment, state) };
  let outcome: Outcome = { status: payment.status, reason: payment.reason };
  let names: readonly string[] | null = null;
  let order: ReportedOrder;
  let purchase: Purchase | null;
  if (payment.order_internal_id !== null && (isClosed || sale.amountMinor <= 0)) {
    await changeAmount(tx, context, payment, sale);
    order = await lockOrderByNumber(tx, payment.order_internal_id);
    purchase = await purchaseOfOrder(tx, order.internal_id);
  } else {
    const buyer = await buyerOfPayment(tx, context, payment, sold);
    let isByHand: boolean;
    try {
      ({ order, isByHand } = await writeOrder(tx, context, payment, { sold, buyer }));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
      return { status: 'failed', reason: 'reported_for_another_user' };
    }
    purchase = await purchaseOfOrder(tx, order.internal_id);
    const hasCoupon = (purchase?.coupon_id ?? null) !== null;
    const { unknown } = await textsOfCodes(tx, payment, hasCoupon ? [] : sold.codes);
    const reason = unknown.length > 0 ? `unknown_code: ${unknown.join(', ')}` : null;
    // A manual report may have named a buyer whom nothing else names.
    const isReferred = hasCoupon || (purchase?.enrollment_id ?? null) !== null;
    outcome =
      buyer.by === null && !isReferred
        ? unmatched(reason ?? (buyer.user === null ? 'no_buyer' : 'unknown_buyer'))
        : { status: 'recorded', reason };
    names = isByHand && isReferred ? null : openNames(buyer, purchase);
  }
  const { hasBoth } = await settleRefunds(tx, context, { order, purchase, sold });
  if (outcome.status === 'recorded' && hasBoth) outcome = { ...outcome, reason: 'also_refunded_by_hand' };
  if (state.isUnconverted) return { ...unmatched('refund_in_other_currency'), names };
  return { ...outcome, names };
}

/**
 * Returns what may name the buyer of a payment yet, or name one whose referrer comes before a coupon; null: nothing.
 */
function openNames(
  { by, user, passedOver }: PaymentBuyer,
  purchase: Purchase | null,
): readonly string[] | null {
  const isCoupons = (purchase?.coupon_id ?? null) !== null && purchase?.signup_id === null;
  const named = isCoupons && (by === 'name' || by === 'payer') ? [`${NAMES.user}${user}`] : [];
  const names = isCoupons
    ? [...passedOver.filter((name) => !name.startsWith(NAMES.email)), ...named]
    : passedOver;
  return names.length > 0 || (by === null && !isCoupons) ? names : null;
}

/**
 * Writes what a payment says into its order.
 *
 * @returns `isByHand`: a report by hand was first, and stays
 */
async function writeOrder(
  tx: Queryable,
  context: PaymentContext,
  payment: ConnectionPayment,
  given: { sold: Sold; buyer: PaymentBuyer },
): Promise<{ order: ReportedOrder; isByHand: boolean }> {
  const { workspace, connection, now } = context;
  const { buyer } = given;
  const { sale } = given.sold;
  const written = await orderOfPayment(tx, workspace, payment);
  const orderId = written?.order_id ?? orderIdOf(connection.provider, sale.ref);
  const facts: RecordedFacts = {
    user: buyer.user,
    amountMinor: sale.amountMinor,
    commissionableMinor: sale.commissionableMinor,
    isRenewal: await isRenewal(tx, payment, given.sold, buyer),
  };
  const used = await couponOfPayment(tx, context, payment, { sold: given.sold, buyer, facts });
  // A buyer known only by a coupon is identified by the provider's customer, so that later payments have the same
  // buyer.
  const isByHand = written?.source === 'server';
  if (used && facts.user === null && payment.customer_id !== null && (!isByHand || payment.recorded))
    facts.user = providerUserOf(connection.provider, payment.customer_id, sale.ref);
  facts.coupon = used?.coupon.id ?? null;
  facts.yields = used?.yields ?? null;
  const report = {
    orderId,
    email: buyer.email,
    amountMinor: facts.amountMinor,
    commissionableMinor: facts.commissionableMinor,
    currency: sale.currency,
    isRenewal: facts.isRenewal,
    purchasedAt: new Date(sale.paidAt),
    visitorId: buyer.visitorId,
  };
  const { recorded } = payment;
  const user = facts.user ?? recorded?.user ?? null;
  const known = written && (await purchaseOfOrder(tx, written.internal_id));
  // A report by hand that named no buyer is completed by the payment.
  const isOpen = recorded === null && (known?.external_user_id ?? null) === null;
  if (payment.order_internal_id === null || (isOpen && (user !== null || used !== null))) {
    await renameEarlyRefunds(tx, workspace.id, orderIdsOf(payment), orderId);
    if (user === null && used === null) await recordUnnamedOrder(tx, workspace, report, now);
    else await recordPurchase(tx, workspace, { ...report, externalUserId: user, coupon: used }, now);
    const order = await lockOrder(tx, workspace.id, orderId);
    if (!order) throw new Error(`order ${orderId} was not recorded`);
    await recordPaymentOrder(tx, payment.id, order.internal_id, isByHand ? null : facts);
    const purchase = await purchaseOfOrder(tx, order.internal_id);
    const signup = purchase?.signup_id ? await lockSignup(tx, workspace.id, purchase.signup_id) : null;
    if (signup && !isByHand) await qualifyInOrder(tx, workspace, signup, now);
    return { order, isByHand };
  }
  const number = payment.order_internal_id;
  const order = written ?? (await lockOrderByNumber(tx, number));
  if (recorded === null) return { order, isByHand: true };
  const isAsBefore =
    isSame(recorded, { ...facts, user }) &&
    (user !== null || used !== null || isNamedAlike(order, report)) &&
    !(await isReferredSince(tx, workspace, { purchase: known, used, user }));
  if (isAsBefore) return { order, isByHand: false };
  // A manual report, or a signup with the order's email, may have named the buyer since.
  const buyerNow = user ?? known?.external_user_id ?? null;
  const isNamedSince = recorded.user === null && (known?.enrollment_id ?? null) !== null;
  if (isNamedSince && isSame({ ...recorded, user: known?.external_user_id ?? null }, { ...facts, user })) {
    await recordPaymentOrder(tx, payment.id, number, { ...facts, user });
    return { order, isByHand: false };
  }
  await correctPurchase(tx, workspace, number, { ...report, externalUserId: buyerNow, used }, now);
  await auditProvider(tx, context, 'purchase.correct', { order_id: orderId });
  await recordPaymentOrder(tx, payment.id, number, { ...facts, user: buyerNow });
  return { order: await lockOrderByNumber(tx, number), isByHand: false };
}

/** Writes the amount of a payment into its order, which it may at any time; its buyer stays. */
async function changeAmount(
  tx: Queryable,
  context: PaymentContext,
  payment: ConnectionPayment,
  { amountMinor, commissionableMinor, currency }: PartSale,
): Promise<void> {
  const { recorded, order_internal_id: number } = payment;
  if (recorded === null || number === null) return;
  const isChanged = await correctAmount(tx, context.workspace, number, {
    amountMinor,
    commissionableMinor,
    currency,
    now: context.now,
  });
  if (!isChanged) return;
  const { order_id } = await lockOrderByNumber(tx, number);
  await auditProvider(tx, context, 'purchase.correct', { order_id });
  await recordPaymentOrder(tx, payment.id, number, { ...recorded, amountMinor, commissionableMinor });
}

/** Whether an order that names no user has the email and the visitor by which a signup claims it. */
const isNamedAlike = (
  order: ReportedOrder,
  { email, visitorId }: Pick<PaymentBuyer, 'email' | 'visitorId'>,
): boolean =>
  (email === null || order.email === email) && (visitorId === null || order.visitor_id === visitorId);

/** Whether the buyer of a coupon's order has got a referrer since, who comes first. */
async function isReferredSince(
  tx: Queryable,
  workspace: PaymentContext['workspace'],
  given: { purchase: Purchase | null; used: UsedCoupon | null; user: string | null },
): Promise<boolean> {
  if (!given.used?.yields || given.user === null || given.purchase?.signup_id !== null) return false;
  const signup = await signupOfUser(tx, workspace.id, given.user);
  return signup !== null && signup.state !== 'unmatched';
}

const isSame = (one: RecordedFacts, other: RecordedFacts): boolean =>
  one.user === other.user &&
  one.amountMinor === other.amountMinor &&
  one.commissionableMinor === other.commissionableMinor &&
  one.isRenewal === other.isRenewal &&
  (one.coupon ?? null) === (other.coupon ?? null) &&
  (one.yields ?? null) === (other.yields ?? null);

/**
 * Returns the referrer's coupon of a payment, or of the order that it renews. A coupon that was deleted since stays
 * with its order.
 */
async function couponOfPayment(
  tx: Queryable,
  { workspace }: PaymentContext,
  payment: ConnectionPayment,
  { sold, buyer, facts }: { sold: Sold; buyer: PaymentBuyer; facts: RecordedFacts },
): Promise<UsedCoupon | null> {
  const { texts: codes } = await textsOfCodes(tx, payment, sold.codes);
  const coupon = await referrerOfCoupon(tx, workspace.id, codes, payment.recorded?.coupon);
  if (coupon) return { coupon, yields: buyer.by !== 'email' && buyer.by !== 'earlier' };
  // A renewal of a coupon's order belongs to the coupon's owner, even if an email of the buyer names another referrer.
  if (buyer.couponId !== null && facts.isRenewal) {
    const earlier = await couponById(tx, workspace.id, buyer.couponId);
    if (earlier) return { coupon: earlier, yields: false };
  }
  return facts.user === null
    ? couponOfRenewal(tx, workspace.id, {
        isRenewal: facts.isRenewal,
        externalUserId: null,
        email: buyer.email,
        purchasedAt: new Date(sold.sale.paidAt),
      })
    : null;
}

/**
 * Returns whether a payment renews its subscription: an earlier amount was paid for it. If neither events nor the
 * provider's response show an earlier payment, the first known one is the first sale, unless its buyer has bought
 * before.
 */
async function isRenewal(
  tx: Queryable,
  payment: ConnectionPayment,
  { sale, hasEarlier }: Sold,
  buyer: PaymentBuyer,
): Promise<boolean> {
  if (sale.cycle !== 'renewal') return false;
  if (payment.subscription_id === null) return true;
  const sales = await otherSales(tx, payment, payment.subscription_id);
  if (sales.some((other) => isEarlierSale(other, sale))) return true;
  if (hasEarlier !== null) return hasEarlier;
  // The subscription began with a free payment.
  if (sales.some(({ cycle, amountMinor }) => cycle === 'first' && amountMinor <= 0)) return false;
  const paidAt = new Date(sale.paidAt);
  return (
    buyer.by === 'earlier' ||
    (buyer.user !== null && (await hasBoughtBefore(tx, payment.workspace_id, buyer.user, paidAt)))
  );
}

async function otherSales(
  tx: Queryable,
  payment: ConnectionPayment,
  subscription: string,
): Promise<PartSale[]> {
  const others = await paymentsOfSubscription(tx, payment, subscription);
  return others
    .filter(({ id }) => id !== payment.id)
    .flatMap(({ parts }) => paymentState(parts, false).sale ?? []);
}

const isEarlierSale = (other: PartSale, sale: PartSale): boolean =>
  other.amountMinor > 0 &&
  (other.paidAt < sale.paidAt || (other.paidAt === sale.paidAt && other.ref < sale.ref));

/** Returns which facts about a payment the provider can be asked for because events lack them; null: none. */
export async function questionAbout(
  tx: Queryable,
  payment: ConnectionPayment,
  state: PaymentState,
): Promise<Question | null> {
  const { sale, isUnsure, hasEarlier } = state;
  const { subscription_id: subscription, refs } = payment;
  const isOpen =
    sale !== null &&
    sale.amountMinor > 0 &&
    sale.cycle === 'renewal' &&
    subscription !== null &&
    hasEarlier === null &&
    !(await otherSales(tx, payment, subscription)).some((other) => isEarlierSale(other, sale));
  const earlierOf = isOpen ? { subscription, paidAt: sale.paidAt } : null;
  const { texts, open } = await textsOfCodes(tx, payment, await codesOfPayment(tx, payment, state));
  const asked = open.length > 0 && (await referrerOfCoupon(tx, payment.workspace_id, texts)) ? [] : open;
  return isUnsure || earlierOf || asked.length > 0 ? { refs, isUnsure, earlierOf, codes: asked } : null;
}
