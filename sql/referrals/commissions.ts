import { uuidv7 } from '../../core/ids.ts';
import type { CommissionStatus } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import type { CashAccount } from './ledger.ts';

/**
 * A commission. Its amount never changes. `refund`: the negative commission that reverses a paid one; a positive one
 * gives that back. `correction`: the same, because its referrer was the wrong one, or the order has another amount.
 * `manual`: a bonus, or a claw-back when negative. `imported`: earned and not paid at an earlier referral program.
 */
export type Commission = {
  id: string;
  workspace_id: string;
  program_id: string;
  enrollment_id: string;
  /** Null: manual or imported. */
  order_internal_id: number | null;
  level: number | null;
  kind: 'sale' | 'refund' | 'correction' | 'manual' | 'imported';
  amount_minor: number;
  currency: string;
  status: CommissionStatus;
  note: string | null;
  eligible_at: Date;
  created_at: Date;
};

const COLUMNS = `id, workspace_id, program_id, enrollment_id, order_internal_id, level, kind, amount_minor, currency,
  status, note, eligible_at, created_at`;

export type NewCommission = Omit<Commission, 'id' | 'created_at' | 'note'> & {
  note?: string;
  refundId?: string;
  /** The paid commission that this one reverses. */
  refunds?: string;
  /** The correction is because the order's amount changed. */
  ofAmount?: boolean;
};

/** Writes a commission. A unique index refuses a second one for the same order and level. */
export async function insertCommission(tx: Queryable, given: NewCommission, now: Date): Promise<Commission> {
  const { rows } = await tx.query<Commission>(
    `INSERT INTO commissions (id, workspace_id, program_id, enrollment_id, order_internal_id, level, kind,
       amount_minor, currency, status, eligible_at, created_at, refund_id, refunds, note, of_amount)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      given.workspace_id,
      given.program_id,
      given.enrollment_id,
      given.order_internal_id,
      given.level,
      given.kind,
      given.amount_minor,
      given.currency,
      given.status,
      given.eligible_at,
      now,
      given.refundId ?? null,
      given.refunds ?? null,
      given.note ?? null,
      given.ofAmount ?? false,
    ],
  );
  if (!rows[0]) throw new Error('the commission was not inserted');
  return rows[0];
}

/** Returns the commissions with these ids. */
export async function commissionsWithIds(tx: Queryable, ids: readonly string[]): Promise<Commission[]> {
  const { rows } = await tx.query<Commission>(
    `SELECT ${COLUMNS} FROM commissions WHERE id = ANY ($1) ORDER BY id`,
    [ids],
  );
  return rows;
}

/** A commission with its referrer and order, and what is left of it: the sum of its entries. */
export type HeldCommission = Commission & {
  external_user_id: string;
  /** The merchant's id. */
  order_id: string | null;
  remaining_minor: number;
  /** What its sale earns before refunds: its amount, with the corrections since the amount of the order changed. */
  due_minor: number;
};

/**
 * Sums commissions that the caller has locked. A statement of its own, after the lock: it must see the entries that
 * the former lock holder wrote.
 */
async function withRemaining(tx: Queryable, ids: string[]): Promise<HeldCommission[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<HeldCommission>(
    `SELECT ${COLUMNS}, (SELECT external_user_id FROM enrollments WHERE id = enrollment_id),
       (SELECT order_id FROM orders WHERE internal_id = order_internal_id),
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = commissions.id)::bigint
         AS remaining_minor,
       (amount_minor + (SELECT coalesce(sum(n.amount_minor), 0) FROM commissions n
                        WHERE n.refunds = commissions.id AND n.of_amount))::bigint AS due_minor
     FROM commissions WHERE id = ANY ($1) ORDER BY id`,
    [ids],
  );
  return rows;
}

/** Returns the commissions that an order's sale earned, without reversed ones, locked until the transaction ends. */
export async function lockCommissionsOfOrder(
  tx: Queryable,
  orderInternalId: number,
): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT id FROM commissions WHERE order_internal_id = $1 AND kind = 'sale' AND status <> 'reversed'
     ORDER BY id FOR NO KEY UPDATE`,
    [orderInternalId],
  );
  return withRemaining(
    tx,
    rows.map((row) => row.id),
  );
}

