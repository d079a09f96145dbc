import type { ReplayedCommission, ReplayedEntry, ReplayedGrant } from '../../core/referrals/ledger-replay.ts';
import type { Queryable } from '../database/pool.ts';

/** Rewards in one page. */
const PAGE = 1_000;

type Owned = { enrollment_id: string };

/** Yields the commissions of a workspace, each with its entries in their order. */
export async function* readCommissions(
  db: Queryable,
  workspaceId: string,
): AsyncGenerator<(ReplayedCommission & Owned & { entries: ReplayedEntry[] })[]> {
  for (let after: string | null = null; ; ) {
    const { rows }: { rows: (ReplayedCommission & Owned)[] } = await db.query<ReplayedCommission & Owned>(
      `SELECT c.id, c.enrollment_id, e.external_user_id, c.kind, c.status, c.currency, c.amount_minor,
         (SELECT amount_minor FROM purchases p WHERE p.order_internal_id = c.order_internal_id) AS sold_minor,
         (SELECT coalesce(sum(amount_minor), 0) FROM refunds r WHERE r.order_internal_id = c.order_internal_id)::bigint
           AS refunded_minor,
         (SELECT coalesce(-sum(amount_minor), 0) FROM commissions n WHERE n.refunds = c.id AND n.kind = 'refund')::bigint
           AS refunded_elsewhere_minor,
         (SELECT coalesce(-sum(amount_minor), 0) FROM commissions n WHERE n.refunds = c.id AND n.kind = 'correction'
            AND NOT n.of_amount)::bigint AS corrected_elsewhere_minor,
         (SELECT coalesce(sum(amount_minor), 0) FROM commissions n WHERE n.refunds = c.id AND n.of_amount)::bigint
           AS changed_elsewhere_minor
       FROM commissions c JOIN enrollments e ON e.id = c.enrollment_id
       WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.id > $2) ORDER BY c.id LIMIT $3`,
      [workspaceId, after, PAGE],
    );
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    const entries = await entriesOf(
      db,
      'commission_id',
      rows.map(({ id }) => id),
    );
    yield rows.map((row) => ({ ...row, entries: entries.get(row.id) ?? [] }));
  }
}

/** Yields the credit grants of a workspace, each with its entries in their order. */
export async function* readGrants(
  db: Queryable,
  workspaceId: string,
): AsyncGenerator<(ReplayedGrant & Owned & { entries: ReplayedEntry[] })[]> {
  for (let after = 0; ; ) {
    const { rows } = await db.query<ReplayedGrant & Owned>(
      `SELECT id, enrollment_id, external_user_id, cause, status, credit_kind, amount, earned_at IS NULL AS never_earned
       FROM grants WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
      [workspaceId, after, PAGE],
    );
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    const entries = await entriesOf(
      db,
      'grant_id',
      rows.map(({ id }) => id),
    );
    yield rows.map((row) => ({ ...row, entries: entries.get(String(row.id)) ?? [] }));
  }
}

async function entriesOf(
  db: Queryable,
  column: 'commission_id' | 'grant_id',
  ids: readonly (string | number)[],
): Promise<Map<string, ReplayedEntry[]>> {
  const { rows } = await db.query<ReplayedEntry & { owner: string }>(
    `SELECT ${column}::text AS owner, id, external_user_id, account, unit, amount, cause FROM ledger_entries
     WHERE ${column} = ANY ($1) ORDER BY id`,
    [ids],
  );
  return Map.groupBy(rows, ({ owner }) => owner);
}

/** A line of a payout file whose entries are not what it paid. Minor units. */
export type WrongPayout = { id: string; external_user_id: string; expected: number; found: number };

/** Returns the lines of payout files whose entries are not what they paid; a failed line has given all back. */
export async function wrongPayouts(db: Queryable, workspaceId: string): Promise<WrongPayout[]> {
  const { rows } = await db.query<WrongPayout>(
    `SELECT * FROM (
       SELECT p.id, e.external_user_id, CASE WHEN p.status = 'paid' THEN p.paid_minor ELSE 0 END AS expected,
         (SELECT coalesce(sum(amount), 0) FROM ledger_entries l WHERE l.payout_id = p.id AND account = 'cash_paid')::bigint
           AS found
       FROM payouts p JOIN enrollments e ON e.id = p.enrollment_id WHERE p.workspace_id = $1) AS line
     WHERE expected <> found ORDER BY id`,
    [workspaceId],
  );
  return rows;
}

/** Returns every balance of a workspace: sums of entries, by user, account and unit. */
export async function sumsByUser(
  db: Queryable,
  workspaceId: string,
): Promise<{ external_user_id: string; account: string; unit: string; amount: string }[]> {
  const { rows } = await db.query<{
    external_user_id: string;
    account: string;
    unit: string;
    amount: string;
  }>(
    `SELECT external_user_id, account, unit, sum(amount) AS amount FROM ledger_entries WHERE workspace_id = $1
     GROUP BY external_user_id, account, unit`,
    [workspaceId],
  );
  return rows;
}

/** Returns the number of entries, and those that are neither in the chain nor queued for it. */
export async function countEntries(
  db: Queryable,
  workspaceId: string,
): Promise<{ entries: number; unchained: number[] }> {
  const { rows } = await db.query<{ entries: number; unchained: number[] | null }>(
    `SELECT count(*) AS entries, array_agg(l.id ORDER BY l.id) FILTER (WHERE c.entry_id IS NULL AND u.entry_id IS NULL)
       AS unchained
     FROM ledger_entries l LEFT JOIN ledger_chain c ON c.entry_id = l.id
     LEFT JOIN ledger_unchained u ON u.workspace_id = l.workspace_id AND u.entry_id = l.id
     WHERE l.workspace_id = $1`,
    [workspaceId],
  );
  return { entries: rows[0]?.entries ?? 0, unchained: rows[0]?.unchained ?? [] };
}
