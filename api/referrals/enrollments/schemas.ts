import { type Static, Type } from 'typebox';
import { ENROLLMENT_SORTS } from '../../../core/referrals/enrollment-sorts.ts';
import { ENROLLMENT_STATUSES, REWARD_MODES } from '../../../core/referrals/terms.ts';
import { Bom } from '../../byte-order-mark.ts';
import { ListFormat } from '../../csv-rows.ts';
import {
  Body,
  Email,
  Instant,
  Limit,
  NextNumberCursor,
  NextUuidCursor,
  Nullable,
  NumberCursor,
  OneOf,
  Uuid,
  UuidCursor,
  VisibleText,
} from '../../schemas.ts';
import { CommissionType } from '../commissions/schemas.ts';
import {
  CashBalance,
  CreditBalance,
  EnrollmentStatus,
  HeldUntil,
  RewardMode,
  SavedMethod,
  Tier,
} from '../schemas.ts';

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
  payout_name: Nullable(
    Type.String({
      description: "Name of the payout account's owner in files for Wise. Null: `name`.",
    }),
  ),
  payout_held_until: HeldUntil,
  commission_type: Nullable({
    ...CommissionType,
    description: "The referrer's own type, in place of the program's. Null: the program's.",
  }),
  commission_rate: Nullable(
    Type.Number({ description: "The referrer's own rate, in place of the program's. Null: the program's." }),
  ),
  group_id: Nullable(
    Type.String({ format: 'uuid', description: "The partner group of the referrer's program. Null: none." }),
  ),
  created_at: Instant,
  updated_at: Instant,
};

export const PayoutConfirmation = Body(
  {
    payout_held_until: Nullable(
      Type.String({
        format: 'date-time',
        description: 'As the referrer’s record has it: it changes with each address that a page sets.',
      }),
    ),
  },
  { title: 'PayoutConfirmation' },
);

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
      {
        clicks: Count,
        signups: Count,
        blocked_signups: Count,
        purchases: Count,
        buyers: Type.Integer({ description: 'Different users who made these purchases.' }),
        revenue: Type.Record(Type.String(), Type.Number(), {
          description: 'What the purchases brought less refunds, in major units by currency.',
        }),
        epc: Type.Record(Type.String(), Type.Number(), {
          description:
            'Earnings per click: commission on hold, eligible, and paid, by `clicks`. Major units by currency; empty without clicks.',
        }),
        average_lifetime_value: Type.Record(Type.String(), Type.Number(), {
          description: '`revenue` by `buyers`. Major units by currency; empty without buyers.',
        }),
      },
      {
        description: 'All-time figures, without purchases of blocked signups or during a suspension.',
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
  group_id: Type.Optional(Uuid),
  search: Type.Optional(VisibleText(200, 'Text in `external_user_id`, `email` or `name`, ignoring case.')),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
  sort: OneOf(ENROLLMENT_SORTS, {
    default: 'created',
    description:
      "Amounts are compared in the workspace's currency at the present rates, those without a rate as 0. Any sort but the newest first pages by `offset`.",
  }),
  order: Type.Optional(OneOf(['asc', 'desc'], { description: '`asc` by default for `name`, else `desc`.' })),
  offset: Type.Integer({ minimum: 0, maximum: 100_000, default: 0, description: 'Rows to leave out.' }),
  format: ListFormat,
  bom: Bom,
});
export type EnrollmentQuery = Static<typeof EnrollmentQuery>;

export const EnrollmentList = Type.Object(
  {
    enrollments: Type.Array(EnrollmentWithTotals),
    next_cursor: NextUuidCursor,
    next_offset: Nullable(
      Type.Integer({ description: 'The `offset` of the next page of a sort. Null: none, or `next_cursor`.' }),
    ),
  },
  { title: 'EnrollmentList' },
);

export const EnrollmentChange = Body(
  {
    status: Type.Optional(EnrollmentStatus),
    email: Type.Optional(Nullable(Type.String({ format: 'email', maxLength: 254 }))),
    payout_method: Type.Optional(
      Type.Unsafe<{ method: string; email: string } | null>({
        type: ['object', 'null'],
        title: 'PayoutAddress',
        additionalProperties: false,
        required: ['method', 'email'],
        properties: {
          method: { type: 'string', description: 'A method that the program offers.' },
          email: { type: 'string', format: 'email', maxLength: 254 },
        },
        description: 'The masked address that a GET shows, and null where there is none, change nothing.',
      }),
    ),
    payout_name: Type.Optional(
      Nullable(
        VisibleText(
          200,
          "Full name of the payout account's owner, for files for Wise: two words of two letters or more. Null: `name`.",
        ),
      ),
    ),
    program_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'Moves the referrer and the link to another program, for future signups. Earlier referees stay in theirs.',
      }),
    ),
    commission_type: Type.Optional(
      Nullable({ ...CommissionType, description: 'Together with `commission_rate`.' }),
    ),
    commission_rate: Type.Optional(
      Nullable(
        Type.Number({
          minimum: 0,
          description:
            "An own rate for future sales of level 1, of `commission_type` (the program's by default). Null removes it.",
        }),
      ),
    ),
    group_id: Type.Optional(
      Nullable(
        Type.String({
          format: 'uuid',
          description:
            "A partner group of the referrer's program, for future sales and payouts; a referrer is in one at most. Null: none. Another `program_id` ends the membership.",
        }),
      ),
    ),
  },
  { title: 'UpdateEnrollment' },
);
export type EnrollmentChange = Static<typeof EnrollmentChange>;

const Value = Nullable(
  Type.String({ description: 'Addresses are masked, such as `paypal j***@example.com`.' }),
);

export const EnrollmentHistory = Type.Object(
  {
    history: Type.Array(
      Type.Object(
        {
          at: Instant,
          field: Type.String({
            description:
              'The field that changed: `status`, `reward_mode`, `tier`, `program_id`, `commission_type`, `commission_rate`, `group_id`, `email`, `payout_method` or `payout_name`.',
          }),
          from: Value,
          to: Value,
          by: Type.String({
            description: 'A masked key such as `lk_live_1a2b3c4d_***`, `member <id>`, or `operator`.',
          }),
        },
        { title: 'EnrollmentHistoryEntry' },
      ),
    ),
    next_cursor: NextNumberCursor,
  },
  { title: 'EnrollmentHistory' },
);

export type EnrollmentHistory = Static<typeof EnrollmentHistory>;

export const HistoryQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(NumberCursor) });
