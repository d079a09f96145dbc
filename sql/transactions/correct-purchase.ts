import type { Sale } from '../../core/referrals/purchase-reward.ts';
import type { Queryable } from '../database/pool.ts';
import { nextVersion } from '../orders/orders.ts';
import { queuePublications } from '../orders/publications.ts';
import { lockOrderByNumber } from '../orders/reported-orders.ts';
import { programById } from '../referrals/programs.ts';
import { type Purchase, purchaseOfOrder } from '../referrals/purchases.ts';
import { lockBuyer } from '../referrals/referees.ts';
import { refundsOfOrder } from '../referrals/refunds.ts';
import { lockSignup, lockSignupOfUser, type Signup } from '../referrals/signups.ts';
import { insertUnmatchedOrder, removeUnmatchedOrder } from '../referrals/unmatched-orders.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { referralOfPurchase } from './order-referral.ts';
import { qualifyPurchasesOf } from './purchases-of-signup.ts';
import { qualifyPendingPurchase } from './qualify-purchase.ts';
import { type UsedCoupon, writeOutcome } from './record-purchase.ts';
import { correctReversed } from './reverse-commissions.ts';
import { missingRewards } from './undo-rewards.ts';

/**
 * Changes facts of a recorded order: its buyer with their email and visitor, its amount, or whether it is a renewal.
 * Reverses what it earned by the former facts unless it is paid or delivered, and writes what it earns now. If the
 * amount changed, commissions that are paid change too.
 *
 * @param orderInternalId of an order that a server reported
 * @param given.used the coupon that it used
 * @returns the purchase as it is now; null: its buyer has no name
 */
export async function correctPurchase(
  tx: Queryable,
  workspace: Workspace,
  orderInternalId: number,
  { used, visitorId, ...sale }: Sale & { used: UsedCoupon | null; visitorId: string | null },
  now: Date,
): Promise<Purchase | null> {
  const { email } = sale;
  await lockBuyer(tx, workspace.id, {
    externalUserId: sale.externalUserId,
    email: used || sale.externalUserId === null ? email : null,
    visitorId: sale.externalUserId === null ? visitorId : null,
  });
  const former = (await purchaseOfOrder(tx, orderInternalId))?.signup_id ?? null;
  const formerSignup = former === null ? null : await lockSignup(tx, workspace.id, former);
  const { externalUserId } = sale;
  const signup = externalUserId === null ? null : await lockSignupOfUser(tx, workspace.id, externalUserId);
  const isChanged = await hasOtherAmount(tx, orderInternalId, sale);
  await correctRefunded(tx, orderInternalId, { isChanged, now });
  await missingRewards(tx, { internal_id: orderInternalId }, [], { takesBack: true, now });
  await removeUnmatchedOrder(tx, orderInternalId);
  await writeFacts(tx, orderInternalId, { ...sale, visitorId });
  const order = await lockOrderByNumber(tx, orderInternalId);
  if (externalUserId === null && used === null) {
    await insertUnmatchedOrder(tx, order, null, now);
    return null;
  }
  const purchase = await writeOutcome(tx, { workspace, order, signup, used, sale, isChanged, now });
  if (formerSignup && formerSignup.id !== signup?.id) await qualifyInOrder(tx, workspace, formerSignup, now);
  if (signup) await qualifyInOrder(tx, workspace, signup, now);
  return (await purchaseOfOrder(tx, orderInternalId)) ?? purchase;
}

/**
 * Changes the amount of a recorded order, whose buyer and referrer stay. Its commissions are brought to what it earns
 * now, also those that are paid.
 *
 * @param orderInternalId of an order that a server reported
 * @returns whether the order had another amount
 */
