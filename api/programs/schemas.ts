import { type Static, Type } from 'typebox';
import { CREDIT_LIMIT } from '../../core/referrals/credits.ts';
import { COMMISSION_TYPES, PAYOUT_METHODS, PROGRAM_STATUSES } from '../../core/referrals/terms.ts';
import { Body, Instant, Nullable, OneOf, Uuid } from '../schemas.ts';

const Credits = (description: string) =>
  Type.Number({ minimum: 0, maximum: CREDIT_LIMIT, description: `${description} Up to two decimals.` });

const Rate = Type.Number({ minimum: 0, maximum: 1_000_000_000 });

/** Every field that a create and a change share; all of them have a default or keep their value. */
const FIELDS = {
  code: Type.Optional(
    Type.String({
      description:
        '3 to 40 of `A-Z a-z 0-9 - _`, unique among all short links and pages without regard to case; generated when left out. `{short_url}/<code>` redirects to `destination_url`, in this spelling.',
    }),
  ),
  status: Type.Optional(OneOf(PROGRAM_STATUSES, { description: 'A paused programme rewards nothing.' })),
  credit_enabled: Type.Optional(
    Type.Boolean({
      description:
        'Rewards are credits, and commission for referrers in affiliate mode. Default false: commission.',
    }),
  ),
  credit_kind: Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: 'What a credit is called. Default `credits`.' }),
  ),
  signup_credit: Type.Optional(
    Body({
      free: Type.Optional(Credits('For a referrer of the free tier.')),
      paid: Type.Optional(Credits('For a referrer of the paid tier.')),
    }),
  ),
  purchase_credit: Type.Optional(
    Credits("For a referee's first purchase, or for each when `first_sale_only` is false."),
  ),
  referee_credit: Type.Optional(Credits('For the referee who signs up.')),
  commission_type: Type.Optional(OneOf(COMMISSION_TYPES)),
  commission_rate: Type.Optional({
    ...Rate,
    description: '20 is 20 percent, of at most 100, or 20 major units of `currency` when `flat`.',
  } as typeof Rate),
  first_sale_only: Type.Optional(
    Type.Boolean({
      description:
        "Of a referee's purchases only the first earns that is no renewal and not for nothing; none after it, also when that one was refunded. Default false.",
    }),
  ),
  commission_months: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1_200,
        description:
          "Months from the referee's first purchase in which purchases earn commission; null: for ever.",
      }),
    ),
  ),
  hold_days: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_650,
      description: 'Days from the purchase until its commission is eligible; 0: at once. Default 30.',
    }),
  ),
  levels: Type.Optional(
    Type.Array(Rate, {
      maxItems: 10,
      description:
        'Rates of levels 2 and up, of the same type, of the sale. Level 2 is whoever referred the referrer in the programme.',
    }),
  ),
  allow_affiliate_upgrade: Type.Optional(Type.Boolean()),
  payout_methods: Type.Optional(
    Type.Array(OneOf(PAYOUT_METHODS), {
      uniqueItems: true,
      description: 'Methods that referrers may choose. Default `["paypal"]`.',
    }),
  ),
  min_payout: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000_000, description: 'Major units. Default 0.' }),
  ),
  currency: Type.Optional(
    Type.String({
      description: "ISO 4217 code; the workspace's unless given. Fixed once a commission was earned (409).",
    }),
  ),
};

const Name = Type.String({ minLength: 1, maxLength: 100 });
const DestinationUrl = Type.String({
  format: 'uri',
  description: 'Where codes and referral links lead; `https://`, without `ref` and `_vid` in its query.',
});

export const ProgramBody = Body({ name: Name, destination_url: DestinationUrl, ...FIELDS });
export const ProgramChange = Body({
  name: Type.Optional(Name),
  destination_url: Type.Optional(DestinationUrl),
  ...FIELDS,
});
export type ProgramChange = Static<typeof ProgramChange>;

export const ProgramRecord = Type.Object({
  id: Uuid,
  name: Type.String(),
  code: Type.String(),
  destination_url: Type.String(),
  status: OneOf(PROGRAM_STATUSES),
  credit_enabled: Type.Boolean(),
  credit_kind: Type.String(),
  signup_credit: Type.Object({ free: Type.Number(), paid: Type.Number() }),
  purchase_credit: Type.Number(),
  referee_credit: Type.Number(),
  commission_type: OneOf(COMMISSION_TYPES),
  commission_rate: Type.Number(),
  first_sale_only: Type.Boolean(),
  commission_months: Nullable(Type.Integer()),
  hold_days: Type.Integer(),
  levels: Type.Array(Type.Number()),
  allow_affiliate_upgrade: Type.Boolean(),
  payout_methods: Type.Array(OneOf(PAYOUT_METHODS)),
  min_payout: Type.Number(),
  currency: Type.String(),
  created_at: Instant,
  updated_at: Instant,
});
export type ProgramRecord = Static<typeof ProgramRecord>;

export const ProgramList = Type.Object({ programs: Type.Array(ProgramRecord) });
