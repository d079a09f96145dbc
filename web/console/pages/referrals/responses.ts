import type { ResponseOf } from '../../api/responses.ts';

export type Programs = ResponseOf<'/programs'>;
export type Program = Programs['programs'][number];

export type Summary = ResponseOf<'/referrals/summary'>;

export type Enrollment = ResponseOf<'/enrollments/{id}'>;
export type Enrollments = ResponseOf<'/enrollments'>;

export type EnrollmentHistory = ResponseOf<'/enrollments/{id}/history'>;
export type Commissions = ResponseOf<'/commissions'>;
export type Commission = Commissions['commissions'][number];
export type Coupons = ResponseOf<'/coupons'>;
export type Coupon = Coupons['coupons'][number];

export type Entries = ResponseOf<'/ledger'>;
export type Entry = Entries['entries'][number];
export type LedgerStatus = Entry['status'];
export type Sums = ResponseOf<'/ledger/balances'>;
export type Sum = Sums['balances'][number];

export type ProgramTermsList = ResponseOf<'/programs/{id}/terms'>;
export type ProgramTerms = ProgramTermsList['terms'][number];

export type Applications = ResponseOf<'/applications'>;
export type Application = Applications['applications'][number];

export type PartnerGroups = ResponseOf<'/partner-groups'>;
export type PartnerGroup = PartnerGroups['partner_groups'][number];

export type Messages = ResponseOf<'/messages'>;
export type Message = Messages['messages'][number];
export type MessagePreview = ResponseOf<'/messages/preview', 'post'>;

export type Assets = ResponseOf<'/assets'>;
export type Asset = Assets['assets'][number];

export type Signups = ResponseOf<'/signups'>;
export type Signup = Signups['signups'][number];
export type Purchases = ResponseOf<'/purchases'>;
export type Purchase = Purchases['purchases'][number];

export type Eligible = ResponseOf<'/payouts/eligible'>;
export type EligibleBalance = Eligible['balances'][number];
export type PayoutFiles = ResponseOf<'/payouts'>;
export type PayoutFile = PayoutFiles['payouts'][number];
export type PayoutLines = ResponseOf<'/payouts/{id}/lines'>;
export type PayoutLine = PayoutLines['lines'][number];
export type Paid = ResponseOf<'/payouts', 'post'>;
/** Major units by currency. */
export type Totals = Eligible['totals'];

export type Fulfilments = ResponseOf<'/fulfilments'>;
export type Fulfilment = Fulfilments['fulfilments'][number];
export type FulfilmentWithSecret = ResponseOf<'/fulfilments', 'post'>;
export type CreditDeliveries = ResponseOf<'/fulfilments/{id}/deliveries'>;
export type CreditDelivery = CreditDeliveries['deliveries'][number];
