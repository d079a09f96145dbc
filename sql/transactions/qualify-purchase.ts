import { limitsOf } from '../../core/access/plans.ts';
import { type PurchaseReward, purchaseRewards, type Sale } from '../../core/referrals/purchase-reward.ts';
import { earnsCommission } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { lockOrderByNumber, type ReportedOrder } from '../orders/reported-orders.ts';
import { accountOf, insertCommission } from '../referrals/commissions.ts';
import { lockEarnersShared } from '../referrals/enrollments.ts';
import { grantRecord, insertGrant } from '../referrals/grants.ts';
import { appendEntries, type Entry } from '../referrals/ledger.ts';
import { lockProgramShared, type Program } from '../referrals/programs.ts';
import { earlierPurchases, type Purchase, upsertPurchase } from '../referrals/purchases.ts';
import { refundsOfOrder } from '../referrals/refunds.ts';
import type { MatchedSignup } from '../referrals/signups.ts';
import { queueEvents, type RecordEvent } from '../webhooks/outbox.ts';
import { readRates } from '../workspaces/currency-rates.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { commissionData } from './move-commissions.ts';
import { reverseCommissions } from './reverse-commissions.ts';

const DAY_MS = 86_400_000;

/**
 * Evaluates the purchase of a referred buyer: writes the outcome and the rewards, and reverses what earlier refunds
 * undo. The caller has locked the order and the buyer's signup.
 *
 * @returns the purchase with its outcome
 */
export async function qualifyPurchase(
  tx: Queryable,
  given: {
    workspace: Workspace;
    order: ReportedOrder;
    signup: MatchedSignup;
    sale: Sale;
    now: Date;
  },
): Promise<Purchase> {
  const { workspace, order, signup, sale, now } = given;
  const program = await lockProgramShared(tx, workspace.id, signup.program_id);
  const { terms } = program;
  const earners = await lockEarnersShared(tx, {
    workspaceId: workspace.id,
    programId: program.id,
    enrollmentId: signup.enrollment_id,
    levels: 1 + terms.levels.length,
  });
  const pays = earners.some((earner) => earnsCommission(terms, earner.rewardMode));
  const rateOf = pays && sale.currency !== terms.currency ? await readRates(tx) : () => 1;
  const { rewards, reason } = purchaseRewards({
    terms,
    tracksCommission: limitsOf(workspace).commission !== 0,
    blockReason: signup.block_reason,
    earners,
    sale,
    signupEmail: signup.email,
    earlier: await earlierPurchases(tx, signup.id, order.internal_id),
    rate: rateOf(sale.currency, terms.currency),
  });
  const purchase: Purchase = {
    order_internal_id: order.internal_id,
    workspace_id: workspace.id,
    signup_id: signup.id,
    enrollment_id: signup.enrollment_id,
    external_user_id: sale.externalUserId,
    email: null,
    amount_minor: sale.amountMinor,
    currency: sale.currency,
    is_renewal: sale.isRenewal,
    rewarded: rewards.length > 0,
    ledger_rows: rewards.length,
    reason,
    purchased_at: sale.purchasedAt,
  };
  await upsertPurchase(tx, purchase, now);
  const events: RecordEvent[] = [];
  for (const reward of rewards) {
    const earner = earners.find(({ enrollmentId }) => enrollmentId === reward.enrollmentId);
    if (!earner)
      throw new Error(`reward for enrollment ${reward.enrollmentId}, which is not a referrer of the buyer`);
    const holder = { enrollmentId: earner.enrollmentId, externalUserId: earner.externalUserId };
    events.push(await writeReward(tx, { program, order, signup, sale, holder, reward, now }));
  }
  await queueEvents(tx, workspace.id, events);
  await applyRefunds(tx, purchase, now);
  return purchase;
}

/**
 * Reverses what was refunded before the purchase was qualified. A tracked order may have been for more than the
 * purchase, so refunds are capped at the purchase.
 */
async function applyRefunds(tx: Queryable, purchase: Purchase, now: Date): Promise<void> {
  let refundedMinor = 0;
  for (const refund of await refundsOfOrder(tx, purchase.order_internal_id)) {
    refundedMinor = Math.min(refundedMinor + refund.amount_minor, purchase.amount_minor);
    await reverseCommissions(tx, { purchase, refund, refundedMinor, now });
  }
}

type RewardContext = {
  program: Program;
  order: ReportedOrder;
  signup: MatchedSignup;
  sale: Sale;
  holder: Pick<Entry, 'enrollmentId' | 'externalUserId'>;
  reward: PurchaseReward;
  now: Date;
};

/** Writes one reward with its entry: one ledger row. */
async function writeReward(tx: Queryable, context: RewardContext): Promise<RecordEvent> {
  const { program, order, signup, sale, holder, reward, now } = context;
  const { terms } = program;
  if (reward.type === 'credit') {
    const grant = await insertGrant(
      tx,
      program.workspace_id,
      {
        programId: program.id,
        ...holder,
        refereeExternalUserId: signup.external_user_id,
        cause: 'purchase',
        signupId: signup.id,
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
  const eligibleAt = new Date(sale.purchasedAt.getTime() + terms.holdDays * DAY_MS);
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
  return {
    type: 'commission.created',
    data: commissionData(commission, order.order_id, reward.amountMinor),
  };
}

/** Qualifies a purchase that was reported while its buyer's signup was pending. The signup is now matched. */
export async function qualifyPendingPurchase(
  tx: Queryable,
  workspace: Workspace,
  signup: MatchedSignup,
  pending: Purchase,
  now: Date,
): Promise<void> {
  const order = await lockOrderByNumber(tx, pending.order_internal_id);
  const sale: Sale = {
    externalUserId: pending.external_user_id,
    email: pending.email ?? order.email,
    amountMinor: pending.amount_minor,
    currency: pending.currency,
    isRenewal: pending.is_renewal,
    purchasedAt: pending.purchased_at,
  };
  await qualifyPurchase(tx, { workspace, order, signup, sale, now });
}
