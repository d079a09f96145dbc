import { type Static, Type } from 'typebox';
import {
  BLOCK_REASONS,
  ENROLLMENT_STATUSES,
  PAYOUT_METHODS,
  PURCHASE_REASONS,
  REWARD_MODES,
  TIERS,
} from '../../core/referrals/terms.ts';
import {
  Body,
  Currency,
  CurrencyInput,
  ExternalUserId,
  Instant,
  NAME_OR_EMPTY,
  Nullable,
  OneOf,
  OrderId,
  Url,
  Uuid,
  VisibleText,
  VisitorIds,
} from '../schemas.ts';
import { CommissionStatus, CommissionType } from './commissions/schemas.ts';

const EmailInput = Type.String({ format: 'email', maxLength: 254 });
const DeviceId = VisibleText(200, 'Used for self-referral checks.');

/** The proof of the user that a call with a publishable key names. */
const UserHash = Type.Optional(
  Nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'The hexadecimal HMAC-SHA256 of the user id under the identity secret. Required with a publishable key when the workspace has `identity_verification: required`.',
    }),
  ),
);

export const Tier = OneOf(TIERS, {
  title: 'Tier',
  description: 'Plan of the user in your product. Sets the amount of the signup credit.',
});
export const EnrollmentStatus = OneOf(ENROLLMENT_STATUSES, {
  title: 'EnrollmentStatus',
  description: "A suspended referrer's link still redirects but earns nothing, and nothing is paid out.",
});
export const RewardMode = OneOf(REWARD_MODES, { title: 'RewardMode' });
export const PayoutMethod = OneOf(PAYOUT_METHODS, { title: 'PayoutMethod' });
export const BlockReason = OneOf(BLOCK_REASONS, { title: 'BlockReason' });
export const PurchaseReason = OneOf(PURCHASE_REASONS, {
  title: 'PurchaseReason',
  description:
    'Why a purchase earned nothing. `same_payment`: an older purchase of the same payment counts, and its refunds with it.',
});

export const EnrollBody = Body(
  {
    email: EmailInput,
    external_user_id: ExternalUserId,
    tier: Tier,
    program_id: Type.Optional(
      Nullable(
        Type.String({
          format: 'uuid',
          description: 'The most recent program by default. An enrolled user stays in the first program.',
        }),
      ),
    ),
    name: Type.Optional(Nullable(Type.String({ maxLength: 200, pattern: NAME_OR_EMPTY }))),
    device_id: Type.Optional(Nullable(DeviceId)),
    user_hash: UserHash,
  },
  { title: 'EnrollReferrer' },
);
export type EnrollBody = Static<typeof EnrollBody>;

export const Enrolled = Type.Object(
  { partner_id: Uuid, program_id: Uuid, referral_link: Url, status: EnrollmentStatus },
  { title: 'EnrolledReferrer' },
);

export const SignupBody = Body(
  {
    new_user_external_user_id: ExternalUserId,
    email: Type.Optional(Nullable(EmailInput)),
    device_id: Type.Optional(Nullable(DeviceId)),
    ref_code: Type.Optional(
      Nullable(
        Type.String({ maxLength: 2_000, description: "The slug of the referrer's link, or the whole link." }),
      ),
    ),
    _vid: Type.Optional(
      VisitorIds(
        'The visitor id, or all ids that the browser has, newest first. Their most recent referral click names the referrer.',
      ),
    ),
    visitor_id: Type.Optional(VisitorIds('Another name of `_vid`. Given both, they must be equal.')),
    referrer_external_user_id: Type.Optional(Nullable(ExternalUserId)),
    user_hash: UserHash,
  },
  { title: 'ReportSignup' },
);
export type SignupBody = Static<typeof SignupBody>;

/** The response of `report-signup` has one of two shapes, so no single schema serializes it. */
export const SignupAnswer = Type.Union([
  Type.Object(
    {
      matched: Type.Literal(true),
      program_id: Uuid,
      partner_id: Uuid,
      blocked: Type.Boolean({ description: 'Whether the reward was blocked; `block_reason` says why.' }),
      block_reason: Nullable(BlockReason),
      status: Type.Optional(
        OneOf(['held'], { description: 'The signup, or what it earns, waits for a review.' }),
      ),
    },
    { title: 'MatchedSignup' },
  ),
  Type.Object({ matched: Type.Literal(false) }, { title: 'UnmatchedSignup' }),
]);
export type SignupAnswer = Static<typeof SignupAnswer>;

export const CommissionableAmount = Type.Optional(
  Nullable(
    Type.Number({
      minimum: 0,
      description:
        'The part of `amount` that earns commission, such as the price without tax and shipping. `amount` by default. A refund lowers it in proportion.',
    }),
  ),
);

