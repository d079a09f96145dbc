import { AppError } from '../../core/errors.ts';
import type { Sale } from '../../core/referrals/purchase-reward.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrder, markEvaluated, putReportedOrder, type ReportedOrder } from '../orders/reported-orders.ts';
import { type Coupon, couponOfBuyer } from '../referrals/coupons.ts';
import { type Purchase, purchaseOfOrder, upsertPurchase } from '../referrals/purchases.ts';
import { lockBuyer } from '../referrals/referees.ts';
import {
  lockSignupOfUser,
  type ReferredSignup,
  type Signup,
  signupOfUser,
  userOfOrder,
} from '../referrals/signups.ts';
import { insertUnmatchedOrder, removeUnmatchedOrder } from '../referrals/unmatched-orders.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { adoptEarlyRefunds } from './early-refunds.ts';
import { qualifyPendingPurchase, qualifyPurchase } from './qualify-purchase.ts';
import { queueSale } from './queue-sale.ts';

/** A purchase as reported to `report-purchase`. */
export type PurchaseReport = {
  orderId: string;
  /** The buyer. Null: unknown, which is possible only with a coupon. */
  externalUserId: string | null;
  /** In the form in which addresses identify a person: `normalizeEmail`. */
  email: string | null;
  amountMinor: number;
  /** The part of the amount that earns commission. Minor units. */
  commissionableMinor: number;
  currency: string;
  isRenewal: boolean;
  purchasedAt: Date;
  /** Left out: unknown. */
  visitorId?: string | null;
  /** The referrer's coupon that the order used, from `referrerOfCoupon`. */
  coupon?: UsedCoupon | null;
};

/**
 * A coupon of an order. `yields`: the buyer's own referrer takes precedence. In a payment it does when the provider's
 * metadata or a tied customer named the buyer, but not when only an email did.
 */
export type UsedCoupon = { coupon: Coupon; yields: boolean };

/**
 * Writes a reported purchase once: the order, the program's outcome, and the rewards. The first report of an order
 * decides; later reports return what it wrote.
 *
 * @throws {AppError} `conflict` when the order was reported for another user
 */
export async function recordPurchase(
  tx: Queryable,
  workspace: Workspace,
  report: PurchaseReport,
  now: Date,
): Promise<Purchase> {
  const reported = await lockOrder(tx, workspace.id, report.orderId);
  const known = reported && (await purchaseOfOrder(tx, reported.internal_id));
  const buyer = known?.external_user_id ?? (reported?.source === 'server' ? reported.external_user_id : null);
  if (buyer !== null && report.externalUserId !== null && buyer !== report.externalUserId) {
    throw new AppError('conflict', `the order ${report.orderId} was reported for another user`);
  }
  if (known) return known;
  // The outcome uses a server's facts about the buyer, but never a browser's.
  const email = report.email ?? (reported?.source === 'server' ? reported.email : null);
  const visitor = report.visitorId ?? (reported?.source === 'server' ? reported.visitor_id : null);
  const order = await putReportedOrder(
    tx,
    {
      workspace_id: workspace.id,
      order_id: report.orderId,
      ts: report.purchasedAt.getTime() * 1_000,
      // The pixel's visitor is stored in its own column. Without it and without the signup's visitor, attribution looks
      // the buyer up later: an earlier `identify` may still be in the log.
      visitor_id: visitor,
      signup_visitor_id: visitor ? null : await visitorOfSignup(tx, workspace.id, report.externalUserId),
      email,
      external_user_id: report.externalUserId,
      amount_minor: report.amountMinor,
      currency: report.currency,
      commissionable_minor:
        report.commissionableMinor === report.amountMinor ? null : report.commissionableMinor,
      is_renewal: report.isRenewal,
    },
    { known: reported !== null, now },
  );
  // Another report wrote the order after the read above: that report decides, if it was a purchase.
  if (!order) return recordPurchase(tx, workspace, report, now);
  if (reported?.source !== 'server') {
    const type = reported ? 'sale.updated' : 'sale.created';
    await queueSale(tx, type, order, report.externalUserId, now);
  }
  await removeUnmatchedOrder(tx, order.internal_id);
  const { externalUserId } = report;
  // Orders with a coupon match other orders by the buyer's email. Orders of a signup do not.
  await lockBuyer(tx, workspace.id, { externalUserId, email: report.coupon ? email : null, visitorId: null });
  const signup = externalUserId === null ? null : await lockSignupOfUser(tx, workspace.id, externalUserId);
  const sale: Sale = { ...report, email };
  const used = report.coupon ?? null;
  const purchase = await writeOutcome(tx, { workspace, order, signup, used, sale, now });
  await markEvaluated(tx, order.internal_id, now);
  return purchase;
}

