import type { Schedule } from '../../core/reports/schedule.ts';
import type { Queryable } from '../database/pool.ts';
import {
  CLAIMED_WORKSPACE,
  type ClaimedWorkspace,
  instantOf,
  millis,
  withClaimed,
} from './claimed-workspace.ts';
import type { Recipient } from './reports.ts';

/** A report that this worker makes. Times are milliseconds since the epoch. */
export type ClaimedReport = {
  id: string;
  name: string;
  /** That of the report, or of its saved view. */
  query: Record<string, unknown>;
  schedule: Schedule;
  recipients: Recipient[];
  showRevenue: boolean;
  nextAt: number | null;
  /** Whether somebody wants it now. */
  isRequested: boolean;
  sentUntil: number | null;
  failures: number;
  /** The end of the claim. It is the fence: only the worker whose claim holds may settle. */
  claim: string;
  workspace: ClaimedWorkspace;
};

/**
 * Claims reports that are due. No other worker claims them for `leaseMs`; then they are due again.
 *
 * @param now milliseconds since the epoch
 */
export async function claimReports(
  db: Queryable,
  now: number,
  leaseMs: number,
  most: number,
): Promise<ClaimedReport[]> {
  const { rows } = await db.query<ClaimedReport>(
    `${withClaimed('reports')}
     SELECT r.id, r.name, coalesce(r.query, v.query) AS query, r.schedule, r.recipients,
       r.show_revenue AS "showRevenue", ${millis('r.next_at')} AS "nextAt", r.requested_at IS NOT NULL AS "isRequested",
       ${millis('r.sent_until')} AS "sentUntil", r.failures, r.due_at::text AS claim,
       ${CLAIMED_WORKSPACE} AS workspace
     FROM claimed r JOIN workspaces w ON w.id = r.workspace_id LEFT JOIN saved_views v ON v.id = r.saved_view_id`,
    [now, leaseMs, most],
  );
  return rows;
}

/** The state of a report after it was made, or not. Times are milliseconds since the epoch. */
export type SettledReport = {
  nextAt: number | null;
  dueAt: number | null;
  /** End of the period that the schedule sent; null: it sent none now. */
  sentUntil: number | null;
  /** Null: nothing was sent. */
  sentAt: number | null;
  /** Whether a request for it remains. */
  isRequested: boolean;
  failures: number;
  error: string | null;
};

/**
 * Saves the state of a report in the transaction that queues its messages. @returns false when the claim is over, or the
 * report was changed or deleted: then nothing may be sent
 */
export async function settleReport(
  tx: Queryable,
  { id, claim }: Pick<ClaimedReport, 'id' | 'claim'>,
  state: SettledReport,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE reports SET next_at = ${instantOf('$3')}, due_at = ${instantOf('$4')}, sent_until = coalesce(${instantOf('$5')}, sent_until),
       last_sent_at = coalesce(${instantOf('$6')}, last_sent_at), requested_at = CASE WHEN $7 THEN requested_at END,
       failures = $8, error = $9
     WHERE id = $1 AND due_at = $2::timestamptz`,
    [
      id,
      claim,
      state.nextAt,
      state.dueAt,
      state.sentUntil,
      state.sentAt,
      state.isRequested,
      state.failures,
      state.error,
    ],
  );
  return rowCount === 1;
}
