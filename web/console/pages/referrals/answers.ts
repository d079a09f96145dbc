/** What the API answers, as far as these pages use it. */

export type Programme = {
  id: string;
  name: string;
  code: string;
  destination_url: string;
  status: 'active' | 'paused';
  credit_enabled: boolean;
  credit_kind: string;
  signup_credit: { free: number; paid: number };
  purchase_credit: number;
  referee_credit: number;
  commission_type: 'percent' | 'flat';
  commission_rate: number;
  first_sale_only: boolean;
  commission_months: number | null;
  hold_days: number;
  levels: number[];
  allow_affiliate_upgrade: boolean;
  payout_methods: string[];
  min_payout: number;
  currency: string;
  created_at: string;
};
export type Programmes = { programs: Programme[] };

export type SavedMethod = { method: string; email: string } | null;

export type Enrollment = {
  partner_id: string;
  program_id: string;
  external_user_id: string;
  email: string | null;
  name: string | null;
  tier: 'free' | 'paid';
  status: 'approved' | 'suspended';
  reward_mode: 'referrer' | 'affiliate';
  payout_method: SavedMethod;
  referral_link: string | null;
  created_at: string;
  totals: { clicks: number; signups: number; blocked_signups: number; purchases: number };
  balances: {
    cash: Record<string, { pending: number; eligible: number; paid: number }>;
    credits: Record<string, { earned: number; delivered: number; pending: number }>;
  };
};
export type Enrollments = { enrollments: Enrollment[]; next_cursor: string | null };

export type LedgerStatus = 'pending' | 'eligible' | 'paid' | 'earned' | 'delivered';

export type Entry = {
  id: number;
  created_at: string;
  kind: 'commission' | 'credit';
  status: LedgerStatus;
  cause: string;
  amount: number;
  currency: string | null;
  credit_kind: string | null;
  external_user_id: string;
  partner_id: string;
  level: number | null;
  present_status: string;
  order_id: string | null;
  refund_id: string | null;
};
export type Entries = { entries: Entry[]; next_cursor: number | null };
export type Sum = Pick<Entry, 'kind' | 'status' | 'amount' | 'currency' | 'credit_kind'> & {
  entries: number;
};
export type Sums = { balances: Sum[] };

export type Signup = {
  id: string;
  external_user_id: string;
  email: string | null;
  status: 'pending' | 'matched';
  partner_id: string | null;
  referrer_external_user_id: string | null;
  block_reason: string | null;
  reported_at: string;
};
export type Signups = { signups: Signup[]; next_cursor: string | null };

export type Purchase = {
  internal_order_id: number;
  order_id: string;
  external_user_id: string | null;
  matched: boolean;
  partner_id: string | null;
  referrer_external_user_id: string | null;
  amount: number;
  refunded: number;
  currency: string;
  is_renewal: boolean;
  rewarded: boolean;
  reason: string | null;
  purchased_at: string;
};
export type Purchases = { purchases: Purchase[]; next_cursor: number | null };

/** Major units by currency. */
export type Totals = Record<string, number>;

export type EligibleBalance = {
  partner_id: string;
  external_user_id: string;
  name: string | null;
  amount: number;
  currency: string;
  commissions: number;
  payout_method: SavedMethod;
  min_payout: number;
  held_back: 'suspended' | 'below_minimum' | 'negative' | null;
};
export type Eligible = {
  referrers: number;
  totals: Totals;
  balances: EligibleBalance[];
  next_cursor: string | null;
};

export type PayoutFile = {
  export_id: string;
  program_id: string | null;
  referrers: number;
  totals: Totals;
  created_at: string;
  paid_at: string | null;
};
export type PayoutFiles = { payouts: PayoutFile[]; next_cursor: string | null };

export type PayoutLine = {
  partner_id: string;
  external_user_id: string;
  name: string | null;
  method: string | null;
  amount: number;
  currency: string;
  commissions: number;
};
export type PayoutLines = { lines: PayoutLine[]; next_cursor: string | null };
export type Paid = { paid: number; totals: Totals };
