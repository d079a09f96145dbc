import { type Static, Type } from 'typebox';
import {
  BLOCK_REASONS,
  ENROLLMENT_STATUSES,
  PAYOUT_METHODS,
  PURCHASE_REASONS,
  REWARD_MODES,
  TIERS,
} from '../../core/referrals/terms.ts';
import { Body, ExternalId, Instant, Nullable, OneOf, Uuid } from '../schemas.ts';

const UserId = ExternalId;
const Email = Type.String({ maxLength: 254 });
const DeviceId = Type.String({ minLength: 1, maxLength: 200, description: 'Used for self-referral checks.' });

export const EnrollBody = Body({
  email: Email,
  external_user_id: UserId,
  tier: OneOf(TIERS, { description: 'Sets the amount of the signup credit.' }),
  program_id: Type.Optional(
    Nullable(
      Type.String({
        format: 'uuid',
        description: 'The most recent programme unless given. A user who is enrolled stays in the first one.',
      }),
    ),
  ),
  name: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  device_id: Type.Optional(Nullable(DeviceId)),
});
export type EnrollBody = Static<typeof EnrollBody>;

export const Enrolled = Type.Object({
  partner_id: Uuid,
  program_id: Uuid,
  referral_link: Type.String(),
  status: OneOf(ENROLLMENT_STATUSES),
});

export const SignupBody = Body({
  new_user_external_user_id: UserId,
  email: Type.Optional(Nullable(Email)),
  device_id: Type.Optional(Nullable(DeviceId)),
  ref_code: Type.Optional(
    Nullable(Type.String({ maxLength: 200, description: "The slug of the referrer's link." })),
  ),
  _vid: Type.Optional(
    Nullable(
      Type.String({
        format: 'uuid',
        description: "The referrer is that of the visitor's most recent referral click.",
      }),
    ),
  ),
  referrer_external_user_id: Type.Optional(Nullable(UserId)),
});
export type SignupBody = Static<typeof SignupBody>;

/** What `report-signup` answers: one of two shapes, so no schema serialises it. */
export const SignupAnswer = Type.Union([
  Type.Object({
    matched: Type.Literal(true),
    program_id: Uuid,
    partner_id: Uuid,
    blocked: Type.Boolean({ description: 'The reward was blocked as self-referral.' }),
    block_reason: Nullable(OneOf(BLOCK_REASONS)),
  }),
  Type.Object({ matched: Type.Literal(false) }),
]);
export type SignupAnswer = Static<typeof SignupAnswer>;

export const PurchaseBody = Body({
  external_user_id: UserId,
  order_id: Type.String({ minLength: 1, maxLength: 200, description: 'The idempotency key.' }),
  amount: Type.Number({ minimum: 0, description: 'Major units; at most 10^12 minor ones.' }),
  currency: Type.Optional(Type.String({ default: 'usd', description: 'ISO 4217 code.' })),
  email: Type.Optional(Nullable(Email)),
  is_renewal: Type.Optional(
    Type.Boolean({ default: false, description: 'Programmes with first-sale-only terms skip renewals.' }),
  ),
  purchased_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'Now unless given.' })),
  ),
});
export type PurchaseBody = Static<typeof PurchaseBody>;

export const PurchaseAnswer = Type.Object({
  matched: Type.Boolean({ description: 'Whether the buyer was referred.' }),
  rewarded: Type.Boolean({ description: 'Whether a commission or credit was written.' }),
  internal_order_id: Type.Integer(),
  ledger_rows: Type.Integer({ description: 'One per level that earned.' }),
  reason: Type.Optional(
    OneOf(PURCHASE_REASONS, { description: 'Present when the referral matched but nothing was written.' }),
  ),
});

export const RefundBody = Body({
  refund_id: Type.String({ minLength: 1, maxLength: 200, description: 'The idempotency key.' }),
  order_id: Type.String({ minLength: 1, maxLength: 200 }),
  amount: Type.Optional(
    Nullable(
      Type.Number({
        exclusiveMinimum: 0,
        description: "Major units of the order's currency; all that is left of the order unless given.",
      }),
    ),
  ),
});
export type RefundBody = Static<typeof RefundBody>;

