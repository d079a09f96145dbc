import { type Static, Type } from 'typebox';
import { ENROLLMENT_STATUSES, REWARD_MODES, TIERS } from '../../core/referrals/terms.ts';
import { SavedMethod } from '../referrals/schemas.ts';
import { Body, Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

const FIELDS = {
  partner_id: Uuid,
  program_id: Uuid,
  external_user_id: Type.String(),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  tier: OneOf(TIERS),
  status: OneOf(ENROLLMENT_STATUSES, {
    description: "A suspended referrer's link still redirects and earns nothing, and nothing is paid out.",
  }),
  reward_mode: OneOf(REWARD_MODES),
  payout_method: Type.Union([SavedMethod, Type.Null()]),
  created_at: Instant,
  updated_at: Instant,
};

export const EnrollmentRecord = Type.Object(FIELDS);
export type EnrollmentRecord = Static<typeof EnrollmentRecord>;

const Count = Type.Integer();
const Major = Type.Number({ description: 'Major units.' });

export const EnrollmentWithTotals = Type.Object({
  ...FIELDS,
  referral_link: Nullable(Type.String({ description: 'Null: the link was deleted; enrolling makes one.' })),
  totals: Type.Object(
    {
      clicks: Count,
      signups: Count,
      blocked_signups: Count,
      purchases: Count,
    },
    { description: 'Of all time. Purchases of blocked signups, and while suspended, are none.' },
  ),
  balances: Type.Object(
    {
      cash: Type.Record(Type.String(), Type.Object({ pending: Major, eligible: Major, paid: Major }), {
        description: 'By currency: commission that is held back, that can be paid out, and that was.',
      }),
      credits: Type.Record(
        Type.String(),
        Type.Object({ earned: Type.Number(), delivered: Type.Number(), pending: Type.Number() }),
        { description: 'By kind; `earned` is all, `pending` what is not delivered.' },
      ),
    },
    { description: 'Sums of the entries of the ledger.' },
  ),
});
export type EnrollmentWithTotals = Static<typeof EnrollmentWithTotals>;

export const EnrollmentQuery = Type.Object({
  program_id: Type.Optional(Type.String({ format: 'uuid' })),
  status: Type.Optional(OneOf(ENROLLMENT_STATUSES)),
  reward_mode: Type.Optional(OneOf(REWARD_MODES)),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of `external_user_id`, `email` or `name`, in any case of letters.',
    }),
  ),
  limit: Limit(500, 100),
  cursor: Type.Optional(Type.String({ format: 'uuid', description: "The previous answer's `next_cursor`." })),
});

export const EnrollmentList = Type.Object({
  enrollments: Type.Array(EnrollmentWithTotals),
  next_cursor: Nullable(Type.String()),
});

export const EnrollmentChange = Body({ status: OneOf(ENROLLMENT_STATUSES) });
