import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import type { CashAccount } from './ledger.ts';

export type CommissionStatus = 'pending' | 'eligible' | 'paid' | 'reversed';

/** A commission, or with `kind` refund the negative commission that reverses a paid one. The amount never changes. */
export type Commission = {
  id: string;
  workspace_id: string;
  program_id: string;
  enrollment_id: string;
  order_internal_id: number;
  level: number;
  kind: 'sale' | 'refund';
  amount_minor: number;
  currency: string;
  status: CommissionStatus;
  eligible_at: Date;
  created_at: Date;
};

const COLUMNS = `id, workspace_id, program_id, enrollment_id, order_internal_id, level, kind, amount_minor, currency,
  status, eligible_at, created_at`;

export type NewCommission = Omit<Commission, 'id' | 'created_at'> & {
  refundId?: string;
  /** The paid commission that this one reverses. */
  refunds?: string;
};

/** Writes a commission. Unique indexes refuse a second one for the same order and level, or the same refund. */
export async function insertCommission(tx: Queryable, given: NewCommission, now: Date): Promise<Commission> {
  const { rows } = await tx.query<Commission>(
    `INSERT INTO commissions (id, workspace_id, program_id, enrollment_id, order_internal_id, level, kind,
       amount_minor, currency, status, eligible_at, created_at, refund_id, refunds)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING ${COLUMNS}`,
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
    ],
  );
  if (!rows[0]) throw new Error('the commission was not inserted');
  return rows[0];
}

/** A commission with its referrer, and what is left of it: the sum of its entries. */
export type HeldCommission = Commission & { external_user_id: string; remaining_minor: number };

/**
 * Sums commissions that the caller has locked. A statement of its own, after the lock: it must see the entries that
 * the former lock holder wrote.
 */
async function withRemaining(tx: Queryable, ids: string[]): Promise<HeldCommission[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<HeldCommission>(
    `SELECT ${COLUMNS}, (SELECT external_user_id FROM enrollments WHERE id = enrollment_id),
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = commissions.id)::bigint
         AS remaining_minor
     FROM commissions WHERE id = ANY ($1) ORDER BY id`,
    [ids],
  );
  return rows;
}

/** Returns the commissions that an order's sale earned, locked until the transaction ends. */
export async function lockCommissionsOfOrder(
  tx: Queryable,
  orderInternalId: number,
): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT id FROM commissions WHERE order_internal_id = $1 AND kind = 'sale' ORDER BY id FOR NO KEY UPDATE`,
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

/** Returns eligible commissions of approved referrers, locked until the transaction ends. */
export async function lockEligible(
  tx: Queryable,
  workspaceId: string,
  programId: string | null,
): Promise<HeldCommission[]> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT c.id FROM commissions c JOIN enrollments e ON e.id = c.enrollment_id
     WHERE c.workspace_id = $1 AND c.status = 'eligible' AND ($2::uuid IS NULL OR c.program_id = $2)
       AND e.status = 'approved' ORDER BY c.id FOR NO KEY UPDATE OF c`,
    [workspaceId, programId],
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

/** Moves locked commissions to a status. The database refuses an invalid move and logs each valid one. */
export async function moveCommissions(
  tx: Queryable,
  ids: readonly string[],
  status: CommissionStatus,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `UPDATE commissions SET status = $2, paid_at = CASE WHEN $2 = 'paid' THEN $3::timestamptz END
     WHERE id = ANY ($1)`,
    [ids, status, now],
  );
}

/** Returns how much refunds have reversed of a commission, in its own entries and in negative commissions. */
export async function reversedSoFar(tx: Queryable, commissionId: string): Promise<number> {
  const { rows } = await tx.query<{ reversed: number }>(
    `SELECT (
       coalesce((SELECT -sum(amount) FROM ledger_entries WHERE commission_id = $1 AND cause = 'refund'), 0) +
       coalesce((SELECT -sum(amount_minor) FROM commissions WHERE refunds = $1), 0))::bigint AS reversed`,
    [commissionId],
  );
  return rows[0]?.reversed ?? 0;
}

/** Returns whether the commission is in a payout file: it may have been paid, whatever its status says. */
export async function wasExported(tx: Queryable, commissionId: string): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM payout_commissions WHERE commission_id = $1) AS found',
    [commissionId],
  );
  return rows[0]?.found === true;
}

/** A commission as the referrer's dashboard lists it. */
export type RecentCommission = {
  created_at: Date;
  type: 'sale' | 'renewal' | 'refund';
  level: number;
  /** Minor units of the order, negative for its refund, in the order's currency. */
  sale_minor: number;
  sale_currency: string;
  /** What is left of the commission after refunds. */
  earnings_minor: number;
  currency: string;
  status: CommissionStatus;
};

/** Returns a referrer's newest commissions. */
export async function recentCommissions(
  db: Queryable,
  enrollmentId: string,
  limit: number,
): Promise<RecentCommission[]> {
  const { rows } = await db.query<RecentCommission>(
    `SELECT c.created_at, CASE WHEN c.kind = 'refund' THEN 'refund' WHEN p.is_renewal THEN 'renewal' ELSE 'sale' END
         AS type, c.level, coalesce(-r.amount_minor, p.amount_minor) AS sale_minor, p.currency AS sale_currency,
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE commission_id = c.id)::bigint AS earnings_minor,
       c.currency, c.status
     FROM (SELECT * FROM commissions WHERE enrollment_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2) AS c
     JOIN purchases p USING (order_internal_id) LEFT JOIN refunds r ON r.id = c.refund_id ORDER BY c.created_at DESC, c.id DESC`,
    [enrollmentId, limit],
  );
  return rows;
}

/** Returns the commission that a workspace's sales earned in `[from, to)` by currency, net of refunds. Minor units. */
export async function commissionEarned(
  db: Queryable,
  workspaceId: string,
  from: Date,
  to: Date,
): Promise<{ currency: string; amount_minor: number }[]> {
  const { rows } = await db.query<{ currency: string; amount_minor: number }>(
    `SELECT e.unit AS currency, sum(e.amount)::bigint AS amount_minor
     FROM commissions c JOIN ledger_entries e ON e.commission_id = c.id
     WHERE c.workspace_id = $1 AND c.created_at >= $2 AND c.created_at < $3 GROUP BY e.unit`,
    [workspaceId, from, to],
  );
  return rows;
}

/** Returns the account that holds what is left of a commission. */
export function accountOf(status: Exclude<CommissionStatus, 'reversed'>): CashAccount {
  return `cash_${status}`;
}
