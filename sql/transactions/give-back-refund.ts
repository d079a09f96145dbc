import type { Queryable } from '../database/pool.ts';
import { lockOrderByNumber } from '../orders/reported-orders.ts';
import { purchaseOfOrder } from '../referrals/purchases.ts';
import { type Refund, refundsOfOrder, sumRefunds } from '../referrals/refunds.ts';
import { lockSignup } from '../referrals/signups.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { referralOfPurchase } from './order-referral.ts';
import { qualifyPendingPurchase } from './qualify-purchase.ts';
import { correctReversed, giveBackCommissions } from './reverse-commissions.ts';

/**
 * Undoes a refund or a part of it, because the money came back to the merchant, as when a dispute is won. Commissions
 * that the refund reversed are earned again.
 *
 * @param given.amountMinor at most the refund's amount
 */
export async function giveBackRefund(
  tx: Queryable,
  workspace: Workspace,
  given: { refund: Refund; amountMinor: number; now: Date },
): Promise<void> {
  const { refund, amountMinor, now } = given;
  const { order_internal_id: orderInternalId } = refund;
  const signupId = (await purchaseOfOrder(tx, orderInternalId))?.signup_id ?? null;
  const signup = signupId === null ? null : await lockSignup(tx, workspace.id, signupId);
  await lockOrderByNumber(tx, orderInternalId);
  await tx.query('UPDATE refunds SET amount_minor = amount_minor - $2 WHERE id = $1', [
    refund.id,
    amountMinor,
  ]);
  const purchase = await purchaseOfOrder(tx, orderInternalId);
  if (!purchase) return;
  const refundedMinor = Math.min(
    sumRefunds(await refundsOfOrder(tx, orderInternalId)),
    purchase.amount_minor,
  );
  await giveBackCommissions(tx, { purchase, refund, refundedMinor, now });
  await correctReversed(tx, { purchase, refund, now });
  const referral = await referralOfPurchase(tx, purchase, signup);
  if (!referral) return;
  await qualifyPendingPurchase(tx, workspace, referral, { ...purchase, rewarded: false }, now);
}
