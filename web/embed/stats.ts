/**
 * Response of `GET /api/v1/referrals/stats`, in the parts that the page uses; a test compares it with the API's schema.
 * Money is in major units of `rewards.cash.currency`; a commission's `amount` is in its own `currency`.
 */
export type RewardMode = 'referrer' | 'affiliate';

export type CreditTotals = { earned: number; delivered: number; pending: number };

export type Day = { day: string; clicks: number; signups: number; purchases: number };

export type Commission = {
  date: string;
  type: string;
  amount: number;
  currency: string;
  earnings: number;
  status: string;
  /** When a pending one becomes eligible; null: it is not pending. */
  held_until: string | null;
};
export type Payout = { date: string; amount: number; status: string };
export type SavedMethod = { method: string; email: string };
/** The parts of the response to a saved address. */
export type SavedPayout = { payout_method: SavedMethod; payout_held_until: string | null };

export type Affiliate = {
  allowed: boolean;
  credit_enabled: boolean;
  min_payout: number;
  payout_methods: string[];
  payout_method: SavedMethod | null;
  /** End of the hold on payouts after a page changed the address; null: no hold. */
  payout_held_until: string | null;
  balance: { pending: number; eligible: number; paid: number };
  recent_commissions: Commission[];
  payouts: Payout[];
};

/** The terms by which the user earns. A kind of reward that the program does not give is null. */
export type Terms = {
  commission: {
    type: string;
    /** Percent, or major units when `flat`. */
    rate: number;
    first_sale_only: boolean;
    /** Null: without end. */
    months: number | null;
    hold_days: number;
  } | null;
  credits: { kind: string; signup: number; purchase: number } | null;
};

export type Stats = {
  status: string;
  referral_link: string;
  /** Discount codes whose orders count for the user. */
  coupons: string[];
  window: { from: string; to: string; days: number };
  stats: { clicks: number; signups: number; purchases: number; conversion_rate: number };
  rewards: {
    cash: { currency: string; pending: number; paid: number; total: number };
    credits: Record<string, CreditTotals>;
  };
  series: Day[];
  reward_mode: RewardMode;
  terms: Terms;
  affiliate: Affiliate;
};
