import { reversedAmount } from '../../core/referrals/refund.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrderByNumber } from '../orders/reported-orders.ts';
import {
  accountOf,
  lockCommissionsOfOrder,
  mayHaveBeenPaid,
  reversedByRefunds,
  reversedSoFar,
} from '../referrals/commissions.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { purchaseOfOrder } from '../referrals/purchases.ts';
import { type Refund, refundsOfOrder, sumRefunds } from '../referrals/refunds.ts';
import { lockSignup } from '../referrals/signups.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { referralOfPurchase } from './order-referral.ts';
import { qualifyPendingPurchase } from './qualify-purchase.ts';
import { addReversingCommission } from './reversing-commission.ts';

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
  for (const commission of await lockCommissionsOfOrder(tx, orderInternalId)) {
    const { status } = commission;
    if (status === 'rejected' || status === 'reversed') continue;
    const taken = await reversedSoFar(tx, commission.id);
    const over = -reversedAmount(commission.amount_minor, purchase.amount_minor, refundedMinor, taken);
    if (over <= 0) continue;
    if (status === 'paid' || (await mayHaveBeenPaid(tx, commission.id))) {
      await addReversingCommission(tx, commission, { amountMinor: over, now });
      continue;
    }
    await appendEntries(
      tx,
      workspace.id,
      [
        {
          ...entryOf(commission),
          account: accountOf(status),
          amount: over,
          cause: 'refund',
          refundId: refund.id,
        },
      ],
      now,
    );
  }
  // A commission that refunds reversed whole stays reversed: a correction balances it, and a new commission is earned.
  for (const commission of await reversedByRefunds(tx, orderInternalId)) {
    const entry = { ...entryOf(commission), account: commission.account };
    const { reversed_minor: amount } = commission;
    await appendEntries(
      tx,
      workspace.id,
      [
        { ...entry, amount, cause: 'refund', refundId: refund.id },
        { ...entry, amount: -amount, cause: 'correction' },
      ],
      now,
    );
  }
  const referral = await referralOfPurchase(tx, purchase, signup);
  if (!referral) return;
  await qualifyPendingPurchase(tx, workspace, referral, { ...purchase, rewarded: false }, now);
}

const entryOf = (commission: {
  id: string;
  enrollment_id: string;
  external_user_id: string;
  currency: string;
}) => ({
  enrollmentId: commission.enrollment_id,
  externalUserId: commission.external_user_id,
  unit: commission.currency,
  commissionId: commission.id,
});
