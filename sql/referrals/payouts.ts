import { uuidv7 } from '../../core/ids.ts';
import type { PayoutMethod } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

export type PayoutExport = { id: string; program_id: string | null; paid_at: Date | null };

/** Creates an empty payout file and returns its id. */
export async function insertPayoutExport(
  tx: Queryable,
  given: { workspaceId: string; programId: string | null; now: Date },
): Promise<string> {
  const id = uuidv7();
  await tx.query(
    'INSERT INTO payout_exports (id, workspace_id, program_id, created_at) VALUES ($1, $2, $3, $4)',
    [id, given.workspaceId, given.programId, given.now],
  );
  return id;
}

/** What a file pays one referrer, and from which commissions. Minor units. */
export type NewPayout = {
  enrollmentId: string;
  method: PayoutMethod | null;
  currency: string;
  amountMinor: number;
  commissions: { id: string; amountMinor: number }[];
};

/** Writes the rows of a payout file. */
export async function insertPayouts(
  tx: Queryable,
  given: { workspaceId: string; exportId: string; payouts: readonly NewPayout[]; now: Date },
): Promise<void> {
  const payouts = given.payouts.map((payout) => ({ id: uuidv7(), ...payout }));
  if (payouts.length === 0) return;
  await tx.query(
    `INSERT INTO payouts (id, export_id, workspace_id, enrollment_id, method, amount_minor, currency, created_at)
     SELECT id, $1, $2, enrollment_id, method, amount_minor, currency, $3
     FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::bigint[], $8::text[])
       AS payout (id, enrollment_id, method, amount_minor, currency)`,
    [
      given.exportId,
      given.workspaceId,
      given.now,
      payouts.map((payout) => payout.id),
      payouts.map((payout) => payout.enrollmentId),
      payouts.map((payout) => payout.method),
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

/** Returns the payout file with this id in the workspace, locked until the transaction ends, or null. */
export async function lockPayoutExport(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<PayoutExport | null> {
  const { rows } = await tx.query<PayoutExport>(
    'SELECT id, program_id, paid_at FROM payout_exports WHERE workspace_id = $1 AND id = $2 FOR NO KEY UPDATE',
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** Returns the rows of a payout file. */
export async function payoutsOfExport(
  db: Queryable,
  exportId: string,
): Promise<{ id: string; currency: string; amount_minor: number }[]> {
  const { rows } = await db.query<{ id: string; currency: string; amount_minor: number }>(
    'SELECT id, currency, amount_minor FROM payouts WHERE export_id = $1',
    [exportId],
  );
  return rows;
}

/** Returns the commissions that a payout file pays, each with its unpaid amount when the file was created. */
export async function exportedCommissions(
  db: Queryable,
  exportId: string,
): Promise<{ payout_id: string; commission_id: string; amount_minor: number }[]> {
  const { rows } = await db.query<{ payout_id: string; commission_id: string; amount_minor: number }>(
    `SELECT payout_id, commission_id, c.amount_minor FROM payout_commissions c
     JOIN payouts p ON p.id = c.payout_id WHERE p.export_id = $1`,
    [exportId],
  );
  return rows;
}

/** Marks a payout file and its payouts as paid. */
export async function markExportPaid(tx: Queryable, exportId: string, now: Date): Promise<void> {
  await tx.query('UPDATE payouts SET paid_at = $2 WHERE export_id = $1', [exportId, now]);
  await tx.query('UPDATE payout_exports SET paid_at = $2 WHERE id = $1', [exportId, now]);
}

/** Returns a referrer's paid payouts, newest first. */
export async function payoutsOf(
  db: Queryable,
  enrollmentId: string,
  limit: number,
): Promise<{ paid_at: Date; amount_minor: number; currency: string }[]> {
  const { rows } = await db.query<{ paid_at: Date; amount_minor: number; currency: string }>(
    `SELECT paid_at, amount_minor, currency FROM payouts WHERE enrollment_id = $1 AND paid_at IS NOT NULL
     ORDER BY paid_at DESC, id DESC LIMIT $2`,
    [enrollmentId, limit],
  );
  return rows;
}
