import { type Static, Type } from 'typebox';
import { COMMISSION_STATUSES, COMMISSION_TYPES } from '../../../core/referrals/terms.ts';
import { Bom } from '../../byte-order-mark.ts';
import { ListFormat } from '../../csv-rows.ts';
import {
  Body,
  Currency,
  ExternalUserId,
  Instant,
  Limit,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
  VisibleText,
} from '../../schemas.ts';
import { REFERRER_NAMES } from '../referrer-names.ts';

export const CommissionStatus = OneOf(COMMISSION_STATUSES, {
  title: 'CommissionStatus',
  description:
    '`pending` in its hold period, then `eligible`, then `paid`; `reversed` by refunds, `rejected` by the merchant.',
});

export const CommissionType = OneOf(COMMISSION_TYPES, { title: 'CommissionType' });

/** The fields of a commission that its events show too. */
export const COMMISSION_FIELDS = {
  id: Uuid,
  program_id: Uuid,
  partner_id: Type.String({ format: 'uuid', description: 'The referrer.' }),
  order_id: Nullable(
    Type.String({ description: 'Null for a bonus, a claw-back, or an imported commission.' }),
  ),
  level: Nullable(
    Type.Integer({
      description:
        '1 is the direct referrer of the buyer. Null for a bonus, a claw-back, or an imported commission.',
    }),
  ),
  amount: Type.Number({
    description: 'As earned, in major units of `currency`. Negative for a refund or claw-back.',
  }),
  remaining: Type.Number({ description: 'What is left of it after refunds, in major units.' }),
  currency: Currency,
  status: CommissionStatus,
  created_at: Instant,
};

export const CommissionRecord = Type.Object(
  {
    ...COMMISSION_FIELDS,
    external_user_id: ExternalUserId,
    ...REFERRER_NAMES,
    kind: OneOf(['sale', 'refund', 'correction', 'manual', 'imported'], {
      title: 'CommissionKind',
      description:
        '`refund` and `correction` reverse a paid commission: the order was refunded, or another referrer brought the buyer. A positive one gives back what another took. A `correction` is also the difference when a provider tells another amount of the order. `manual` is a bonus, or a claw-back when negative. `imported` was earned and not paid at an earlier referral program.',
    }),
    held_until: Nullable(
      Type.String({ format: 'date-time', description: 'When a pending commission becomes eligible.' }),
    ),
    note: Nullable(Type.String({ description: 'The note of a bonus or claw-back.' })),
  },
  { title: 'CommissionRecord' },
);
export type CommissionRecord = Static<typeof CommissionRecord>;

export const CommissionQuery = Type.Object({
  partner_id: Type.Optional(Uuid),
  program_id: Type.Optional(Uuid),
  status: Type.Optional(CommissionStatus),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
  format: ListFormat,
  bom: Bom,
});

export const CommissionList = Type.Object(
  { commissions: Type.Array(CommissionRecord), next_cursor: NextUuidCursor },
  { title: 'CommissionList' },
);

export const CommissionBody = Body(
  {
    external_user_id: ExternalUserId,
    program_id: Type.Optional(
      Nullable(Type.String({ format: 'uuid', description: "The referrer's program; another is a 400." })),
    ),
    amount: Type.Number({
      description:
        "Major units of the program's currency: positive for a bonus, negative for a claw-back. At most 10^12 minor units either way.",
    }),
    note: VisibleText(500),
  },
  { title: 'CreateCommission' },
);
export type CommissionBody = Static<typeof CommissionBody>;
