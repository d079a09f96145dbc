import { type Static, Type } from 'typebox';
import { ENTRY_CAUSES } from '../../sql/referrals/ledger.ts';
import { Instant, Limit, Nullable, OneOf, Uuid, WINDOW_PARAMETERS } from '../schemas.ts';
import { KINDS, STATUSES } from './places.ts';

const Kind = OneOf(KINDS, { description: '`commission` is money, `credit` is not.' });
const Status = OneOf(STATUSES, {
  description:
    'Where the amount stands: commission is `pending`, `eligible` or `paid`, credits are `earned` (and not delivered) or `delivered`.',
});
const Cause = OneOf(ENTRY_CAUSES, {
  description:
    'What wrote it: `sale` (commission), `hold_over` (its hold period ended), `payout`, `refund`; `signup`, `referee` and `purchase` (credits), `delivery`.',
});
const Text = Nullable(Type.String());

const UNIT = {
  currency: Nullable(Type.String({ description: 'Of commission.' })),
  credit_kind: Nullable(Type.String({ description: 'Of credits.' })),
};

export const LedgerEntry = Type.Object({
  id: Type.Integer(),
  created_at: Instant,
  kind: Kind,
  status: Status,
  cause: Cause,
  amount: Type.Number({
    description: 'Major units of `currency`, or credits; below 0 where it leaves the status.',
  }),
  ...UNIT,
  external_user_id: Type.String({ description: 'Whose balance it changes.' }),
  partner_id: Type.String({ description: "The referrer, also of a referee's credit." }),
  program_id: Uuid,
  commission_id: Text,
  grant_id: Nullable(Type.Integer()),
  level: Nullable(Type.Integer({ description: 'Of the commission: 1 is who referred the buyer.' })),
  present_status: OneOf(['pending', 'eligible', 'paid', 'reversed', 'earned', 'delivered', 'revoked'], {
    description: 'Of the commission or grant, as it is now.',
  }),
  order_id: Text,
  refund_id: Text,
  export_id: Nullable(Type.String({ description: 'The payout file with which it was paid.' })),
});
export type LedgerEntry = Static<typeof LedgerEntry>;

const ENTRY_FILTER = {
  program_id: Type.Optional(Type.String({ format: 'uuid' })),
  partner_id: Type.Optional(
    Type.String({ format: 'uuid', description: "Of this referrer, with the referees' credits." }),
  ),
  external_user_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Of the balance of this user.' }),
  ),
  kind: Type.Optional(Kind),
  status: Type.Optional(Status),
  cause: Type.Optional(Cause),
  currency: Type.Optional(Type.String({ description: 'ISO 4217 code: commission in it.' })),
  credit_kind: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'Credits of it.' })),
  order_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  ...WINDOW_PARAMETERS,
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'Days back from `to`; every entry unless given.' }),
  ),
};

export const EntryFilterQuery = Type.Object(ENTRY_FILTER);
export type EntryFilterQuery = Static<typeof EntryFilterQuery>;

export const LedgerQuery = Type.Object({
  ...ENTRY_FILTER,
  limit: Limit(500, 100),
  cursor: Type.Optional(Type.Integer({ minimum: 1, description: "The previous answer's `next_cursor`." })),
});

export const Ledger = Type.Object({
  entries: Type.Array(LedgerEntry),
  next_cursor: Nullable(Type.Integer()),
});

export const LedgerBalance = Type.Object({
  kind: Kind,
  status: Status,
  ...UNIT,
  amount: Type.Number({ description: 'Major units of `currency`, or credits.' }),
  entries: Type.Integer(),
});

export const LedgerBalances = Type.Object({ balances: Type.Array(LedgerBalance) });