/**
 * Returns the coupon of the order that this one renews. A renewal belongs to the same referrer, unless the buyer has
 * one.
 */
export async function couponOfRenewal(
  tx: Queryable,
  workspaceId: string,
  sale: Pick<Sale, 'isRenewal' | 'externalUserId' | 'email' | 'purchasedAt'>,
): Promise<UsedCoupon | null> {
  const coupon = sale.isRenewal ? await couponOfBuyer(tx, workspaceId, sale, sale.purchasedAt) : null;
  return coupon && { coupon, yields: true };
}

async function visitorOfSignup(
  tx: Queryable,
  workspaceId: string,
  externalUserId: string | null,
): Promise<string | null> {
  if (externalUserId === null) return null;
  return (await signupOfUser(tx, workspaceId, externalUserId))?.visitor_id ?? null;
}

/**
 * Qualifies an order that a server reported through the event log, as a purchase. The caller has locked the order.
 * Without a referred buyer it writes nothing, so that `report-purchase` can still name the buyer, or a signup that is
 * reported soon can claim it.
 *
 * @returns null when the order is not a purchase
 */
export async function qualifyTrackedOrder(
  tx: Queryable,
  workspace: Workspace,
  order: ReportedOrder,
  now: Date,
): Promise<Purchase | null> {
  const known = await purchaseOfOrder(tx, order.internal_id);
  const isFirst = await markEvaluated(tx, order.internal_id, now);
  if (known || !isFirst) return known;
  const isNamed = order.external_user_id !== null;
  await lockBuyer(tx, workspace.id, {
    externalUserId: order.external_user_id,
    email: isNamed ? null : order.email,
    visitorId: isNamed ? null : order.visitor_id,
  });
  const user =
    order.external_user_id ??
    (await userOfOrder(tx, workspace.id, { email: order.email, visitorId: order.visitor_id }));
  const signup = user === null ? null : await lockSignupOfUser(tx, workspace.id, user);
  if (signup && signup.state !== 'unmatched') {
    return writeOutcome(tx, { workspace, order, signup, used: null, sale: saleOf(order, signup), now });
  }
  await insertUnmatchedOrder(tx, order, order.external_user_id, now);
  return null;
}

/**
 * Writes a reported order whose buyer names no user, once, and qualifies it as {@link qualifyTrackedOrder} does.
 *
 * @returns the order, and its purchase if a referred buyer was found by email or visitor
 */
