import { MoneyError, percentOfConverted, toMinor } from '../money/money.ts';
import { isOneMailbox } from './self-referral.ts';
import {
  type BlockReason,
  type CommissionType,
  type EnrollmentStatus,
  earnsCommission,
  type PurchaseReason,
  type RewardMode,
  type Terms,
} from './terms.ts';

/** A referrer of the buyer: level 1 referred the buyer, level 2 referred level 1, and so on. */
export type Earner = {
  enrollmentId: string;
  externalUserId: string;
  /** Emails of the enrollment and of the referrer's own signup. */
  emails: string[];
  status: EnrollmentStatus;
  rewardMode: RewardMode;
  /** The referrer's own commission, in place of the program's of level 1; null: none. */
  ownTerms: { type: CommissionType; rate: number } | null;
};

export type Sale = {
  externalUserId: string | null;
  email: string | null;
  /** Minor units of `currency`. */
  amountMinor: number;
  currency: string;
  isRenewal: boolean;
  purchasedAt: Date;
};

/** Everything that decides what a referred purchase earns. */
export type PurchaseFacts = {
  terms: Terms;
  tracksCommission: boolean;
  /** Set when the buyer's signup was blocked. */
  blockReason: BlockReason | null;
  /** Level 1 first; at least one. A referrer who appears twice is paid once. */
  earners: Earner[];
  sale: Sale;
  signupEmail: string | null;
  earlier: {
    /** Whether one of them was a first sale: not a renewal, and not for 0. */
    sold: boolean;
    /** Time of the first of them that was not for 0, in any order of reports. */
    firstAt: Date | null;
  };
  /** Major units of the program's currency for one of the sale's; null when the operator set none. */
  rate: number | null;
};

export type PurchaseReward =
  | { type: 'credit'; enrollmentId: string; amount: number }
  | { type: 'commission'; enrollmentId: string; level: number; amountMinor: number };

export type PurchaseOutcome =
  | { rewards: PurchaseReward[]; reason: null }
  | { rewards: []; reason: PurchaseReason };

const nothing = (reason: PurchaseReason): PurchaseOutcome => ({ rewards: [], reason });

/**
 * Returns what a referred purchase earns, and for whom. It is pure, so stored rewards can be recomputed.
 *
 * Level 1 earns credit or commission by its mode. Higher levels earn commission only: on a credit program those in
 * affiliate mode, else all. A suspended level earns nothing and does not affect others, but a suspended level 1 means
 * that no level earns.
 */
export function purchaseRewards(facts: PurchaseFacts): PurchaseOutcome {
  const { terms, sale, earners } = facts;
  const [referrer] = earners;
  if (!referrer) throw new Error('a referred purchase must have a referrer');
  if (facts.blockReason === 'suspended' || referrer.status === 'suspended') return nothing('suspended');
  if (facts.blockReason !== null || isBuyer(referrer, facts)) return nothing('self_referral');
  if (terms.status === 'paused') return nothing('program_paused');

  const paysCommission = earnsCommission(terms, referrer.rewardMode);
  if (paysCommission && !facts.tracksCommission) return nothing('plan_has_no_commission_tracking');
  if (terms.firstSaleOnly && sale.isRenewal) return nothing('renewal_not_covered');
  if (terms.firstSaleOnly && facts.earlier.sold) return nothing('not_first_sale');

  const covered = isCovered(terms, sale, facts.earlier.firstAt);
  const rewards: PurchaseReward[] = [];
  if (!paysCommission && terms.purchaseCredit > 0 && sale.amountMinor > 0) {
    rewards.push({ type: 'credit', enrollmentId: referrer.enrollmentId, amount: terms.purchaseCredit });
  }
  const commissions = facts.tracksCommission && covered ? commissionsOf(facts) : [];
  if (commissions === null)
    return rewards.length > 0 ? { rewards, reason: null } : nothing('no_currency_rate');
  rewards.push(...commissions);
  if (rewards.length > 0) return { rewards, reason: null };
  return nothing(paysCommission && !covered ? 'renewal_not_covered' : 'no_reward_configured');
}

/** Returns commissions by level, lowest first; null when one has no amount in the program's currency. */
function commissionsOf(facts: PurchaseFacts): PurchaseReward[] | null {
  const { terms, sale, earners } = facts;
  if (sale.amountMinor === 0) return [];
  const rewards: PurchaseReward[] = [];
  const paid = new Set<string>();
  for (const [index, earner] of earners.entries()) {
    const { type, rate: levelRate } = termsOfLevel(terms, earner, index);
    if (levelRate === undefined) break;
    const isNew = !paid.has(earner.enrollmentId);
    paid.add(earner.enrollmentId);
    if (!isNew || levelRate === 0 || earner.status === 'suspended' || isBuyer(earner, facts)) continue;
    if (!earnsCommission(terms, earner.rewardMode)) continue;
    const amountMinor = type === 'flat' ? toMinor(levelRate, terms.currency) : percentage(facts, levelRate);
    if (amountMinor === null) return null;
    if (amountMinor > 0) {
      rewards.push({ type: 'commission', enrollmentId: earner.enrollmentId, level: index + 1, amountMinor });
    }
  }
  return rewards;
}

/** Returns the commission of a level; its rate is undefined above the program's last level. */
function termsOfLevel(
  terms: Terms,
  earner: Earner,
  index: number,
): { type: CommissionType; rate: number | undefined } {
  if (index > 0) return { type: terms.commissionType, rate: terms.levels[index - 1] };
  return earner.ownTerms ?? { type: terms.commissionType, rate: terms.commissionRate };
}

/** Returns null when the sale's currency has no rate, or the amount exceeds the range of numbers. */
function percentage({ terms, sale, rate }: PurchaseFacts, percent: number): number | null {
  if (rate === null) return null;
  try {
    return percentOfConverted(sale.amountMinor, percent, sale.currency, terms.currency, rate);
  } catch (error) {
    // The order is recorded all the same: its report must not fail on every retry.
    if (error instanceof MoneyError) return null;
    throw error;
  }
}

function isBuyer(earner: Earner, { sale, signupEmail }: PurchaseFacts): boolean {
  return (
    earner.externalUserId === sale.externalUserId ||
    isOneMailbox(earner.emails, sale.email) ||
    isOneMailbox(earner.emails, signupEmail)
  );
}

/** Commission months run from the buyer's first purchase. */
function isCovered(terms: Terms, sale: Sale, firstAt: Date | null): boolean {
  if (terms.commissionMonths === null || firstAt === null) return true;
  return sale.purchasedAt < addMonths(firstAt, terms.commissionMonths);
}

/** Returns the same time of day months later in UTC; a day that the month lacks is its last one. */
export function addMonths(from: Date, months: number): Date {
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(to.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return to;
}