export async function correctAmount(
  tx: Queryable,
  workspace: Workspace,
  orderInternalId: number,
  { now, ...amount }: SaleAmount & { now: Date },
): Promise<boolean> {
  const former = (await purchaseOfOrder(tx, orderInternalId))?.signup_id ?? null;
  const signup = former === null ? null : await lockSignup(tx, workspace.id, former);
  const isChanged = await hasOtherAmount(tx, orderInternalId, amount);
  if (!isChanged) return false;
  const commissionable =
    amount.commissionableMinor === amount.amountMinor ? null : amount.commissionableMinor;
  const facts = [orderInternalId, amount.amountMinor, commissionable, amount.currency];
  await tx.query(
    `UPDATE orders SET amount_minor = $2, commissionable_minor = $3, currency = $4, version = ${nextVersion('orders')}
     WHERE internal_id = $1`,
    facts,
  );
  await queuePublications(tx, [orderInternalId]);
  await tx.query(
    `UPDATE purchases SET amount_minor = $2, commissionable_minor = $3, currency = $4 WHERE order_internal_id = $1`,
    facts,
  );
  const purchase = await purchaseOfOrder(tx, orderInternalId);
  const referral = purchase && (await referralOfPurchase(tx, purchase, signup));
  if (!purchase || !referral) return true;
  await correctRefunded(tx, orderInternalId, { isChanged, now });
  await qualifyPendingPurchase(tx, workspace, referral, { ...purchase, rewarded: false }, now, { isChanged });
  if (signup) await qualifyInOrder(tx, workspace, signup, now);
  return true;
}

type SaleAmount = Pick<Sale, 'amountMinor' | 'commissionableMinor' | 'currency'>;

/** Locks an order, and returns whether its amount is another one than this. */
async function hasOtherAmount(tx: Queryable, orderInternalId: number, sale: SaleAmount): Promise<boolean> {
  const order = await lockOrderByNumber(tx, orderInternalId);
  const { amount_minor, commissionable_minor, currency } =
    (await purchaseOfOrder(tx, orderInternalId)) ?? order;
  return (
    amount_minor !== sale.amountMinor ||
    (commissionable_minor ?? amount_minor) !== sale.commissionableMinor ||
    currency !== sale.currency
  );
}

/** Balances commissions that refunds reversed whole, if the amount changed: the refunds take another part of it now. */
async function correctRefunded(
  tx: Queryable,
  orderInternalId: number,
  { isChanged, now }: { isChanged: boolean; now: Date },
): Promise<void> {
  if (!isChanged) return;
  const purchase = await purchaseOfOrder(tx, orderInternalId);
  const refund = (await refundsOfOrder(tx, orderInternalId)).at(-1);
  if (purchase && refund) await correctReversed(tx, { purchase, refund, now });
}

async function writeFacts(
  tx: Queryable,
  orderInternalId: number,
  sale: Sale & { visitorId: string | null },
): Promise<void> {
  const commissionable = sale.commissionableMinor === sale.amountMinor ? null : sale.commissionableMinor;
  const facts = [
    orderInternalId,
    sale.externalUserId,
    sale.amountMinor,
    commissionable,
    sale.isRenewal,
    sale.currency,
  ];
  await tx.query(
    `UPDATE orders SET external_user_id = $2, amount_minor = $3, commissionable_minor = $4, is_renewal = $5,
       currency = $6, email = coalesce($7, email), visitor_id = coalesce($8, visitor_id),
       version = ${nextVersion('orders')} WHERE internal_id = $1`,
    [...facts, sale.email, sale.visitorId],
  );
  await queuePublications(tx, [orderInternalId]);
  await tx.query(
    `UPDATE purchases SET external_user_id = $2, amount_minor = $3, commissionable_minor = $4, is_renewal = $5,
       currency = $6, signup_id = NULL, coupon_id = NULL, enrollment_id = NULL, rewarded = false, ledger_rows = 0, reason = NULL
     WHERE order_internal_id = $1`,
    facts,
  );
}

/**
 * Qualifies the purchases of a signup again in the order of their times, if that order matters and one of them was
 * reported after a later one. The caller has locked the signup.
 */
export async function qualifyInOrder(
  tx: Queryable,
  workspace: Workspace,
  signup: Signup,
  now: Date,
): Promise<void> {
  if (signup.state !== 'matched' && signup.state !== 'held') return;
  const program = await programById(tx, workspace.id, signup.program_id);
  if (!program || (!program.terms.firstSaleOnly && program.terms.commissionMonths === null)) return;
  await qualifyPurchasesOf(tx, workspace, signup, now);
}
