import { uuidv7 } from '../../core/ids.ts';
import type {
  PayoutFormat,
  PayoutLineStatus,
  PayoutMethod,
  PayoutStatus,
} from '../../core/referrals/terms.ts';
import { lockNamed } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';

/** A payout file, without its lines. */
export type PayoutExport = {
  id: string;
  program_id: string | null;
  format: PayoutFormat;
  status: PayoutStatus;
  created_at: Date;
  canceled_at: Date | null;
};

const COLUMNS = 'id, program_id, format, status, created_at, canceled_at';

/**
 * Lets one transaction at a time create or change the payout files of a workspace: paying one closes lines of others.
 * Take it before every other lock.
 */
export async function lockPayouts(tx: Queryable, workspaceId: string): Promise<void> {
  await lockNamed(tx, 'payouts', workspaceId);
}

/** Creates an empty payout file. */
export async function insertPayoutExport(
  tx: Queryable,
  given: {
    workspaceId: string;
    programId: string | null;
    format: PayoutFormat;
    ledgerHead: Buffer;
    now: Date;
  },
): Promise<PayoutExport> {
  const { rows } = await tx.query<PayoutExport>(
    `INSERT INTO payout_exports (id, workspace_id, program_id, format, ledger_head, created_at)
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`,
    [uuidv7(), given.workspaceId, given.programId, given.format, given.ledgerHead, given.now],
  );
  if (!rows[0]) throw new Error('the payout file was not inserted');
  return rows[0];
}

/** What a file pays one referrer, where, and from which commissions. Minor units. */
export type NewPayout = {
  enrollmentId: string;
  method: PayoutMethod;
  payoutEmail: string;
  currency: string;
  amountMinor: number;
  commissions: { id: string; amountMinor: number }[];
};

/** Writes the lines of a payout file. */
export async function insertPayouts(
  tx: Queryable,
  given: { workspaceId: string; exportId: string; payouts: readonly NewPayout[]; now: Date },
): Promise<void> {
  const payouts = given.payouts.map((payout) => ({ id: uuidv7(), ...payout }));
  if (payouts.length === 0) return;
  await tx.query(
    `INSERT INTO payouts (id, export_id, workspace_id, enrollment_id, method, payout_email, amount_minor, currency,
       created_at)
     SELECT id, $1, $2, enrollment_id, method, payout_email, amount_minor, currency, $3
     FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::text[])
       AS payout (id, enrollment_id, method, payout_email, amount_minor, currency)`,
    [
      given.exportId,
      given.workspaceId,
      given.now,
      payouts.map((payout) => payout.id),
      payouts.map((payout) => payout.enrollmentId),
      payouts.map((payout) => payout.method),
      payouts.map((payout) => payout.payoutEmail),
      payouts.map((payout) => payout.amountMinor),
      payouts.map((payout) => payout.currency),
    ],
  );
  const parts = payouts.flatMap(({ id, commissions }) =>
    commissions.map((part) => ({ payoutId: id, ...part })),
  );
  await tx.query(
    `INSERT INTO payout_commissions (payout_id, commission_id, amount_minor)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[])`,
    [parts.map((part) => part.payoutId), parts.map((part) => part.id), parts.map((part) => part.amountMinor)],
  );
}

/**
 * SQL: whether commission `c` is in an open line of an open payout file of a format and program.
 *
 * @param sql.programId null: a file of every program
 */
export const isInOpenFile = (sql: { format: string; programId: string }) => `EXISTS (
    SELECT FROM payout_commissions pc JOIN payouts l ON l.id = pc.payout_id JOIN payout_exports x ON x.id = l.export_id
    WHERE pc.commission_id = c.id AND l.status = 'open' AND x.status = 'open' AND x.format = ${sql.format}
      AND x.program_id IS NOT DISTINCT FROM ${sql.programId})`;

/** Returns the open files of a format and program that hold these commissions in open lines. */
export async function openFilesOf(
  db: Queryable,
  { format, programId }: { format: PayoutFormat; programId: string | null },
  commissionIds: readonly string[],
): Promise<{ commission_id: string; export_id: string }[]> {
  const { rows } = await db.query<{ commission_id: string; export_id: string }>(
    `SELECT pc.commission_id, x.id AS export_id FROM payout_commissions pc JOIN payouts l ON l.id = pc.payout_id
     JOIN payout_exports x ON x.id = l.export_id
     WHERE pc.commission_id = ANY ($1) AND l.status = 'open' AND x.status = 'open' AND x.format = $2
       AND x.program_id IS NOT DISTINCT FROM $3 ORDER BY x.id`,
    [commissionIds, format, programId],
  );
  return rows;
}

/**
 * Closes the lines of other open files whose commissions have all been paid since, and files without another open line.
 * Call it with the payout files locked.
 *
 * @param commissionIds the commissions that were paid now
 */
