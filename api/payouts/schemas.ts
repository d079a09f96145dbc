import { type Static, Type } from 'typebox';
import { PAYOUT_METHODS } from '../../core/referrals/terms.ts';
import { SavedMethod } from '../referrals/schemas.ts';
import { Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

export const Totals = Type.Record(Type.String(), Type.Number(), {
  description: 'Major units by currency.',
  example: { usd: 120.5 },
});

export const PayoutFile = Type.Object({
  export_id: Uuid,
  program_id: Nullable(Type.String({ description: 'Null: of every programme.' })),
  referrers: Type.Integer({ description: 'Lines of the file.' }),
  totals: Totals,
  created_at: Instant,
  paid_at: Nullable(Type.String({ format: 'date-time', description: 'Null: not marked paid.' })),
});

const Cursor = Type.Optional(
  Type.String({ format: 'uuid', description: "The previous answer's `next_cursor`." }),
);

export const PayoutQuery = Type.Object({
  paid: Type.Optional(Type.Boolean({ description: 'Files that were marked paid, or the others.' })),
  limit: Limit(500, 100),
  cursor: Cursor,
});

export const PayoutList = Type.Object({
  payouts: Type.Array(PayoutFile),
  next_cursor: Nullable(Type.String()),
});

const LINE = {
  partner_id: Uuid,
  external_user_id: Type.String(),
  name: Nullable(Type.String()),
  amount: Type.Number({ description: 'Major units of `currency`.' }),
  currency: Type.String(),
  commissions: Type.Integer(),
};

export const PayoutLines = Type.Object({
  lines: Type.Array(Type.Object({ ...LINE, method: Nullable(OneOf(PAYOUT_METHODS)) })),
  next_cursor: Nullable(Type.String()),
});

export const PayoutLinesQuery = Type.Object({ limit: Limit(500, 100), cursor: Cursor });

/** Why an eligible balance would not stand in a payout file. */
export const HELD_BACK = ['suspended', 'below_minimum', 'negative'] as const;

export const EligibleBalance = Type.Object({
  ...LINE,
  program_id: Uuid,
  payout_method: Type.Union([SavedMethod, Type.Null()]),
  min_payout: Type.Number({ description: 'Of the programme; major units of `currency`.' }),
  held_back: Nullable(
    OneOf(HELD_BACK, {
      description: 'Null: a file made now would pay it. `negative`: refunds took back what had been paid.',
    }),
  ),
});
export type EligibleBalance = Static<typeof EligibleBalance>;

export const EligibleQuery = Type.Object({
  program_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Every programme of the workspace unless given.' }),
  ),
  limit: Limit(500, 100),
  cursor: Cursor,
});

export const Eligible = Type.Object({
  referrers: Type.Integer({ description: 'Whom a file made now would pay.' }),
  totals: Totals,
  balances: Type.Array(EligibleBalance),
  next_cursor: Nullable(Type.String()),
});
