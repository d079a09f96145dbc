/** The terms of referral programs. */

export const PROGRAM_STATUSES = ['active', 'paused'] as const;
export type ProgramStatus = (typeof PROGRAM_STATUSES)[number];

export const COMMISSION_TYPES = ['percent', 'flat'] as const;
export type CommissionType = (typeof COMMISSION_TYPES)[number];

export const PAYOUT_METHODS = ['paypal', 'payoneer', 'wise'] as const;
export type PayoutMethod = (typeof PAYOUT_METHODS)[number];

export const TIERS = ['free', 'paid'] as const;
export type Tier = (typeof TIERS)[number];

export const ENROLLMENT_STATUSES = ['approved', 'suspended'] as const;
export type EnrollmentStatus = (typeof ENROLLMENT_STATUSES)[number];

/** What conversions earn: `referrer` the program's credits, `affiliate` its commission. */
export const REWARD_MODES = ['referrer', 'affiliate'] as const;
export type RewardMode = (typeof REWARD_MODES)[number];

/** Who may report signups of a program: `server` refuses reports with a publishable key. */
export const SIGNUP_SOURCES = ['any', 'server'] as const;
export type SignupSource = (typeof SIGNUP_SOURCES)[number];

/** Which signups or rewards need a review: `signups` whole signups, `rewards` the rewards of matched signups. */
export const REVIEWS = ['none', 'signups', 'rewards'] as const;
export type Review = (typeof REVIEWS)[number];

/** Why a signup earns nothing, in the order of the checks. `rejected` is the outcome of a review. */
export const BLOCK_REASONS = [
  'same_user',
  'same_email',
  'same_device',
  'same_visitor',
  'same_ip',
  'duplicate_referee',
  'mutual_referral',
  'suspended',
  'cap',
  'rejected',
] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

/** Why a referred purchase earned nothing. */
export const PURCHASE_REASONS = [
  'plan_has_no_commission_tracking',
  'renewal_not_covered',
  'not_first_sale',
  'self_referral',
  'suspended',
  'program_paused',
  'no_currency_rate',
  'no_reward_configured',
  'amount_too_small',
  'before_signup',
  'duplicate_referee',
  'mutual_referral',
  'cap',
  'rejected',
  'same_payment',
] as const;
export type PurchaseReason = (typeof PURCHASE_REASONS)[number];

/** Returns why a purchase of a blocked signup earns nothing. */
export function reasonOfBlocked(blockReason: BlockReason): PurchaseReason {
  switch (blockReason) {
    case 'duplicate_referee':
    case 'mutual_referral':
    case 'suspended':
    case 'cap':
    case 'rejected':
      return blockReason;
    default:
      return 'self_referral';
  }
}

/** Reasons of purchases that are not counted as the referrer's. */
export const UNCOUNTED_REASONS: readonly PurchaseReason[] = [
  ...new Set([...BLOCK_REASONS.map(reasonOfBlocked), 'same_payment' as const]),
];

export const COMMISSION_STATUSES = ['pending', 'eligible', 'paid', 'reversed', 'rejected'] as const;
export type CommissionStatus = (typeof COMMISSION_STATUSES)[number];

export const PAYOUT_STATUSES = ['open', 'paid', 'canceled'] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

export const PAYOUT_LINE_STATUSES = ['open', 'paid', 'failed'] as const;
export type PayoutLineStatus = (typeof PAYOUT_LINE_STATUSES)[number];

/** Kinds of payout files: our own, and those that PayPal and Wise accept. */
export const PAYOUT_FORMATS = ['csv', 'paypal', 'wise'] as const;
export type PayoutFormat = (typeof PAYOUT_FORMATS)[number];

/** Why an eligible balance is not in a payout file, in the order of the checks. */
export const HELD_BACK = [
  'suspended',
  'in_open_file',
  'negative',
  'below_minimum',
  'below_one_unit',
  'no_payout_method',
  'payout_method_changed',
  'payout_failed',
  'payout_name',
] as const;
export type HeldBack = (typeof HELD_BACK)[number];

/** The terms of a program. A change applies to later events. */
export type Terms = {
  status: ProgramStatus;
  creditEnabled: boolean;
  creditKind: string;
  /** Hundredths of a credit, like all credits here. */
  signupCredit: Record<Tier, number>;
  purchaseCredit: number;
  refereeCredit: number;
  commissionType: CommissionType;
  /** Percent (20 is 20 percent), or major units of `currency` when flat. */
  commissionRate: number;
  /** Rates of levels 2 and up, of the same type. */
  levels: number[];
  firstSaleOnly: boolean;
  /** Null: without end. */
  commissionMonths: number | null;
  holdDays: number;
  currency: string;
  signupsFrom: SignupSource;
  /** Signups that one referrer may bring on a UTC day; null: no limit. */
  maxSignupsPerDay: number | null;
  review: Review;
};

/** What a referrer, or its group, has in place of a program's terms. Null: the program's. */
export type OwnTerms = {
  /** Of level 1. */
  commission: { type: CommissionType; rate: number } | null;
  holdDays: number | null;
  /** Minor units of the program's currency. */
  minPayoutMinor: number | null;
};

export const NO_OWN_TERMS: OwnTerms = { commission: null, holdDays: null, minPayoutMinor: null };

/** Returns what a program pays to the referrer who has these terms. */
export function programWith<P extends { terms: Terms; min_payout_minor: number }>(
  program: P,
  own: OwnTerms,
): P {
  const { commission, holdDays, minPayoutMinor } = own;
  return {
    ...program,
    terms: {
      ...program.terms,
      ...(commission !== null && { commissionType: commission.type, commissionRate: commission.rate }),
      holdDays: holdDays ?? program.terms.holdDays,
    },
    min_payout_minor: minPayoutMinor ?? program.min_payout_minor,
  };
}

/**
 * Returns whether conversions of a referrer in this mode earn commission. A program without credits pays it in either
 * mode; a credit program pays it to affiliates only.
 */
export function earnsCommission(terms: Pick<Terms, 'creditEnabled'>, mode: RewardMode): boolean {
  return mode === 'affiliate' || !terms.creditEnabled;
}