export async function closePaidLines(
  tx: Queryable,
  commissionIds: readonly string[],
  now: Date,
): Promise<void> {
  const { rows } = await tx.query<{ export_id: string }>(
    `UPDATE payouts AS l SET status = 'paid', paid_minor = 0, paid_at = $2
     FROM payout_exports x
     WHERE x.id = l.export_id AND x.status = 'open' AND l.status = 'open'
       AND l.id IN (SELECT payout_id FROM payout_commissions WHERE commission_id = ANY ($1))
       AND NOT EXISTS (SELECT FROM payout_commissions pc JOIN commissions c ON c.id = pc.commission_id
                       WHERE pc.payout_id = l.id AND c.status IN ('pending', 'eligible'))
     RETURNING l.export_id`,
    [commissionIds, now],
  );
  await tx.query(
    `UPDATE payout_exports AS x SET status = 'paid', paid_at = $2 WHERE id = ANY ($1)
       AND NOT EXISTS (SELECT FROM payouts WHERE export_id = x.id AND status = 'open')`,
    [[...new Set(rows.map(({ export_id }) => export_id))], now],
  );
}

/** Returns the payout file with this id in the workspace, locked until the transaction ends, or null. */
export async function lockPayoutExport(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<PayoutExport | null> {
  const { rows } = await tx.query<PayoutExport>(
    `SELECT ${COLUMNS} FROM payout_exports WHERE workspace_id = $1 AND id = $2 FOR NO KEY UPDATE`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** A line of a payout file. */
export type Payout = {
  id: string;
  enrollment_id: string;
  amount_minor: number;
  currency: string;
  status: PayoutLineStatus;
  /** What the file paid of it; null while open, 0 where other files paid it. */
  paid_minor: number | null;
  retried_at: Date | null;
};

/** Returns the lines of a payout file in its order. Call it with the file locked. */
export async function payoutsOfExport(db: Queryable, exportId: string): Promise<Payout[]> {
  const { rows } = await db.query<Payout>(
    `SELECT id, enrollment_id, amount_minor, currency, status, paid_minor, retried_at FROM payouts
     WHERE export_id = $1 ORDER BY id`,
    [exportId],
  );
  return rows;
}

/** Returns the commissions of these lines, each with its unpaid amount when the file was created. */
export async function exportedCommissions(
  db: Queryable,
  payoutIds: readonly string[],
): Promise<{ payout_id: string; commission_id: string; amount_minor: number }[]> {
  const { rows } = await db.query<{ payout_id: string; commission_id: string; amount_minor: number }>(
    'SELECT payout_id, commission_id, amount_minor FROM payout_commissions WHERE payout_id = ANY ($1)',
    [payoutIds],
  );
  return rows;
}

/** Returns the commissions that a line paid. */
export async function commissionsPaidBy(db: Queryable, payoutId: string): Promise<string[]> {
  const { rows } = await db.query<{ commission_id: string }>(
    `SELECT commission_id FROM ledger_entries WHERE payout_id = $1 AND cause = 'payout' AND account = 'cash_paid'`,
    [payoutId],
  );
  return rows.map((row) => row.commission_id);
}

/** Marks lines as paid with what they paid. */
export async function markPayoutsPaid(
  tx: Queryable,
  paid: readonly { id: string; paidMinor: number }[],
  now: Date,
): Promise<void> {
  await tx.query(
    `UPDATE payouts SET status = 'paid', paid_minor = paid.minor, paid_at = $3
     FROM unnest($1::uuid[], $2::bigint[]) AS paid (id, minor) WHERE payouts.id = paid.id`,
    [paid.map(({ id }) => id), paid.map(({ paidMinor }) => paidMinor), now],
  );
}

/** Marks a paid line as failed. */
export async function markPayoutFailed(
  tx: Queryable,
  payoutId: string,
  reason: string,
  now: Date,
): Promise<void> {
  await tx.query(`UPDATE payouts SET status = 'failed', fail_reason = $2, failed_at = $3 WHERE id = $1`, [
    payoutId,
    reason,
    now,
  ]);
}

/** Lets later files pay the referrer of a failed line again, at the same address. */
export async function markPayoutRetried(tx: Queryable, payoutId: string, now: Date): Promise<void> {
  await tx.query('UPDATE payouts SET retried_at = $2 WHERE id = $1', [payoutId, now]);
}

/** Marks a payout file as paid. */
export async function markExportPaid(tx: Queryable, exportId: string, now: Date): Promise<void> {
  await tx.query(`UPDATE payout_exports SET status = 'paid', paid_at = $2 WHERE id = $1`, [exportId, now]);
}

/** Ends a payout file: its open lines can't be paid any more. */
export async function markExportCanceled(
  tx: Queryable,
  exportId: string,
  status: Exclude<PayoutStatus, 'open'>,
  now: Date,
): Promise<void> {
  await tx.query(
    `UPDATE payout_exports SET status = $2, canceled_at = $3, paid_at = CASE WHEN $2 = 'paid'
       THEN (SELECT max(paid_at) FROM payouts WHERE export_id = $1) END WHERE id = $1`,
    [exportId, status, now],
  );
}

/** Returns a referrer's paid payouts, newest first. A failed one is shown as such. */
export async function payoutsOf(
  db: Queryable,
  enrollmentId: string,
  limit: number,
): Promise<{ paid_at: Date; paid_minor: number; currency: string; status: 'paid' | 'failed' }[]> {
  const { rows } = await db.query<{
    paid_at: Date;
    paid_minor: number;
    currency: string;
    status: 'paid' | 'failed';
  }>(
    `SELECT paid_at, paid_minor, currency, status FROM payouts WHERE enrollment_id = $1 AND paid_minor > 0
     ORDER BY paid_at DESC, id DESC LIMIT $2`,
    [enrollmentId, limit],
  );
  return rows;
}