/**
 * Returns pending commissions whose hold period is over, locked until the transaction ends. Skips those that another
 * transaction has locked.
 */
export async function lockMatured(
  tx: Queryable,
  given: { now: Date; limit: number; workspaceId?: string },
): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT id FROM commissions WHERE status = 'pending' AND eligible_at <= $1
       AND ($3::uuid IS NULL OR workspace_id = $3) ORDER BY eligible_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
    [given.now, given.limit, given.workspaceId ?? null],
  );
  return withRemaining(
    tx,
    rows.map((row) => row.id),
  );
}

/**
 * Returns eligible commissions of approved referrers, locked until the transaction ends.
 *
 * @param given.until excludes commissions of later sales, and later bonuses; what reduces a balance always counts
 */
export async function lockEligible(
  tx: Queryable,
  given: { workspaceId: string; programId: string | null; until: Date | null },
): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT c.id FROM commissions c JOIN enrollments e ON e.id = c.enrollment_id
     WHERE c.workspace_id = $1 AND c.status = 'eligible' AND ($2::uuid IS NULL OR c.program_id = $2)
       AND e.status = 'approved' AND ($3::timestamptz IS NULL OR c.amount_minor < 0 OR $3 > coalesce(
         (SELECT purchased_at FROM purchases p WHERE p.order_internal_id = c.order_internal_id), c.created_at))
     ORDER BY c.id FOR NO KEY UPDATE OF c`,
    [given.workspaceId, given.programId, given.until],
  );
  return withRemaining(
    tx,
    rows.map((row) => row.id),
  );
}

/** Returns the commissions with these ids, locked until the transaction ends. */
export async function lockCommissions(tx: Queryable, ids: readonly string[]): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    'SELECT id FROM commissions WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE',
    [ids],
  );
  return withRemaining(
    tx,
    rows.map((row) => row.id),
  );
}

/** {@link lockCommissions}, of those that belong to the workspace. */
export async function lockCommissionsOfWorkspace(
  tx: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    'SELECT id FROM commissions WHERE workspace_id = $1 AND id = ANY ($2) ORDER BY id FOR NO KEY UPDATE',
    [workspaceId, ids],
  );
  return withRemaining(
    tx,
    rows.map((row) => row.id),
  );
}

/** Returns the negative commissions that reverse this one, locked until the transaction ends. The caller locked it. */
export async function lockReversing(tx: Queryable, commissionId: string): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    'SELECT id FROM commissions WHERE refunds = $1 ORDER BY id FOR NO KEY UPDATE',
    [commissionId],
  );
  return withRemaining(
    tx,
    rows.map((row) => row.id),
  );
}

/** A commission that was moved to another status. */
export type MovedCommission = Omit<HeldCommission, 'external_user_id' | 'due_minor'> & {
  previous_status: CommissionStatus;
};

/** Moves locked commissions to a status. The database refuses an invalid move and logs each valid one. */
export async function updateStatuses(
  tx: Queryable,
  ids: readonly string[],
  status: CommissionStatus,
  now: Date,
): Promise<MovedCommission[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<MovedCommission>(
    `WITH moved AS (
       UPDATE commissions AS c SET status = $2, paid_at = CASE WHEN $2 = 'paid' THEN $3::timestamptz END
       FROM (SELECT id, status FROM commissions WHERE id = ANY ($1)) AS before
       WHERE c.id = before.id RETURNING c.*, before.status AS previous_status
     )
     SELECT ${COLUMNS}, previous_status, (SELECT order_id FROM orders WHERE internal_id = order_internal_id),
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = moved.id)::bigint AS remaining_minor
     FROM moved ORDER BY id`,
    [ids, status, now],
  );
  return rows;
}

/**
 * Returns how much is reversed of what a commission's sale earns: by refunds in its own entries, and by other
 * commissions.
 */
export async function reversedSoFar(tx: Queryable, commissionId: string): Promise<number> {
  const { rows } = await tx.query<{ reversed: number }>(
    `SELECT (
       coalesce((SELECT -sum(amount) FROM ledger_entries WHERE commission_id = $1 AND cause = 'refund'), 0) +
       coalesce((SELECT -sum(amount_minor) FROM commissions WHERE refunds = $1 AND NOT of_amount), 0))::bigint AS reversed`,
    [commissionId],
  );
  return rows[0]?.reversed ?? 0;
}

/** A commission that refunds reversed as a whole, and how much of it, from which account. */
export type RefundedCommission = HeldCommission & { reversed_minor: number; account: CashAccount };

/**
 * Returns the commissions of an order that refunds reversed as a whole, without those that a correction took, locked
 * until the transaction ends.
 */
export async function reversedByRefunds(
  tx: Queryable,
  orderInternalId: number,
): Promise<RefundedCommission[]> {
  const { rows } = await tx.query<{ id: string; reversed_minor: number; account: CashAccount }>(
    `SELECT c.id, entry.account,
       (SELECT -sum(amount) FROM ledger_entries WHERE commission_id = c.id AND cause = 'refund')::bigint AS reversed_minor
     FROM commissions c CROSS JOIN LATERAL (
       SELECT account FROM ledger_entries WHERE commission_id = c.id AND cause = 'refund' ORDER BY id DESC LIMIT 1) AS entry
     WHERE c.order_internal_id = $1 AND c.kind = 'sale' AND c.status = 'reversed'
       AND NOT EXISTS (SELECT FROM ledger_entries WHERE commission_id = c.id AND cause = 'correction')
     ORDER BY c.id FOR NO KEY UPDATE OF c`,
    [orderInternalId],
  );
  const held = await withRemaining(
    tx,
    rows.map((row) => row.id),
  );
  return held.flatMap((commission) => {
    const row = rows.find(({ id }) => id === commission.id);
    return row ? [{ ...commission, reversed_minor: row.reversed_minor, account: row.account }] : [];
  });
}

/**
 * Returns those of these commissions whose sale earns nothing any more, or was brought by another referrer. Call it
 * with the commissions locked.
 */
export async function noLongerDue(tx: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT c.id FROM commissions c JOIN purchases p ON p.order_internal_id = c.order_internal_id
     WHERE c.id = ANY ($1) AND c.kind = 'sale'
       AND (NOT p.rewarded OR (c.level = 1 AND p.enrollment_id <> c.enrollment_id))`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns how much corrections of its referrer have reversed of a commission by other commissions, less what they gave
 * back.
 */
export async function correctedSoFar(tx: Queryable, commissionId: string): Promise<number> {
  const { rows } = await tx.query<{ corrected: number }>(
    `SELECT coalesce(-sum(amount_minor), 0)::bigint AS corrected FROM commissions
     WHERE refunds = $1 AND kind = 'correction' AND NOT of_amount`,
    [commissionId],
  );
  return rows[0]?.corrected ?? 0;
}

/**
 * Returns whether the commission is in a payout file that may have been paid, whatever the commission's status says. A
 * canceled file can't be, and a failed line was given back.
 */
export async function mayHaveBeenPaid(tx: Queryable, commissionId: string): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (
       SELECT 1 FROM payout_commissions pc JOIN payouts p ON p.id = pc.payout_id
       JOIN payout_exports x ON x.id = p.export_id
       WHERE pc.commission_id = $1 AND (p.paid_minor > 0 AND p.status = 'paid' OR (p.status = 'open' AND x.canceled_at IS NULL))) AS found`,
    [commissionId],
  );
  return rows[0]?.found === true;
}

/** Returns the account that holds what is left of a commission. */
export function accountOf(status: Exclude<CommissionStatus, 'reversed' | 'rejected'>): CashAccount {
  return `cash_${status}`;
}