export const PurchaseBody = Body(
  {
    external_user_id: ExternalUserId,
    order_id: Type.String({ ...OrderId, description: 'The idempotency key.' }),
    amount: Type.Number({ minimum: 0, description: 'Major units, at most 10^12 minor units.' }),
    commissionable_amount: CommissionableAmount,
    currency: Type.Optional(Type.String({ ...CurrencyInput, default: 'usd' })),
    email: Type.Optional(Nullable(EmailInput)),
    is_renewal: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'A renewal. Programs with first-sale-only terms skip renewals.',
      }),
    ),
    purchased_at: Type.Optional(
      Nullable(Type.String({ format: 'date-time', description: 'Now by default; at most a day ahead.' })),
    ),
  },
  { title: 'ReportPurchase' },
);
export type PurchaseBody = Static<typeof PurchaseBody>;

export const PurchaseAnswer = Type.Object(
  {
    matched: Type.Boolean({ description: 'Whether the buyer was referred.' }),
    rewarded: Type.Boolean({ description: 'Whether a commission or credit was written.' }),
    internal_order_id: Type.Integer(),
    ledger_rows: Type.Integer({ description: 'One for each level that earned.' }),
    reason: Type.Optional(PurchaseReason),
    status: Type.Optional(OneOf(['held'], { description: "Waits for the review of the buyer's signup." })),
  },
  { title: 'ReportedPurchase' },
);

export const RefundBody = Body(
  {
    refund_id: VisibleText(200, 'The idempotency key.'),
    order_id: OrderId,
    amount: Type.Optional(
      Nullable(
        Type.Number({
          exclusiveMinimum: 0,
          description: "Major units of the order's currency. The rest of the order by default.",
        }),
      ),
    ),
  },
  { title: 'ReportRefund' },
);
export type RefundBody = Static<typeof RefundBody>;

export const RefundAnswer = Type.Object(
  {
    matched: Type.Boolean({
      description: 'Whether the buyer is referred, or the refund reversed what a wrong referrer was paid.',
    }),
    internal_order_id: Nullable(Type.Integer()),
    ledger_rows: Type.Integer(),
  },
  { title: 'ReportedRefund' },
);

export const RewardModeBody = Body(
  { external_user_id: ExternalUserId, mode: RewardMode, user_hash: UserHash },
  { title: 'SetRewardMode' },
);
export const RewardModeAnswer = Type.Object(
  { partner_id: Uuid, program_id: Uuid, reward_mode: RewardMode },
  { title: 'RewardModeChanged' },
);

export const PayoutMethodBody = Body(
  {
    external_user_id: ExternalUserId,
    method: Type.String({
      description: 'A method that the program offers: `paypal`, `payoneer` or `wise`.',
    }),
    email: Type.Optional(Nullable({ ...EmailInput, description: 'Required, here or in `paypal_email`.' })),
    paypal_email: Type.Optional(Nullable({ ...EmailInput, description: 'An alias of `email`.' })),
    user_hash: UserHash,
  },
  { title: 'SetPayoutMethod' },
);
export type PayoutMethodBody = Static<typeof PayoutMethodBody>;

const Masked = Type.String({ description: 'Masked, such as `j***@example.com`.' });
export const SavedMethod = Type.Object(
  { method: PayoutMethod, email: Masked, paypal_email: Type.Optional(Masked) },
  { title: 'SavedPayoutMethod' },
);
export type SavedMethod = Static<typeof SavedMethod>;

export const HeldUntil = Nullable(
  Type.String({
    format: 'date-time',
    description:
      'Until when payout files leave the balance out, because a page changed the payout address. Null: they do not.',
  }),
);

export const PayoutMethodAnswer = Type.Object(
  {
    partner_id: Uuid,
    program_id: Uuid,
    payout_method: SavedMethod,
    paypal_email: Type.Optional(Masked),
    payout_held_until: HeldUntil,
  },
  { title: 'PayoutMethodSaved' },
);

export const StatsQuery = Type.Object({
  external_user_id: ExternalUserId,
  email: Type.Optional(
    Type.String({
      format: 'email',
      maxLength: 254,
      description: 'Recommended: identifies the referrer.',
    }),
  ),
  tier: Type.Optional(
    OneOf(TIERS, { description: 'Tier of a user whom this call enrolls. Default `free`.' }),
  ),
  days: Type.Integer({ minimum: 7, maximum: 90, default: 30, description: 'UTC days up to today.' }),
  program_id: Type.Optional(Uuid),
  user_hash: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'The hexadecimal HMAC-SHA256 of the user id under the identity secret. Required with a publishable key when the workspace has `identity_verification: required`.',
    }),
  ),
});
export type StatsQuery = Static<typeof StatsQuery>;