export async function recordUnnamedOrder(
  tx: Queryable,
  workspace: Workspace,
  report: Omit<PurchaseReport, 'externalUserId'>,
  now: Date,
): Promise<{ order: ReportedOrder; purchase: Purchase | null }> {
  const reported = await lockOrder(tx, workspace.id, report.orderId);
  if (reported?.source === 'server')
    return { order: reported, purchase: await qualifyTrackedOrder(tx, workspace, reported, now) };
  const order = await putReportedOrder(
    tx,
    {
      workspace_id: workspace.id,
      order_id: report.orderId,
      ts: report.purchasedAt.getTime() * 1_000,
      visitor_id: report.visitorId ?? null,
      signup_visitor_id: null,
      email: report.email,
      external_user_id: null,
      amount_minor: report.amountMinor,
      currency: report.currency,
      commissionable_minor:
        report.commissionableMinor === report.amountMinor ? null : report.commissionableMinor,
      is_renewal: report.isRenewal,
    },
    { known: reported !== null, now },
  );
  if (!order) return recordUnnamedOrder(tx, workspace, report, now);
  await queueSale(tx, reported ? 'sale.updated' : 'sale.created', order, null, now);
  return { order, purchase: await qualifyTrackedOrder(tx, workspace, order, now) };
}

/** Qualifies a recorded order of a referred buyer. The caller has locked the signup and the order. */
export async function qualifyOrder(
  tx: Queryable,
  workspace: Workspace,
  order: ReportedOrder,
  signup: ReferredSignup,
  now: Date,
): Promise<Purchase> {
  const known = await purchaseOfOrder(tx, order.internal_id);
  if (known) return qualifyPendingPurchase(tx, workspace, { signup, couponId: known.coupon_id }, known, now);
  return writeOutcome(tx, { workspace, order, signup, used: null, sale: saleOf(order, signup), now });
}

/** An order of the event log as a sale to the signed-up user. */
function saleOf(order: ReportedOrder, signup: Signup): Sale {
  return {
    externalUserId: signup.external_user_id,
    email: order.email,
    amountMinor: order.amount_minor,
    commissionableMinor: order.commissionable_minor ?? order.amount_minor,
    currency: order.currency,
    isRenewal: order.is_renewal,
    purchasedAt: new Date(Math.floor(order.ts / 1_000)),
  };
}

/**
 * Qualifies the purchase of a referred buyer, or of a coupon. Otherwise writes a purchase without a referrer, or one
 * that waits for its signup. The caller has locked the signup and the order.
 */
export async function writeOutcome(
  tx: Queryable,
  given: {
    workspace: Workspace;
    order: ReportedOrder;
    signup: Signup | null;
    used: UsedCoupon | null;
    sale: Sale;
    /** The amount of the order changed; see `qualifyPurchase`. */
    isChanged?: boolean;
    now: Date;
  },
): Promise<Purchase> {
  const { order, signup, sale, now } = given;
  await adoptEarlyRefunds(tx, order, sale);
  const isReferred = signup?.state === 'matched' || signup?.state === 'held';
  const used = given.used ?? (isReferred ? null : await couponOfRenewal(tx, given.workspace.id, sale));
  const couponId = used?.coupon.id ?? null;
  const asksSignup = used === null || used.yields;
  if (asksSignup && (signup?.state === 'matched' || signup?.state === 'held')) {
    return qualifyPurchase(tx, { ...given, referral: { signup, couponId } });
  }
  const isPending = asksSignup && signup?.state === 'pending';
  if (used && !isPending) {
    const { coupon } = used;
    return qualifyPurchase(tx, { ...given, referral: { signup: null, couponId: coupon.id, coupon } });
  }
  const purchase: Purchase = {
    order_internal_id: order.internal_id,
    workspace_id: given.workspace.id,
    signup_id: isPending ? signup.id : null,
    coupon_id: couponId,
    enrollment_id: null,
    external_user_id: sale.externalUserId,
    email: isPending ? sale.email : null,
    amount_minor: sale.amountMinor,
    currency: sale.currency,
    commissionable_minor: sale.commissionableMinor === sale.amountMinor ? null : sale.commissionableMinor,
    is_renewal: sale.isRenewal,
    held: false,
    without_rate: false,
    rewarded: false,
    ledger_rows: 0,
    reason: null,
    purchased_at: sale.purchasedAt,
  };
  await upsertPurchase(tx, purchase, now);
  if (!isPending) await insertUnmatchedOrder(tx, order, sale.externalUserId, now);
  return purchase;
}
