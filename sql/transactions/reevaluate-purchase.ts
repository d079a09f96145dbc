import { AppError } from '../../core/errors.ts';
import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';
import { lockOrderByNumber } from '../orders/reported-orders.ts';
import { type Purchase, purchaseOfOrder, purchasesWithoutRate } from '../referrals/purchases.ts';
import { lockSignupOfUser } from '../referrals/signups.ts';
import { removeUnmatchedOrder } from '../referrals/unmatched-orders.ts';
import { type Workspace, workspaceById } from '../workspaces/workspaces.ts';
import { referralOfPurchase } from './order-referral.ts';
import { qualifyPendingPurchase } from './qualify-purchase.ts';

/**
 * Evaluates a purchase again that earned nothing, or not everything, by the present terms, rates, plan and referrer.
 * Its rewards stay.
 *
 * @returns the purchase as it is now
 * @throws {AppError} `not_found` when the workspace has no such purchase
 */
export async function reevaluatePurchase(
  tx: Queryable,
  workspace: Workspace,
  orderInternalId: number,
  now: Date,
): Promise<Purchase> {
  const seen = await purchaseOfOrder(tx, orderInternalId);
  if (seen?.workspace_id !== workspace.id) {
    throw new AppError('not_found', `the workspace has no purchase ${orderInternalId}`);
  }
  // Locks the signup first: an order with a purchase is locked after it.
  const signup =
    seen.external_user_id === null ? null : await lockSignupOfUser(tx, workspace.id, seen.external_user_id);
  await lockOrderByNumber(tx, orderInternalId);
  const purchase = await purchaseOfOrder(tx, orderInternalId);
  if (!purchase) throw new Error(`purchase ${orderInternalId} is gone`);
  if (purchase.rewarded && !purchase.without_rate) return purchase;
  if (purchase.reason === 'same_payment') return purchase;
  const referral = await referralOfPurchase(tx, purchase, signup);
  if (!referral) return purchase;
  await removeUnmatchedOrder(tx, orderInternalId);
  return qualifyPendingPurchase(tx, workspace, referral, purchase, now);
}

const BATCH = 200;

/**
 * Evaluates the purchases again that lack a commission because this pair of currencies had no rate. Call it after
 * setting the rate; it may be repeated.
 *
 * @returns how many purchases
 */
export async function reevaluateWithoutRate(
  pool: Pool,
  pair: { currency: string; base: string },
  now: Date,
): Promise<number> {
  let purchases = 0;
  let after = 0;
  for (;;) {
    const some = await purchasesWithoutRate(pool, pair, after, BATCH);
    for (const { order_internal_id: id, workspace_id: workspaceId } of some) {
      after = id;
      await inTransaction(pool, async (tx) => {
        const workspace = await workspaceById(tx, workspaceId);
        if (workspace) await reevaluatePurchase(tx, workspace, id, now);
      });
      purchases += 1;
    }
    if (some.length < BATCH) return purchases;
  }
}