export const CashBalance = Type.Object(
  { pending: Type.Number(), eligible: Type.Number(), paid: Type.Number() },
  {
    title: 'CashBalance',
    description:
      'Major units: commission in its hold period, commission that can be paid out, and paid commission.',
  },
);
export const CreditBalance = Type.Object(
  { earned: Type.Number(), delivered: Type.Number(), pending: Type.Number() },
  { title: 'CreditBalance', description: 'All earned credits, delivered credits, and the difference.' },
);

const Count = Type.Integer();
const Major = Type.Number({ description: "Major units of the program's currency." });

export const ReferralWindow = Type.Object(
  { from: Instant, to: Instant, days: Type.Integer() },
  { title: 'ReferralWindow' },
);

const ReferralDay = Type.Object(
  {
    day: Type.String({ format: 'date' }),
    clicks: Count,
    signups: Count,
    purchases: Count,
  },
  { title: 'ReferralDay' },
);

const RecentCommission = Type.Object(
  {
    date: Instant,
    type: OneOf(['sale', 'renewal', 'refund', 'correction', 'manual', 'imported'], {
      description:
        '`correction`: taken back because another referrer brought the buyer, or given back when positive. `manual`: a bonus, or a claw-back when negative.',
    }),
    amount: Type.Number({
      description: 'Amount of the order in major units of `currency`; of a `manual` one, its own.',
    }),
    currency: { ...Currency, description: 'Currency of `amount`. ISO 4217 code in lower case.' },
    earnings: Type.Number({ description: "The commission after refunds, in the program's currency." }),
    status: CommissionStatus,
    held_until: Nullable(
      Type.String({ format: 'date-time', description: 'When a pending commission becomes eligible.' }),
    ),
  },
  { title: 'RecentCommission' },
);

const ReferralPayout = Type.Object(
  { date: Instant, amount: Type.Number(), status: OneOf(['paid', 'failed']) },
  { title: 'ReferralPayout' },
);

const ReferralTerms = Type.Object(
  {
    commission: Nullable(
      Type.Object(
        {
          type: CommissionType,
          rate: Type.Number({
            description:
              "Percent, or major units of the program's currency when `flat`: the referrer's own rate where there is one.",
          }),
          first_sale_only: Type.Boolean(),
          months: Nullable(
            Type.Integer({ description: 'Months of a customer that pay. Null: without end.' }),
          ),
          hold_days: Type.Integer({ description: 'Days until a commission is eligible.' }),
        },
        { title: 'CommissionTerms' },
      ),
    ),
    credits: Nullable(
      Type.Object(
        { kind: Type.String(), signup: Type.Number(), purchase: Type.Number() },
        {
          title: 'CreditTerms',
          description: 'Credits of the referrer for a signup on a free plan, and a purchase.',
        },
      ),
    ),
  },
  {
    title: 'ReferralTerms',
    description:
      'What the referrer earns. `commission` is null where the program pays none, `credits` where it grants none.',
  },
);

export const Stats = Type.Object(
  {
    partner_id: Uuid,
    program_id: Uuid,
    status: EnrollmentStatus,
    referral_link: Url,
    coupons: Type.Array(Type.String(), {
      description:
        'Discount codes of the referrer, newest first, at most 20: an order with one belongs to the referrer.',
    }),
    window: ReferralWindow,
    stats: Type.Object(
      {
        clicks: Count,
        signups: Count,
        purchases: Count,
        conversion_rate: Type.Number({ description: 'Purchases divided by clicks, 0 to 1.' }),
      },
      { title: 'ReferralFigures' },
    ),
    rewards: Type.Object(
      {
        cash: Type.Object(
          { currency: Currency, pending: Major, paid: Major, total: Major },
          { title: 'CashRewards' },
        ),
        credits: Type.Record(Type.String(), CreditBalance, { description: 'By credit kind.' }),
      },
      { title: 'ReferralRewards' },
    ),
    series: Type.Array(ReferralDay, { description: 'One entry for each day of the window.' }),
    reward_mode: RewardMode,
    terms: ReferralTerms,
    affiliate: Type.Object(
      {
        allowed: Type.Boolean({
          description:
            'Whether the program offers affiliate mode: `allow_affiliate_upgrade` with `credit_enabled`. An affiliate can always switch back to referrer mode.',
        }),
        credit_enabled: Type.Boolean({
          description: 'Whether referrers earn credits. If not, the program pays cash in either mode.',
        }),
        min_payout: Major,
        payout_methods: Type.Array(PayoutMethod),
        payout_method: Type.Union([SavedMethod, Type.Null()]),
        payout_held_until: HeldUntil,
        balance: CashBalance,
        recent_commissions: Type.Array(RecentCommission),
        payouts: Type.Array(ReferralPayout),
      },
      { title: 'Affiliate' },
    ),
  },
  { title: 'ReferralStats' },
);
export type Stats = Static<typeof Stats>;
