import { type Conditions, conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import type { Account, Balance, EntryCause } from './ledger.ts';

/** An entry with what it belongs to. `amount` is minor units of `unit`, or hundredths of credits of that kind. */
export type ListedEntry = {
  id: number;
  program_id: string;
  enrollment_id: string;
  external_user_id: string;
  account: Account;
  unit: string;
  amount: number;
  cause: EntryCause;
  grant_id: number | null;
  commission_id: string | null;
  /** Level of the commission. */
  level: number | null;
  /** Present status of the grant or commission. */
  present_status: string;
  /** The merchant's ids. */
  order_id: string | null;
  refund_id: string | null;
  /** The payout file that the entry was paid with. */
  export_id: string | null;
  created_at: string;
};

/** Null: not filtered. */
export type EntryFilter = {
  programId: string | null;
  enrollmentId: string | null;
  /** The user whose balance it is. */
  externalUserId: string | null;
  accounts: readonly Account[] | null;
  unit: string | null;
  cause: EntryCause | null;
  /** The merchant's id. */
  orderId: string | null;
  /** ISO 8601; `from` inclusive, `to` exclusive. */
  from: string | null;
  to: string | null;
};

/**
 * Returns the entries of a workspace that pass the filter, newest first.
 * @param page.before an entry's id: only older ones
 */
export async function listEntries(
  db: Queryable,
  workspaceId: string,
  filter: EntryFilter,
  page: { before: number | null; limit: number },
): Promise<ListedEntry[]> {
  const conditions = entryConditions(workspaceId, filter);
  conditions.add((p) => `l.id < ${p}`, page.before);
  const { rows } = await db.query<ListedEntry>(
    `SELECT l.id, coalesce(c.program_id, g.program_id) AS program_id, l.enrollment_id, l.external_user_id, l.account, l.unit, l.amount, l.cause, l.grant_id,
       l.commission_id, c.level, coalesce(c.status, g.status) AS present_status, o.order_id, r.refund_id, p.export_id,
       ${isoMicros('l.created_at')} AS created_at
     FROM (SELECT l.* FROM ledger_entries l WHERE l.workspace_id = $1${conditions.text()}
           ORDER BY l.id DESC LIMIT ${conditions.parameter(page.limit)}) AS l
     LEFT JOIN grants g ON g.id = l.grant_id
     LEFT JOIN commissions c ON c.id = l.commission_id
     LEFT JOIN orders o ON o.internal_id = coalesce(c.order_internal_id, g.order_internal_id)
     LEFT JOIN refunds r ON r.id = l.refund_id
     LEFT JOIN payouts p ON p.id = l.payout_id
     ORDER BY l.id DESC`,
    conditions.values,
  );
  return rows;
}

/** The sum and number of all entries of one account and unit. */
export type EntrySum = Balance & { entries: number };

/** Returns the sums of what {@link listEntries} lists with this filter, by unit and account. */
export async function sumEntries(
  db: Queryable,
  workspaceId: string,
  filter: EntryFilter,
): Promise<EntrySum[]> {
  const conditions = entryConditions(workspaceId, filter);
  const { rows } = await db.query<Omit<EntrySum, 'amount'> & { amount: string }>(
    `SELECT l.account, l.unit, sum(l.amount) AS amount, count(*) AS entries FROM ledger_entries l
     WHERE l.workspace_id = $1${conditions.text()} GROUP BY l.account, l.unit ORDER BY l.unit, l.account`,
    conditions.values,
  );
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

function entryConditions(workspaceId: string, filter: EntryFilter): Conditions {
  const conditions = conditionsAfter(workspaceId);
  const { add } = conditions;
  // A referrer may have moved since: an entry's program is that of its reward.
  add(
    (p) => `${p} = coalesce((SELECT program_id FROM commissions WHERE id = l.commission_id),
      (SELECT program_id FROM grants WHERE id = l.grant_id))`,
    filter.programId,
  );
  add((p) => `l.enrollment_id = ${p}`, filter.enrollmentId);
  add((p) => `l.external_user_id = ${p}`, filter.externalUserId);
  add((p) => `l.account = ANY (${p})`, filter.accounts);
  add((p) => `l.unit = ${p}`, filter.unit);
  add((p) => `l.cause = ${p}`, filter.cause);
  add((p) => `l.created_at >= ${p}`, filter.from);
  add((p) => `l.created_at < ${p}`, filter.to);
  add((p) => {
    const order = `(SELECT internal_id FROM orders WHERE workspace_id = $1 AND order_id = ${p})`;
    return `(l.commission_id = ANY (ARRAY(SELECT id FROM commissions WHERE order_internal_id = ${order}))
      OR l.grant_id = ANY (ARRAY(SELECT id FROM grants WHERE order_internal_id = ${order})))`;
  }, filter.orderId);
  return conditions;
}

/** Returns every balance of these users: sums of entries, by user. Users without entries are left out. */
export async function balancesOfUsers(
  db: Queryable,
  workspaceId: string,
  externalUserIds: readonly string[],
): Promise<Map<string, Balance[]>> {
  const { rows } = await db.query<Omit<Balance, 'amount'> & { external_user_id: string; amount: string }>(
    `SELECT external_user_id, account, unit, sum(amount) AS amount FROM ledger_entries
     WHERE workspace_id = $1 AND external_user_id = ANY ($2) GROUP BY external_user_id, account, unit
     ORDER BY unit, account`,
    [workspaceId, externalUserIds],
  );
  const byUser = Map.groupBy(rows, (row) => row.external_user_id);
  return new Map(
    [...byUser].map(([user, balances]) => [
      user,
      balances.map(({ account, unit, amount }) => ({ account, unit, amount: Number(amount) })),
    ]),
  );
}
