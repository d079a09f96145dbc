import { assertInvariant } from '../../core/invariants.ts';
import type { Queryable } from '../database/pool.ts';

export type CashAccount = 'cash_pending' | 'cash_eligible' | 'cash_paid';
export type CreditAccount = 'credit_earned' | 'credit_delivered';
export type Account = CashAccount | CreditAccount;

export const ENTRY_CAUSES = [
  'signup',
  'referee',
  'purchase',
  'delivery',
  'revocation',
  'sale',
  'manual',
  'imported',
  'hold_over',
  'refund',
  'correction',
  'rejection',
  'payout',
  'payout_failed',
] as const;
export type EntryCause = (typeof ENTRY_CAUSES)[number];

/** One entry. `amount` is minor units of the currency `unit`, or hundredths of credits of the kind `unit`. */
export type Entry = {
  enrollmentId: string;
  /** The user whose balance it is. */
  externalUserId: string;
  account: Account;
  unit: string;
  amount: number;
  cause: EntryCause;
  refundId?: string;
  payoutId?: string;
} & ({ grantId: number; commissionId?: never } | { commissionId: string; grantId?: never });

/** Causes that move an amount between accounts: their entries sum to zero. */
const MOVES: ReadonlySet<EntryCause> = new Set(['delivery', 'hold_over', 'payout', 'payout_failed']);

/** Appends entries. The database refuses to change or delete one. */
export async function appendEntries(
  tx: Queryable,
  workspaceId: string,
  entries: readonly Entry[],
  now: Date,
): Promise<void> {
  if (entries.length === 0) return;
  const moved = entries.reduce((sum, { cause, amount }) => (MOVES.has(cause) ? sum + amount : sum), 0);
  assertInvariant(
    'moves_sum_to_zero',
    moved === 0,
    () => `${entries.length} entries of ${workspaceId} move ${moved}`,
  );
  await tx.query(
    `INSERT INTO ledger_entries (workspace_id, created_at, enrollment_id, external_user_id, account, unit, amount,
       cause, grant_id, commission_id, refund_id, payout_id)
     SELECT $1, $2, entry.* FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
       $9::bigint[], $10::uuid[], $11::uuid[], $12::uuid[]) AS entry`,
    [
      workspaceId,
      now,
      entries.map((entry) => entry.enrollmentId),
      entries.map((entry) => entry.externalUserId),
      entries.map((entry) => entry.account),
      entries.map((entry) => entry.unit),
      entries.map((entry) => entry.amount),
      entries.map((entry) => entry.cause),
      entries.map((entry) => entry.grantId ?? null),
      entries.map((entry) => entry.commissionId ?? null),
      entries.map((entry) => entry.refundId ?? null),
      entries.map((entry) => entry.payoutId ?? null),
    ],
  );
}

/** The sum of a user's entries in one account and unit. */
export type Balance = { account: Account; unit: string; amount: number };

/** Returns every balance of a user: sums of entries, never anything else. */
export async function balancesOf(
  db: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<Balance[]> {
  const { rows } = await db.query<{ account: Account; unit: string; amount: string }>(
    `SELECT account, unit, sum(amount) AS amount FROM ledger_entries
     WHERE workspace_id = $1 AND external_user_id = $2 GROUP BY account, unit ORDER BY unit, account`,
    [workspaceId, externalUserId],
  );
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}
