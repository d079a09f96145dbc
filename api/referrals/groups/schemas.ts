import { type Static, Type } from 'typebox';
import {
  Body,
  Currency,
  Instant,
  Limit,
  Name,
  NextUuidCursor,
  Nullable,
  Uuid,
  UuidCursor,
} from '../../schemas.ts';
import { CommissionType } from '../commissions/schemas.ts';

/** Groups of one program. */
export const MOST_GROUPS = 100;

const GroupName = {
  ...Name,
  description: 'Such as `Newsletters`. Unique in the program, ignoring case. Only you see it.',
} as typeof Name;

const FIELDS = {
  commission_type: Type.Optional(
    Nullable({ ...CommissionType, description: 'Together with `commission_rate`.' }),
  ),
  commission_rate: Type.Optional(
    Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000_000,
        description:
          "Of level 1, of `commission_type` (the program's by default). A referrer's own rate comes first. Null: the program's.",
      }),
    ),
  ),
  hold_days: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 3_650,
        description: "Days from the purchase until its commission is eligible. Null: the program's.",
      }),
    ),
  ),
  min_payout: Type.Optional(
    Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000_000,
        description: "Major units of the program's currency. Null: the program's.",
      }),
    ),
  ),
};

export const GroupBody = Body(
  { program_id: Uuid, name: GroupName, ...FIELDS },
  { title: 'CreatePartnerGroup' },
);
export const GroupChange = Body(
  { name: Type.Optional(GroupName), ...FIELDS },
  { title: 'UpdatePartnerGroup' },
);
export type GroupChange = Static<typeof GroupChange>;

export const GroupQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  limit: Limit(200, 50),
  cursor: Type.Optional(UuidCursor),
});

export const GroupRecord = Type.Object(
  {
    id: Uuid,
    program_id: Uuid,
    name: Type.String(),
    commission_type: Nullable(CommissionType),
    commission_rate: Nullable(Type.Number()),
    hold_days: Nullable(Type.Integer()),
    min_payout: Nullable(Type.Number()),
    currency: Currency,
    partners: Type.Integer({ description: 'How many referrers are in it.' }),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: 'PartnerGroup' },
);
export type GroupRecord = Static<typeof GroupRecord>;

export const GroupList = Type.Object(
  { partner_groups: Type.Array(GroupRecord), next_cursor: NextUuidCursor },
  { title: 'PartnerGroupList' },
);
