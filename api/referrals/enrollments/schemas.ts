import { type Static, Type } from 'typebox';
import { ENROLLMENT_STATUSES, REWARD_MODES } from '../../../core/referrals/terms.ts';
import {
  Body,
  Email,
  Instant,
  Limit,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
} from '../../schemas.ts';
import { CashBalance, CreditBalance, EnrollmentStatus, RewardMode, SavedMethod, Tier } from '../schemas.ts';

const FIELDS = {
  partner_id: Uuid,
  program_id: Uuid,
  external_user_id: Type.String(),
  email: Nullable(Email),
  name: Nullable(Type.String()),
  tier: Tier,
  status: EnrollmentStatus,
  reward_mode: RewardMode,
  payout_method: Type.Union([SavedMethod, Type.Null()]),
  created_at: Instant,
  updated_at: Instant,
};

export const EnrollmentRecord = Type.Object(FIELDS, { title: 'Enrollment' });
export type EnrollmentRecord = Static<typeof EnrollmentRecord>;

const Count = Type.Integer();
export const EnrollmentWithTotals = Type.Object(
  {
    ...FIELDS,
    referral_link: Nullable(
      Type.String({
        format: 'uri',
        description: 'Null if the link was deleted; enrolling the user again creates one.',
      }),
    ),
    totals: Type.Object(
      { clicks: Count, signups: Count, blocked_signups: Count, purchases: Count },
      {
        description: 'All-time counts, without purchases of blocked signups or during a suspension.',
      },
    ),
    balances: Type.Object(
      {
        cash: Type.Record(Type.String(), CashBalance, { description: 'By currency.' }),
        credits: Type.Record(Type.String(), CreditBalance, { description: 'By credit kind.' }),
      },
      { description: 'Sums of the ledger entries.' },
    ),
  },
  { title: 'EnrollmentWithTotals' },
);
export type EnrollmentWithTotals = Static<typeof EnrollmentWithTotals>;

export const EnrollmentQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  status: Type.Optional(OneOf(ENROLLMENT_STATUSES)),
  reward_mode: Type.Optional(OneOf(REWARD_MODES)),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Text in `external_user_id`, `email` or `name`, ignoring case.',
    }),
  ),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
});

export const EnrollmentList = Type.Object(
  { enrollments: Type.Array(EnrollmentWithTotals), next_cursor: NextUuidCursor },
  { title: 'EnrollmentList' },
);

export const EnrollmentChange = Body({ status: EnrollmentStatus }, { title: 'UpdateEnrollment' });
