import { limitsOf } from '../../core/access/plans.ts';
import { type PurchaseReward, purchaseRewards, type Sale } from '../../core/referrals/purchase-reward.ts';
import { earnsCommission } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrderByNumber, type ReportedOrder } from '../orders/reported-orders.ts';
import { noteFirstSales } from '../portal/notices.ts';
import { accountOf, insertCommission } from '../referrals/commissions.ts';
import { lockEarnersShared } from '../referrals/enrollments.ts';
import { grantRecord, insertGrant } from '../referrals/grants.ts';
import { appendEntries, type Entry } from '../referrals/ledger.ts';
import { lockProgramShared, type Program } from '../referrals/programs.ts';
import { type Purchase, upsertPurchase } from '../referrals/purchases.ts';
import { refundsOfOrder } from '../referrals/refunds.ts';
import type { ReferredSignup } from '../referrals/signups.ts';
import { queueEvents, type RecordEvent } from '../webhooks/outbox.ts';
import { readRates } from '../workspaces/currency-rates.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { commissionData } from './move-commissions.ts';
import { buyerFacts, type Referral } from './order-referral.ts';
import { giveBackCommissions, reverseCommissions } from './reverse-commissions.ts';
import { missingRewards } from './undo-rewards.ts';

const DAY_MS = 86_400_000;

/**
 * Evaluates a referred order: writes the outcome and the rewards, and reverses them for earlier refunds. If the
 * purchase was evaluated before, it writes the missing rewards and reverses those that are not due. A purchase whose
 * buyer's signup is under review waits for the review. The caller has locked the order, and the buyer's signup or
 * names.
 *
 * @returns the purchase with its outcome
 */
export async function qualifyPurchase(
  tx: Queryable,
  given: {
    workspace: Workspace;
    order: ReportedOrder;
    referral: Referral;
    sale: Sale;
    /** The same purchase, if it was rewarded before: its rewards stay, and missing ones are added. */
    rewarded?: Purchase;
    /** The amount of the order changed: its commissions are brought to what it earns now. */
    isChanged?: boolean;
    now: Date;
  },
): Promise<Purchase> {
  const { workspace, order, referral, sale, rewarded: before, isChanged = false, now } = given;
  const { signup } = referral;
  const { program_id: programId, enrollment_id: enrollmentId } = referral.signup ?? referral.coupon;
  const held = signup !== null && (signup.state === 'held' || signup.rewards_held);
  // Runs first, because it takes advisory locks, which come before those of the program and its referrers.
  const buyer = held ? null : await buyerFacts(tx, referral, { order, sale });
  const program = await lockProgramShared(tx, workspace.id, programId);
  const { terms } = program;
  const earners = await lockEarnersShared(tx, {
    workspaceId: workspace.id,
    programId: program.id,
    enrollmentId,
    levels: 1 + terms.levels.length,
  });
  const pays = earners.some((earner) => earnsCommission(terms, earner.rewardMode));
  const rateOf = pays && sale.currency !== terms.currency ? await readRates(tx) : () => 1;
  const { rewards, reason, withoutRate } = buyer
    ? purchaseRewards({
        ...buyer,
        terms,
        tracksCommission: limitsOf(workspace).commission !== 0,
        earners,
        sale,
        rate: rateOf(sale.currency, terms.currency),
      })
    : { rewards: [], reason: null, withoutRate: false };
  if (before && rewards.length === 0) return before;
  const tooSmallFor = reason === 'amount_too_small' ? earners.map((earner) => earner.enrollmentId) : [];
  const changed = isChanged ? { tooSmallFor } : null;
  const missing = await missingRewards(tx, order, rewards, { takesBack: !before, changed, now });
  const ledgerRows = before ? before.ledger_rows + missing.length : rewards.length;
  const purchase: Purchase = {
    order_internal_id: order.internal_id,
    workspace_id: workspace.id,
    signup_id: signup?.id ?? null,
    coupon_id: referral.couponId,
    enrollment_id: enrollmentId,
    external_user_id: sale.externalUserId,
    email: held ? sale.email : null,
    amount_minor: sale.amountMinor,
    currency: sale.currency,
    commissionable_minor: sale.commissionableMinor === sale.amountMinor ? null : sale.commissionableMinor,
    is_renewal: sale.isRenewal,
    held,
    without_rate: withoutRate,
    rewarded: ledgerRows > 0,
    ledger_rows: ledgerRows,
    reason,
    purchased_at: sale.purchasedAt,
  };
  await upsertPurchase(tx, purchase, now);
  const events: RecordEvent[] = [];
  const earned: EarnedCommission[] = [];
  for (const reward of missing) {
    const earner = earners.find(({ enrollmentId }) => enrollmentId === reward.enrollmentId);
    if (!earner)
      throw new Error(`reward for enrollment ${reward.enrollmentId}, which is not a referrer of the order`);
    const holder = { enrollmentId: earner.enrollmentId, externalUserId: earner.externalUserId };
    const holdDays = earner.ownTerms.holdDays ?? terms.holdDays;
    events.push(
      await writeReward(tx, { program, order, signup, sale, holder, holdDays, reward, earned, now }),
    );
  }
  await queueEvents(tx, workspace.id, events);
  await noteFirstSales(tx, earned, now);
  if (!held) await applyRefunds(tx, purchase, { isChanged, now });
  return purchase;
}

