import { type Static, Type } from 'typebox';
import {
  Body,
  Currency,
  Instant,
  Limit,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
} from '../../schemas.ts';
import { PayoutMethod, SavedMethod } from '../schemas.ts';

export const Totals = Type.Record(Type.String(), Type.Number(), {
  title: 'MoneyTotals',
  description: 'Major units by currency.',
});

export const PayoutFile = Type.Object(
  {
    export_id: Uuid,
    program_id: Nullable(Type.String({ format: 'uuid', description: 'Null: all programs.' })),
    referrers: Type.Integer({ description: 'Number of lines of the file.' }),
    totals: Totals,
    created_at: Instant,
    paid_at: Nullable(Type.String({ format: 'date-time', description: 'Null: not marked paid.' })),
  },
  { title: 'Payout' },
);

export const PayoutQuery = Type.Object({
  paid: Type.Optional(
    Type.Boolean({ description: 'Only files marked paid, or only the others. All by default.' }),
  ),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
});

export const PayoutList = Type.Object(
  { payouts: Type.Array(PayoutFile), next_cursor: NextUuidCursor },
  { title: 'PayoutList' },
);

export const PayoutExportQuery = Type.Object({
  program_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'All programs of the workspace by default.' }),
  ),
});

export const PaidBody = Body(
  { export_id: Type.String({ format: 'uuid', description: 'The `x-export-id` header of the file.' }) },
  { title: 'MarkPayoutPaid' },
);

export const Paid = Type.Object(
  { paid: Type.Integer({ description: 'Number of referrers paid.' }), totals: Totals },
  { title: 'PaidPayout' },
);

const LINE = {
  partner_id: Uuid,
  external_user_id: Type.String(),
  name: Nullable(Type.String()),
  amount: Type.Number({ description: 'Major units of `currency`.' }),
  currency: Currency,
  commissions: Type.Integer({ description: 'Number of commissions in the amount.' }),
};

const PayoutLine = Type.Object({ ...LINE, method: Nullable(PayoutMethod) }, { title: 'PayoutLine' });

export const PayoutLines = Type.Object(
  { lines: Type.Array(PayoutLine), next_cursor: NextUuidCursor },
  { title: 'PayoutLineList' },
);

export const PayoutLinesQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(UuidCursor) });

/** Why an eligible balance would not be in a payout file. */
export const HELD_BACK = ['suspended', 'below_minimum', 'negative'] as const;

export const EligibleBalance = Type.Object(
  {
    ...LINE,
    program_id: Uuid,
    payout_method: Type.Union([SavedMethod, Type.Null()]),
    min_payout: Type.Number({ description: 'Minimum payout of the program, in major units of `currency`.' }),
    held_back: Nullable(
      OneOf(HELD_BACK, {
        title: 'HeldBack',
        description:
          'Why a file created now would not pay the balance, else null. `negative`: refunds exceed the commission left.',
      }),
    ),
  },
  { title: 'EligibleBalance' },
);
export type EligibleBalance = Static<typeof EligibleBalance>;

export const EligibleQuery = Type.Object({
  program_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'All programs of the workspace by default.' }),
  ),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
});

export const Eligible = Type.Object(
  {
    referrers: Type.Integer({ description: 'Number of referrers that a file created now would pay.' }),
    totals: Totals,
    balances: Type.Array(EligibleBalance),
    next_cursor: NextUuidCursor,
  },
  { title: 'EligibleBalanceList' },
);
