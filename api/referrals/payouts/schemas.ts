import { type Static, Type } from 'typebox';
import {
  HELD_BACK,
  PAYOUT_FORMATS,
  PAYOUT_LINE_STATUSES,
  PAYOUT_STATUSES,
} from '../../../core/referrals/terms.ts';
import { Bom } from '../../byte-order-mark.ts';
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
  VisibleText,
} from '../../schemas.ts';
import { HeldUntil, PayoutMethod, SavedMethod } from '../schemas.ts';

export const Totals = Type.Record(Type.String(), Type.Number(), {
  title: 'MoneyTotals',
  description: 'Major units by currency.',
});

export const PayoutStatus = OneOf(PAYOUT_STATUSES, {
  title: 'PayoutStatus',
  description: '`paid`: no line can be paid any more, and at least one was, or the file has none.',
});

const PayoutFormat = OneOf(PAYOUT_FORMATS, { title: 'PayoutFormat' });

const FILE = {
  id: Uuid,
  export_id: Type.String({ format: 'uuid', description: 'The same as `id`.' }),
  program_id: Nullable(Type.String({ format: 'uuid', description: 'Null: all programs.' })),
  format: PayoutFormat,
  status: PayoutStatus,
  referrers: Type.Integer({ description: 'Number of lines of the file.' }),
  totals: Totals,
  ledger_head: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'Hash of the last ledger entry when the file was created. `hoplog ledger export` prints the hash of every entry.',
  }),
  created_at: Instant,
  paid_at: Nullable(Type.String({ format: 'date-time', description: 'Null: not paid.' })),
  canceled_at: Nullable(Type.String({ format: 'date-time', description: 'Null: not canceled.' })),
};

export const PayoutFile = Type.Object(FILE, { title: 'Payout' });
export type PayoutFile = Static<typeof PayoutFile>;

export const PayoutQuery = Type.Object({
  paid: Type.Optional(
    Type.Boolean({ description: 'Only files marked paid, or only the others. All by default.' }),
  ),
  status: Type.Optional(PayoutStatus),
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
  until: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Only sales and bonuses before this time; a date is midnight UTC. Refunds and claw-backs always count.',
    }),
  ),
  method: Type.Optional(PayoutMethod),
  format: OneOf(PAYOUT_FORMATS, {
    default: 'csv',
    description:
      '`paypal` and `wise` are files that these services take, of referrers with that method (another `method` is a 400) and of one currency; at most 5,000 and 1,000 lines. Balances beyond that wait for the next file. PayPal takes no decimals in HUF, JPY, and TWD: a line is rounded down, and the rest stays in the balance. Wise needs a name of two words: see `payout_name` of an enrollment.',
  }),
  include_open: Type.Boolean({
    default: false,
    description:
      'Whether the file also pays what is in an open file of the same format and program. Pay one of the two only.',
  }),
  bom: Bom,
});

export const PaidBody = Body(
  {
    export_id: Type.String({ format: 'uuid', description: 'The `x-export-id` header of the file.' }),
    partner_ids: Type.Optional(
      Nullable(
        Type.Array(Uuid, {
          minItems: 1,
          maxItems: 5_000,
          description: 'Pays the lines of these referrers only. All that are open by default.',
        }),
      ),
    ),
  },
  { title: 'MarkPayoutPaid' },
);

export const Paid = Type.Object(
  {
    paid: Type.Integer({
      description: 'Number of paid lines, of the file or of `partner_ids`, earlier calls included.',
    }),
    totals: Totals,
  },
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

export const PayoutLine = Type.Object(
  {
    ...LINE,
    method: PayoutMethod,
    payout_method: Type.Union([SavedMethod, Type.Null()], {
      description: 'Where the file sends the amount, masked. Null: the referrer was deleted.',
    }),
    status: OneOf(PAYOUT_LINE_STATUSES, {
      title: 'PayoutLineStatus',
      description: '`failed`: the payment came back, and its commissions are eligible again.',
    }),
    paid_amount: Nullable(
      Type.Number({
        description:
          'What the line paid. Less than `amount` where another file paid some of its commissions, or they were rejected; 0 where other files paid all. Null: not paid.',
      }),
    ),
    fail_reason: Nullable(Type.String()),
    paid_at: Nullable(Type.String({ format: 'date-time' })),
    failed_at: Nullable(Type.String({ format: 'date-time' })),
    retried_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'Since when later files may pay the same address again. Null: not retried.',
      }),
    ),
  },
  { title: 'PayoutLine' },
);
export type PayoutLine = Static<typeof PayoutLine>;

export const PayoutLines = Type.Object(
  { lines: Type.Array(PayoutLine), next_cursor: NextUuidCursor },
  { title: 'PayoutLineList' },
);

export const PayoutWithLines = Type.Object(
  { ...FILE, lines: Type.Array(PayoutLine), next_cursor: NextUuidCursor },
  { title: 'PayoutWithLines' },
);

export type PayoutWithLines = Static<typeof PayoutWithLines>;

export const FailBody = Body({ reason: VisibleText(500) }, { title: 'FailPayoutLine' });
export const LineParams = Type.Object({ id: Uuid, partner_id: Uuid });

export const PayoutLinesQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(UuidCursor) });

export const EligibleBalance = Type.Object(
  {
    ...LINE,
    program_id: Uuid,
    in_open_files: Type.Number({
      description: 'The part of `amount` that is in open files of the format and program, in major units.',
    }),
    payout_method: Type.Union([SavedMethod, Type.Null()]),
    min_payout: Type.Number({ description: 'Minimum payout of the program, in major units of `currency`.' }),
    held_back: Nullable(
      OneOf(HELD_BACK, {
        title: 'HeldBack',
        description:
          'Why a file created now would not pay the balance, else null. `in_open_file`: an open file of the same format and program pays it. `negative`: refunds exceed the commission left. `below_one_unit`: PayPal takes no decimals in the currency, and the balance is less than 1. `payout_method_changed`: a page changed the address less than `payout_hold_days` ago. `payout_failed`: a payment to this address came back. `payout_name`: Wise takes no such name; set `payout_name` of the enrollment.',
      }),
    ),
    payout_held_until: HeldUntil,
  },
  { title: 'EligibleBalance' },
);
export type EligibleBalance = Static<typeof EligibleBalance>;

export const EligibleQuery = Type.Object({
  format: OneOf(PAYOUT_FORMATS, {
    default: 'csv',
    description: 'The format of the file. `paypal` and `wise`: only referrers with that method.',
  }),
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