/**
 * Reverses rewards for refunds from before the purchase was qualified. A tracked order may have a larger amount than
 * the purchase, so refunds are capped at the purchase. If the amount changed, refunds may take less than before.
 */
async function applyRefunds(
  tx: Queryable,
  purchase: Purchase,
  { isChanged, now }: { isChanged: boolean; now: Date },
): Promise<void> {
  let refundedMinor = 0;
  const refunds = await refundsOfOrder(tx, purchase.order_internal_id);
  for (const refund of refunds) {
    refundedMinor = Math.min(refundedMinor + refund.amount_minor, purchase.amount_minor);
    await reverseCommissions(tx, { purchase, refund, refundedMinor, now });
  }
  const refund = refunds.at(-1);
  if (isChanged && refund) await giveBackCommissions(tx, { purchase, refund, refundedMinor, now });
}

type EarnedCommission = Parameters<typeof noteFirstSales>[1][number];

type RewardContext = {
  program: Program;
  order: ReportedOrder;
  signup: ReferredSignup | null;
  sale: Sale;
  holder: Pick<Entry, 'enrollmentId' | 'externalUserId'>;
  /** Of a commission. */
  holdDays: number;
  reward: PurchaseReward;
  /** Gets the commission, if it is one. */
  earned: EarnedCommission[];
  now: Date;
};

/** Writes one reward with its entry, which is one ledger row. */
async function writeReward(tx: Queryable, context: RewardContext): Promise<RecordEvent> {
  const { program, order, signup, sale, holder, holdDays, reward, earned, now } = context;
  const { terms } = program;
  if (reward.type === 'credit') {
    const grant = await insertGrant(
      tx,
      program.workspace_id,
      {
        programId: program.id,
        ...holder,
        refereeExternalUserId: signup?.external_user_id ?? sale.externalUserId,
        cause: 'purchase',
        signupId: signup?.id ?? null,
        orderInternalId: order.internal_id,
        creditKind: terms.creditKind,
        amount: reward.amount,
        revokedReason: null,
      },
      now,
    );
    const entry: Entry = {
      ...holder,
      grantId: grant.id,
      account: 'credit_earned',
      unit: terms.creditKind,
      amount: reward.amount,
      cause: 'purchase',
    };
    await appendEntries(tx, program.workspace_id, [entry], now);
    return { type: 'credit.earned', data: grantRecord(grant) };
  }
  const eligibleAt = new Date(sale.purchasedAt.getTime() + holdDays * DAY_MS);
  const status = eligibleAt <= now ? 'eligible' : 'pending';
  const commission = await insertCommission(
    tx,
    {
      workspace_id: program.workspace_id,
      program_id: program.id,
      enrollment_id: reward.enrollmentId,
      order_internal_id: order.internal_id,
      level: reward.level,
      kind: 'sale',
      amount_minor: reward.amountMinor,
      currency: terms.currency,
      status,
      eligible_at: eligibleAt,
    },
    now,
  );
  const entry: Entry = {
    ...holder,
    commissionId: commission.id,
    account: accountOf(status),
    unit: terms.currency,
    amount: reward.amountMinor,
    cause: 'sale',
  };
  await appendEntries(tx, program.workspace_id, [entry], now);
  earned.push({
    commissionId: commission.id,
    enrollmentId: reward.enrollmentId,
    amountMinor: reward.amountMinor,
    currency: terms.currency,
  });
  return {
    type: 'commission.created',
    data: commissionData(commission, order.order_id, reward.amountMinor),
  };
}

/** Qualifies a purchase that was recorded before: its referrer was unknown, or was another one. */
export async function qualifyPendingPurchase(
  tx: Queryable,
  workspace: Workspace,
  referral: Referral,
  known: Purchase,
  now: Date,
  { isChanged = false }: { isChanged?: boolean } = {},
): Promise<Purchase> {
  const order = await lockOrderByNumber(tx, known.order_internal_id);
  const sale: Sale = {
    externalUserId: known.external_user_id,
    email: known.email ?? order.email,
    amountMinor: known.amount_minor,
    commissionableMinor: known.commissionable_minor ?? known.amount_minor,
    currency: known.currency,
    isRenewal: known.is_renewal,
    purchasedAt: known.purchased_at,
  };
  const given = { workspace, order, referral, sale, isChanged, now };
  return qualifyPurchase(tx, known.rewarded ? { ...given, rewarded: known } : given);
}
