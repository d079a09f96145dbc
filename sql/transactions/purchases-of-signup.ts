import { BEFORE_SIGNUP_MS } from '../../core/referrals/purchase-reward.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrderByNumber, lockUnlockedOrder } from '../orders/reported-orders.ts';
import { couponById } from '../referrals/coupons.ts';
import { clearOutcomes, purchasesOfSignup, upsertPurchase } from '../referrals/purchases.ts';
import { type ReferredSignup, type Signup, userOfOrder } from '../referrals/signups.ts';
import {
  insertUnmatchedOrder,
  removeUnmatchedOrder,
  unmatchedOrdersOf,
} from '../referrals/unmatched-orders.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { qualifyPendingPurchase } from './qualify-purchase.ts';
import { qualifyOrder } from './record-purchase.ts';
import { missingRewards } from './undo-rewards.ts';

/**
 * Qualifies the purchases of a signup again, oldest first, because its referrer was just decided or changed. The caller
 * has locked the signup.
 */
export async function qualifyPurchasesOf(
  tx: Queryable,
  workspace: Workspace,
  signup: ReferredSignup,
  now: Date,
): Promise<void> {
  const purchases = await purchasesOfSignup(tx, signup.id);
  if (purchases.length === 0) return;
  // The first sale is determined again, in the order of the purchases.
  await clearOutcomes(tx, signup.id);
  for (const purchase of purchases) {
    const referral = { signup, couponId: purchase.coupon_id };
    await qualifyPendingPurchase(tx, workspace, referral, { ...purchase, rewarded: false }, now);
  }
}

/**
 * Removes a signup's purchases, and their rewards, from its referrer. A purchase with a coupon becomes its owner's, the
 * others unmatched. The caller has locked the signup.
 */
export async function releasePurchases(
  tx: Queryable,
  workspace: Workspace,
  signup: Signup,
  now: Date,
): Promise<void> {
  const purchases = await purchasesOfSignup(tx, signup.id);
  await clearOutcomes(tx, signup.id);
  for (const purchase of purchases) {
    const order = await lockOrderByNumber(tx, purchase.order_internal_id);
    await missingRewards(tx, order, [], { takesBack: true, now });
    const released = {
      ...purchase,
      signup_id: null,
      enrollment_id: null,
      email: null,
      held: false,
      without_rate: false,
      rewarded: false,
      ledger_rows: 0,
      reason: null,
    };
    await upsertPurchase(tx, released, now);
    const { coupon_id: couponId } = purchase;
    if (couponId !== null) {
      const coupon = await couponById(tx, workspace.id, couponId);
      if (!coupon) throw new Error(`coupon ${couponId} does not exist`);
      await qualifyPendingPurchase(tx, workspace, { signup: null, couponId, coupon }, released, now);
      continue;
    }
    await insertUnmatchedOrder(tx, { ...order, workspace_id: workspace.id }, purchase.external_user_id, now);
  }
}

/**
 * Qualifies orders of the user that were reported before the signup and had no referrer, oldest first. The caller has
 * locked the signup.
 */
export async function claimUnmatchedOrders(
  tx: Queryable,
  workspace: Workspace,
  signup: ReferredSignup,
  now: Date,
): Promise<void> {
  const since = new Date(signup.reported_at.getTime() - BEFORE_SIGNUP_MS);
  for (const found of await unmatchedOrdersOf(tx, signup, since)) {
    // A report that holds an order without a purchase waits for this signup, and will qualify the order.
    const order = found.is_purchase
      ? await lockOrderByNumber(tx, found.order_internal_id)
      : await lockUnlockedOrder(tx, found.order_internal_id);
    if (!order) continue;
    const buyer =
      found.external_user_id ??
      (await userOfOrder(tx, workspace.id, { email: order.email, visitorId: order.visitor_id }));
    if (buyer !== signup.external_user_id) continue;
    if (await removeUnmatchedOrder(tx, order.internal_id))
      await qualifyOrder(tx, workspace, order, signup, now);
  }
}
