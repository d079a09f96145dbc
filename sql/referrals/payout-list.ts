import type {
  PayoutFormat,
  PayoutLineStatus,
  PayoutMethod,
  PayoutStatus,
} from '../../core/referrals/terms.ts';
import { conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** A payout file with its totals. */
export type ListedExport = {
  id: string;
  /** Null: every program. */
  program_id: string | null;
  format: PayoutFormat;
  status: PayoutStatus;
  ledger_head: string;
  created_at: string;
  paid_at: string | null;
  canceled_at: string | null;
  referrers: number;
  /** Minor units by currency; empty when the file has no lines. */
  totals: { currency: string; amount_minor: number }[];
};

/**
 * Returns the payout files of a workspace, newest first.
 *
 * @param filter.paid null: paid or not
 * @param filter.before a file's id: only older ones
 */
export async function listExports(
  db: Queryable,
  workspaceId: string,
  filter: {
    id: string | null;
    status: PayoutStatus | null;
    paid: boolean | null;
    before: string | null;
    limit: number;
  },
): Promise<ListedExport[]> {
  const { add, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `x.id = ${p}`, filter.id);
  add((p) => `x.status = ${p}`, filter.status);
  add((p) => `(x.status = 'paid') = ${p}`, filter.paid);
  add((p) => `x.id < ${p}`, filter.before);
  const { rows } = await db.query<ListedExport>(
    `SELECT x.id, x.program_id, x.format, x.status, encode(x.ledger_head, 'hex') AS ledger_head,
       ${isoMicros('x.created_at')} AS created_at, ${isoMicros('x.paid_at')} AS paid_at,
       ${isoMicros('x.canceled_at')} AS canceled_at, sums.referrers, sums.totals
     FROM (SELECT * FROM payout_exports x WHERE x.workspace_id = $1${text()}
           ORDER BY x.id DESC LIMIT ${parameter(filter.limit)}) AS x,
       LATERAL (SELECT coalesce(sum(referrers), 0)::bigint AS referrers,
           coalesce(json_agg(json_build_object('currency', currency, 'amount_minor', amount_minor) ORDER BY currency),
             '[]') AS totals
         FROM (SELECT currency, count(*) AS referrers, sum(amount_minor)::bigint AS amount_minor FROM payouts
               WHERE export_id = x.id GROUP BY currency) AS per_currency) AS sums
     ORDER BY x.id DESC`,
    values,
  );
  return rows;
}

/** What a payout file pays to one referrer. */
export type ExportLine = {
  id: string;
  enrollment_id: string;
  external_user_id: string;
  name: string | null;
  method: PayoutMethod;
  /** Where the file sends it; null: erased. */
  payout_email: string | null;
  status: PayoutLineStatus;
  amount_minor: number;
  paid_minor: number | null;
  currency: string;
  commissions: number;
  fail_reason: string | null;
  paid_at: string | null;
  failed_at: string | null;
  retried_at: string | null;
};

/**
 * Returns the lines of a payout file in its order, or null when the workspace has no such file.
 *
 * @param page.after a line's id: only those after it
 * @param page.partnerId only the line of this referrer
 */
export async function listExportLines(
  db: Queryable,
  workspaceId: string,
  exportId: string,
  page: { after: string | null; limit: number; partnerId?: string },
): Promise<ExportLine[] | null> {
  const { rows: files } = await db.query('SELECT 1 FROM payout_exports WHERE workspace_id = $1 AND id = $2', [
    workspaceId,
    exportId,
  ]);
  if (files.length === 0) return null;
  const { rows } = await db.query<ExportLine>(
    `SELECT p.id, p.enrollment_id, e.external_user_id, e.name, p.method, p.payout_email, p.status, p.amount_minor,
       p.paid_minor, p.currency, p.fail_reason, ${isoMicros('p.paid_at')} AS paid_at,
       ${isoMicros('p.failed_at')} AS failed_at, ${isoMicros('p.retried_at')} AS retried_at,
       (SELECT count(*) FROM payout_commissions c WHERE c.payout_id = p.id) AS commissions
     FROM payouts p JOIN enrollments e ON e.id = p.enrollment_id
     WHERE p.export_id = $1 AND ($2::uuid IS NULL OR p.id > $2) AND ($4::uuid IS NULL OR p.enrollment_id = $4)
     ORDER BY p.id LIMIT $3`,
    [exportId, page.after, page.limit, page.partnerId ?? null],
  );
  return rows;
}