export const RefundAnswer = Type.Object({
  matched: Type.Boolean(),
  internal_order_id: Nullable(Type.Integer()),
  ledger_rows: Type.Integer(),
});

export const RewardModeBody = Body({ external_user_id: UserId, mode: OneOf(REWARD_MODES) });
export const RewardModeAnswer = Type.Object({
  partner_id: Uuid,
  program_id: Uuid,
  reward_mode: OneOf(REWARD_MODES),
});

export const PayoutMethodBody = Body({
  external_user_id: UserId,
  method: Type.String({ description: 'One that the programme offers: `paypal`, `payoneer` or `wise`.' }),
  email: Type.Optional(Nullable(Email)),
  paypal_email: Type.Optional(Nullable(Type.String({ maxLength: 254, description: 'An alias of `email`.' }))),
});
export type PayoutMethodBody = Static<typeof PayoutMethodBody>;

const Masked = Type.String({ description: 'Masked, such as `j***@example.com`.' });
export const SavedMethod = Type.Object({
  method: OneOf(PAYOUT_METHODS),
  email: Masked,
  paypal_email: Type.Optional(Masked),
});
export type SavedMethod = Static<typeof SavedMethod>;

export const PayoutMethodAnswer = Type.Object({
  partner_id: Uuid,
  program_id: Uuid,
  payout_method: SavedMethod,
  paypal_email: Type.Optional(Masked),
});

export const StatsQuery = Type.Object({
  external_user_id: UserId,
  email: Type.Optional(Type.String({ maxLength: 254, description: 'Recommended: identifies the partner.' })),
  tier: Type.Optional(
    OneOf(TIERS, { description: 'Of a user who is enrolled by this call. Default `free`.' }),
  ),
  days: Type.Integer({ minimum: 7, maximum: 90, default: 30, description: 'UTC days up to today.' }),
  program_id: Type.Optional(Type.String({ format: 'uuid' })),
});
export type StatsQuery = Static<typeof StatsQuery>;

const Count = Type.Integer();
const Major = Type.Number({ description: 'Major units of the programme’s currency.' });

export const Stats = Type.Object({
  partner_id: Uuid,
  program_id: Uuid,
  status: OneOf(ENROLLMENT_STATUSES),
  referral_link: Type.String(),
  window: Type.Object({ from: Instant, to: Instant, days: Type.Integer() }),
  stats: Type.Object({
    clicks: Count,
    signups: Count,
    purchases: Count,
    conversion_rate: Type.Number({ description: 'Purchases by clicks, 0 to 1.' }),
  }),
  rewards: Type.Object({
    cash: Type.Object({ currency: Type.String(), pending: Major, paid: Major, total: Major }),
    credits: Type.Record(
      Type.String(),
      Type.Object({ earned: Type.Number(), delivered: Type.Number(), pending: Type.Number() }),
    ),
  }),
  series: Type.Array(
    Type.Object({
      day: Type.String({ example: '2026-11-20' }),
      clicks: Count,
      signups: Count,
      purchases: Count,
    }),
  ),
  reward_mode: OneOf(REWARD_MODES),
  affiliate: Type.Object({
    allowed: Type.Boolean({
      description:
        'Whether affiliate mode is offered: `allow_affiliate_upgrade` with `credit_enabled`. An affiliate may become a referrer in any case.',
    }),
    credit_enabled: Type.Boolean({
      description: 'Whether referrers earn credits; without, the programme pays cash in either mode.',
    }),
    min_payout: Major,
    payout_methods: Type.Array(OneOf(PAYOUT_METHODS)),
    payout_method: Type.Union([SavedMethod, Type.Null()]),
    balance: Type.Object({ pending: Major, eligible: Major, paid: Major }),
    recent_commissions: Type.Array(
      Type.Object({
        date: Instant,
        type: OneOf(['sale', 'renewal', 'refund']),
        amount: Type.Number({ description: 'Of the order, in its own currency.' }),
        earnings: Type.Number({ description: 'What is left of the commission after refunds.' }),
        status: OneOf(['pending', 'eligible', 'paid', 'reversed']),
      }),
    ),
    payouts: Type.Array(Type.Object({ date: Instant, amount: Type.Number(), status: OneOf(['paid']) })),
  }),
});
export type Stats = Static<typeof Stats>;
