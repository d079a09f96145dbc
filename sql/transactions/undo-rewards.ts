import type { PurchaseReward } from '../../core/referrals/purchase-reward.ts';
import type { SignupGrant } from '../../core/referrals/signup-reward.ts';
import type { Queryable } from '../database/pool.ts';
import {
  accountOf,
  correctedSoFar,
  type HeldCommission,
  lockCommissionsOfOrder,
  mayHaveBeenPaid,
  reversedSoFar,
} from '../referrals/commissions.ts';
import { type Grant, lockGrantsOfOrder, lockGrantsOfSignup } from '../referrals/grants.ts';
import { appendEntries } from '../referrals/ledger.ts';
import type { Signup } from '../referrals/signups.ts';
import { moveCommissions } from './move-commissions.ts';
import { addReversingCommission } from './reversing-commission.ts';
import { revokeGrant } from './revoke-credit.ts';

/**
 * Reverses the rewards of a wrong referrer. What is delivered or paid stays; entries of the ledger reverse the rest.
 */

const CORRECTED = 'corrected';

/**
 * Revokes the grants of a signup that are not due to its present referrer.
 *
 * @returns the causes that already have a grant
 */
export async function revokeSignupGrants(
  tx: Queryable,
  signup: Signup,
  due: readonly SignupGrant[],
  now: Date,
): Promise<Set<SignupGrant['cause']>> {
  const kept = new Set<SignupGrant['cause']>();
  for (const grant of await lockGrantsOfSignup(tx, signup.id)) {
    if (grant.cause === 'purchase') continue;
    const { cause } = grant;
    const isDue =
      grant.enrollment_id === signup.enrollment_id &&
      due.some((one) => one.cause === cause && one.revokedReason === null);
    // The new user got this grant; the referrer does not matter for it.
    if (isDue || (cause === 'referee' && grant.status === 'delivered')) kept.add(cause);
    else if (grant.status === 'earned') await takeBack(tx, grant, now);
  }
  return kept;
}

/**
 * Compares an order's rewards with the due ones.
 *
 * @param options.takesBack whether to reverse rewards that are not due
 * @param options.changed the amount of the order changed: its commissions are brought to the due amounts, also those
 *   that
 *   are paid; `tooSmallFor`: the referrers who earn nothing because it rounds to nothing
 * @returns the due rewards that are missing
 */
export async function missingRewards(
  tx: Queryable,
  order: { internal_id: number },
  rewards: readonly PurchaseReward[],
  {
    takesBack,
    changed = null,
    now,
  }: { takesBack: boolean; changed?: { tooSmallFor: readonly string[] } | null; now: Date },
): Promise<PurchaseReward[]> {
  const missing = new Set(rewards);
  for (const grant of await lockGrantsOfOrder(tx, order.internal_id)) {
    const due = rewards.find(
      (reward) => reward.type === 'credit' && reward.enrollmentId === grant.enrollment_id,
    );
    if (due) missing.delete(due);
    else if (takesBack && grant.status === 'earned') await takeBack(tx, grant, now);
  }
  for (const commission of await lockCommissionsOfOrder(tx, order.internal_id)) {
    const due = rewards.find(
      (reward) =>
        reward.type === 'commission' &&
        reward.enrollmentId === commission.enrollment_id &&
        reward.level === commission.level,
    );
    const isTooSmall = changed?.tooSmallFor.includes(commission.enrollment_id) === true;
    if (due?.type === 'commission') {
      const isChanged = changed !== null && due.amountMinor !== commission.due_minor;
      if (isChanged && (await isOpen(tx, commission))) {
        await takeBackCommission(tx, commission, now);
        continue;
      }
      missing.delete(due);
      if (isChanged) await changeCommission(tx, commission, { dueMinor: due.amountMinor, now });
      await giveBackCommission(tx, commission, now);
    } else if (isTooSmall && !(await isOpen(tx, commission))) {
      await changeCommission(tx, commission, { dueMinor: 0, now });
    } else if (takesBack && commission.status !== 'paid') await takeBackCommission(tx, commission, now);
  }
  return [...missing];
}

/**
 * Reverses the remainder of an unpaid commission. A commission in a payout file may have been paid, so a negative
 * commission reduces the next payout instead. The same holds for one of which another negative commission has reversed
 * a part: its own entries no longer show the remainder.
 */
export async function takeBackCommission(
  tx: Queryable,
  commission: HeldCommission,
  now: Date,
): Promise<void> {
  const { workspace_id: workspaceId, status } = commission;
  if (status === 'reversed' || status === 'rejected') return;
  const left = commission.due_minor - (await reversedSoFar(tx, commission.id));
  if (left === 0) return;
  const isWhole = left === commission.remaining_minor;
  if (isWhole && !(await mayHaveBeenPaid(tx, commission.id))) {
    await appendEntries(
      tx,
      workspaceId,
      [
        {
          enrollmentId: commission.enrollment_id,
          externalUserId: commission.external_user_id,
          unit: commission.currency,
          cause: 'correction',
          commissionId: commission.id,
          account: accountOf(status),
          amount: -left,
        },
      ],
      now,
    );
    await moveCommissions(tx, [commission.id], 'reversed', now);
    return;
  }
  await addReversingCommission(tx, commission, { amountMinor: -left, now });
}

/**
 * Whether a commission has neither been paid, nor may have been, nor been changed by another one: it can be reversed
 * whole.
 */
async function isOpen(tx: Queryable, commission: HeldCommission): Promise<boolean> {
  const { status, due_minor: due, remaining_minor: remaining } = commission;
  if (status !== 'pending' && status !== 'eligible') return false;
  const left = due - (await reversedSoFar(tx, commission.id));
  return left === remaining && !(await mayHaveBeenPaid(tx, commission.id));
}

/** Brings what a commission's sale earns to another amount, by another commission: the next payout is changed. */
async function changeCommission(
  tx: Queryable,
  commission: HeldCommission,
  { dueMinor, now }: { dueMinor: number; now: Date },
): Promise<void> {
  const amountMinor = dueMinor - commission.due_minor;
  if (commission.status === 'rejected' || commission.status === 'reversed' || amountMinor === 0) return;
  await addReversingCommission(tx, commission, { amountMinor, ofAmount: true, now });
}

/** Reverses the negative commissions of a correction, because the commission's referrer is the right one after all. */
async function giveBackCommission(tx: Queryable, commission: HeldCommission, now: Date): Promise<void> {
  if (commission.status === 'rejected') return;
  const amountMinor = await correctedSoFar(tx, commission.id);
  if (amountMinor > 0) await addReversingCommission(tx, commission, { amountMinor, now });
}

/** Revokes an earned grant that the caller has locked. */
async function takeBack(tx: Queryable, grant: Grant, now: Date): Promise<void> {
  await revokeGrant(tx, grant.workspace_id, { id: grant.id, reason: CORRECTED, now });
}
