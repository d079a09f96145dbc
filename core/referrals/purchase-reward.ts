import { MoneyError, percentOfConverted, toMinor } from '../money/money.ts';
import { isOneMailbox } from './self-referral.ts';
import {
  type BlockReason,
  type CommissionType,
  type EnrollmentStatus,
  earnsCommission,
  type OwnTerms,
  type PurchaseReason,
  type RewardMode,
  reasonOfBlocked,
  type Terms,
} from './terms.ts';

/** A referrer of the buyer: level 1 referred the buyer, level 2 referred level 1, and so on. */
export type Earner = {
  enrollmentId: string;
  externalUserId: string;
  /** Emails of the enrollment, of its payout address, and of the referrer's own signup. */
  emails: string[];
  status: EnrollmentStatus;
  rewardMode: RewardMode;
  ownTerms: OwnTerms;
};

export type Sale = {
  externalUserId: string | null;
  email: string | null;
  /** Minor units of `currency`. */
  amountMinor: number;
  /** The part of the amount that earns commission. Minor units of `currency`. */
  commissionableMinor: number;
  currency: string;
  isRenewal: boolean;
  purchasedAt: Date;
};

/**
 * A purchase may be reported before its buyer's signup, and counts when it is at most this much older. Milliseconds.
 */
export const BEFORE_SIGNUP_MS = 72 * 3_600_000;

/** The facts that decide the rewards of a referred purchase. */
export type PurchaseFacts = {
  terms: Terms;
  tracksCommission: boolean;
  /** Set when the buyer's signup was blocked, or the buyer of a coupon's order would be. */
  blockReason: BlockReason | null;
  /** Level 1 first; at least one. A referrer who appears twice is paid once. */
  earners: Earner[];
  sale: Sale;
  signupEmail: string | null;
  /** Null when a coupon, not a signup, referred the order. */
  signedUpAt: Date | null;
  /** The buyer's other purchases that were rewarded. */
  earlier: {
    rewarded: boolean;
    /** Time of the first of them, in any order of reports. */
    firstAt: Date | null;
  };
  /** Major units of the program's currency for one of the sale's; null when the operator set none. */
  rate: number | null;
};

export type PurchaseReward =
  | { type: 'credit'; enrollmentId: string; amount: number }
  | { type: 'commission'; enrollmentId: string; level: number; amountMinor: number };

/** `withoutRate`: a commission is missing because no rate is set for the sale's currency. */
export type PurchaseOutcome = { withoutRate: boolean } & (
  | { rewards: PurchaseReward[]; reason: null }
  | { rewards: []; reason: PurchaseReason }
);

const nothing = (reason: PurchaseReason): PurchaseOutcome => ({ rewards: [], reason, withoutRate: false });

/**
 * Returns the rewards of a referred purchase, and who earns them. It is pure, so stored rewards can be recomputed.
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
  if (facts.blockReason !== null) return nothing(reasonOfBlocked(facts.blockReason));
  if (isBuyer(referrer, facts)) return nothing('self_referral');
  if (facts.signedUpAt && sale.purchasedAt.getTime() < facts.signedUpAt.getTime() - BEFORE_SIGNUP_MS)
    return nothing('before_signup');
  if (terms.status === 'paused') return nothing('program_paused');
  const paysCommission = earnsCommission(terms, referrer.rewardMode);
  if (paysCommission && !facts.tracksCommission) return nothing('plan_has_no_commission_tracking');
  if (terms.firstSaleOnly && sale.isRenewal) return nothing('renewal_not_covered');
  if (terms.firstSaleOnly && facts.earlier.rewarded) return nothing('not_first_sale');
  const covered = isCovered(terms, sale, facts.earlier.firstAt);
  const rewards: PurchaseReward[] = [];
  const earnsCredit = !paysCommission && terms.purchaseCredit > 0;
  if (earnsCredit && sale.amountMinor > 0) {
    rewards.push({ type: 'credit', enrollmentId: referrer.enrollmentId, amount: terms.purchaseCredit });
  }
  const commissions = facts.tracksCommission && covered ? commissionsOf(facts) : NO_COMMISSIONS;
  rewards.push(...commissions.rewards);
  const { withoutRate } = commissions;
  if (rewards.length > 0) return { rewards, reason: null, withoutRate };
  if (withoutRate) return { rewards: [], reason: 'no_currency_rate', withoutRate };
  if (paysCommission && !covered) return nothing('renewal_not_covered');
  return nothing(earnsCredit || commissions.tooSmall ? 'amount_too_small' : 'no_reward_configured');
}

type Commissions = {
  /** Rewards by level, lowest first. If a rate is missing there are none. */
  rewards: PurchaseReward[];
  /** Whether one has no amount in the program's currency. */
  withoutRate: boolean;
  /** Whether one rounds to nothing. */
  tooSmall: boolean;
};

const NO_COMMISSIONS: Commissions = { rewards: [], withoutRate: false, tooSmall: false };

function commissionsOf(facts: PurchaseFacts): Commissions {
  const { terms, earners } = facts;
  const rewards: PurchaseReward[] = [];
  const paid = new Set<string>();
  let tooSmall = false;
  for (const [index, earner] of earners.entries()) {
    const { type, rate: levelRate } = termsOfLevel(terms, earner, index);
    if (levelRate === undefined) break;
    const isNew = !paid.has(earner.enrollmentId);
    paid.add(earner.enrollmentId);
    if (!isNew || levelRate === 0 || earner.status === 'suspended' || isBuyer(earner, facts)) continue;
    if (!earnsCommission(terms, earner.rewardMode)) continue;
    const amountMinor = commissionOf(facts, type, levelRate);
    if (amountMinor === null) return { ...NO_COMMISSIONS, withoutRate: true };
    if (amountMinor > 0) {
      rewards.push({ type: 'commission', enrollmentId: earner.enrollmentId, level: index + 1, amountMinor });
    } else {
      tooSmall = true;
    }
  }
  return { rewards, withoutRate: false, tooSmall };
}

/** Returns a level's commission in minor units of the program's currency; null when it can't be converted to it. */
function commissionOf(facts: PurchaseFacts, type: CommissionType, levelRate: number): number | null {
  const { terms, sale } = facts;
  if (sale.commissionableMinor === 0) return 0;
  return type === 'flat' ? toMinor(levelRate, terms.currency) : percentage(facts, levelRate);
}

/** Returns the commission of a level; its rate is undefined above the program's last level. */
function termsOfLevel(
  terms: Terms,
  earner: Earner,
  index: number,
): { type: CommissionType; rate: number | undefined } {
  if (index > 0) return { type: terms.commissionType, rate: terms.levels[index - 1] };
  return earner.ownTerms.commission ?? { type: terms.commissionType, rate: terms.commissionRate };
}

/** Returns null when the sale's currency has no rate, or the amount exceeds the range of numbers. */
function percentage({ terms, sale, rate }: PurchaseFacts, percent: number): number | null {
  if (rate === null) return null;
  try {
    return percentOfConverted(sale.commissionableMinor, percent, sale.currency, terms.currency, rate);
  } catch (error) {
    // The order is recorded anyway: its report must not fail on every retry.
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

/** Commission months run from the buyer's first rewarded purchase. */
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
