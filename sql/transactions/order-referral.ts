import type { PurchaseFacts, Sale } from '../../core/referrals/purchase-reward.ts';
import type { Queryable } from '../database/pool.ts';
import type { ReportedOrder } from '../orders/reported-orders.ts';
import { type Coupon, couponById, firstRewardedByCoupon } from '../referrals/coupons.ts';
import { firstRewardedOfSignup, type Purchase } from '../referrals/purchases.ts';
import { type ReferredSignup, type Signup, signupOfUser } from '../referrals/signups.ts';
import { blockReasonForBuyer } from './check-signup.ts';

/** How an order is connected to its referrer: through its buyer's signup, or through a coupon alone. */
export type Referral =
  | { signup: ReferredSignup; couponId: string | null }
  | { signup: null; couponId: string; coupon: Coupon };

/** Returns how a purchase is connected to a referrer now, or null. An order of a coupon keeps it. */
export async function referralOfPurchase(
  tx: Queryable,
  purchase: Purchase,
  signup: Signup | null,
): Promise<Referral | null> {
  const { coupon_id: couponId, workspace_id: workspaceId } = purchase;
  if (couponId !== null && purchase.signup_id === null) {
    const coupon = await couponById(tx, workspaceId, couponId);
    return coupon && { signup: null, couponId, coupon };
  }
  return signup?.state === 'matched' || signup?.state === 'held' ? { signup, couponId } : null;
}

/** The facts about the buyer of an order that decide whether it counts for the referrer. */
export type BuyerFacts = Pick<PurchaseFacts, 'blockReason' | 'signupEmail' | 'signedUpAt' | 'earlier'>;

/**
 * Returns the facts about the buyer of a referred order. They hold until the transaction ends. The caller has locked
 * the order, and the buyer's signup or names.
 */
export async function buyerFacts(
  tx: Queryable,
  referral: Referral,
  { order, sale }: { order: ReportedOrder; sale: Sale },
): Promise<BuyerFacts> {
  const { workspace_id: workspaceId, internal_id: orderId } = order;
  const firstByCoupon = (externalUserId: string | null, email: string | null) =>
    firstRewardedByCoupon(tx, workspaceId, { externalUserId, email }, orderId);
  if (referral.signup) {
    const { signup } = referral;
    return {
      blockReason: signup.block_reason,
      signupEmail: signup.email,
      signedUpAt: signup.reported_at,
      earlier: earliest(
        await firstRewardedOfSignup(tx, signup.id, orderId),
        await firstByCoupon(signup.external_user_id, sale.email),
      ),
    };
  }
  const { externalUserId, email } = sale;
  const { coupon } = referral;
  // The buyer's own signup may have another referrer, or none. The order still belongs to the coupon.
  const own = externalUserId === null ? null : await signupOfUser(tx, workspaceId, externalUserId);
  return {
    blockReason: await blockReasonForBuyer(
      tx,
      {
        workspace_id: workspaceId,
        external_user_id: externalUserId,
        email: email ?? own?.email ?? null,
        device_id: own?.device_id ?? null,
        visitor_id: order.visitor_id ?? own?.visitor_id ?? null,
      },
      { enrollmentId: coupon.enrollment_id, externalUserId: coupon.external_user_id },
    ),
    signupEmail: own?.email ?? null,
    signedUpAt: null,
    earlier: earliest(
      own && (await firstRewardedOfSignup(tx, own.id, orderId)),
      await firstByCoupon(externalUserId, email),
    ),
  };
}

function earliest(...times: (Date | null)[]): PurchaseFacts['earlier'] {
  const [firstAt = null] = times
    .filter((time) => time !== null)
    .toSorted((a, b) => a.getTime() - b.getTime());
  return { rewarded: firstAt !== null, firstAt };
}
