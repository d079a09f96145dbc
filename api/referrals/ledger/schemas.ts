import { type Static, Type } from 'typebox';
import { COMMISSION_STATUSES } from '../../../core/referrals/terms.ts';
import { GRANT_STATUSES } from '../../../sql/referrals/grants.ts';
import { ENTRY_CAUSES } from '../../../sql/referrals/ledger.ts';
import {
  Currency,
  CurrencyInput,
  ExternalUserId,
  Instant,
  Limit,
  NextNumberCursor,
  Nullable,
  NumberCursor,
  OneOf,
  OrderId,
  Uuid,
  VisibleText,
  WINDOW_PARAMETERS,
} from '../../schemas.ts';
import { KINDS, STATUSES } from './places.ts';

const Kind = OneOf(KINDS, {
  title: 'LedgerKind',
  description: '`commission` is money, `credit` is not.',
});
const Status = OneOf(STATUSES, {
  title: 'LedgerStatus',
  description:
    'The account of the entry. Commission is `pending`, `eligible` or `paid`; credits are `earned` (not delivered yet) or `delivered`.',
});
const Cause = OneOf(ENTRY_CAUSES, {
  title: 'LedgerCause',
  description:
    'Why the entry was written: `sale` (commission), `manual` (bonus or claw-back), `hold_over` (end of the hold period), `payout`, `payout_failed`, `refund`, `rejection`; for credits `signup`, `referee`, `purchase`, `delivery` or `revocation`.',
});
const Text = Nullable(Type.String());

const UNIT = {
  currency: Nullable({ ...Currency, description: 'Currency of a commission, else null.' }),
  credit_kind: Nullable(Type.String({ description: 'Kind of a credit, else null.' })),
};

export const LedgerEntry = Type.Object(
  {
    id: Type.Integer(),
    created_at: Instant,
    kind: Kind,
    status: Status,
    cause: Cause,
    amount: Type.Number({
      description:
        'Major units of `currency`, or a number of credits. Negative where the amount leaves `status`.',
    }),
    ...UNIT,
    external_user_id: Type.String({ description: 'The user whose balance changes.' }),
    partner_id: Type.String({
      format: 'uuid',
      description: "The referrer, also for the referee's own credit.",
    }),
    program_id: Uuid,
    commission_id: Nullable(Uuid),
    grant_id: Nullable(Type.Integer()),
    level: Nullable(
      Type.Integer({ description: 'Commission level: 1 is the direct referrer of the buyer.' }),
    ),
    present_status: OneOf([...COMMISSION_STATUSES, ...GRANT_STATUSES], {
      description: 'Current status of the commission or grant.',
    }),
    order_id: Text,
    refund_id: Text,
    export_id: Nullable(
      Type.String({ format: 'uuid', description: 'The payout file that paid the commission.' }),
    ),
  },
  { title: 'LedgerEntry' },
);
export type LedgerEntry = Static<typeof LedgerEntry>;

const ENTRY_FILTER = {
  program_id: Type.Optional(Uuid),
  partner_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Entries of this referrer, including the credits of their referees.',
    }),
  ),
  external_user_id: Type.Optional(
    Type.String({ ...ExternalUserId, description: "Entries that change this user's balance." }),
  ),
  kind: Type.Optional(Kind),
  status: Type.Optional(Status),
  cause: Type.Optional(Cause),
  currency: Type.Optional({
    ...CurrencyInput,
    description: 'Commission in this currency (ISO 4217 code).',
  }),
  credit_kind: Type.Optional(VisibleText(40, 'Credits of this kind.')),
  order_id: Type.Optional(OrderId),
  ...WINDOW_PARAMETERS,
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description: 'Length of the window in days, back from `to`. All entries by default.',
    }),
  ),
};

export const EntryFilterQuery = Type.Object(ENTRY_FILTER);
export type EntryFilterQuery = Static<typeof EntryFilterQuery>;

export const LedgerQuery = Type.Object({
  ...ENTRY_FILTER,
  limit: Limit(500, 100),
  cursor: Type.Optional(NumberCursor),
});

export const Ledger = Type.Object(
  { entries: Type.Array(LedgerEntry), next_cursor: NextNumberCursor },
  { title: 'LedgerEntryList' },
);

const LedgerBalance = Type.Object(
  {
    kind: Kind,
    status: Status,
    ...UNIT,
    amount: Type.Number({ description: 'Major units of `currency`, or a number of credits.' }),
    entries: Type.Integer({ description: 'Number of entries in the sum.' }),
  },
  { title: 'LedgerBalance' },
);

export const LedgerBalances = Type.Object(
  { balances: Type.Array(LedgerBalance) },
  { title: 'LedgerBalances' },
);
