import type { AlertState } from '../../core/alerts/alert-state.ts';
import type { AlertCondition } from '../../core/alerts/condition.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import {
  CLAIMED_WORKSPACE,
  type ClaimedWorkspace,
  instantOf,
  millis,
  withClaimed,
} from '../reports/claimed-workspace.ts';
import type { Recipient } from '../reports/reports.ts';

/** An alert that this worker checks. Times are milliseconds since the epoch. */
export type ClaimedAlert = AlertState & {
  id: string;
  name: string;
  /** That of the alert, or of its saved view. */
  query: Record<string, unknown>;
  condition: AlertCondition;
  recipients: Recipient[];
  quietHours: number;
  checkedUntil: number | null;
  /** The end of the claim. It is the fence: only the worker whose claim holds may settle. */
  claim: string;
  workspace: ClaimedWorkspace;
};

/** Claims alerts that are due, as reports are claimed. @param now milliseconds since the epoch */
export async function claimAlerts(
  db: Queryable,
  now: number,
  leaseMs: number,
  most: number,
): Promise<ClaimedAlert[]> {
  const { rows } = await db.query<ClaimedAlert>(
    `${withClaimed('alerts')}
     SELECT a.id, a.name, coalesce(a.query, v.query) AS query, a.condition, a.recipients,
       a.quiet_hours AS "quietHours", a.state, ${millis('a.since')} AS since, ${millis('a.told_at')} AS "toldAt",
       a.is_told AS "isTold", ${millis('a.checked_until')} AS "checkedUntil", a.due_at::text AS claim,
       ${CLAIMED_WORKSPACE} AS workspace
     FROM claimed a JOIN workspaces w ON w.id = a.workspace_id LEFT JOIN saved_views v ON v.id = a.saved_view_id`,
    [now, leaseMs, most],
  );
  return rows;
}

/** The state of an alert after a check, or without one. Times are milliseconds since the epoch. */
export type SettledAlert = AlertState & { checkedUntil: number | null; dueAt: number; error: string | null };

/** Saves the state of an alert. @returns false when the claim is over, or the alert was changed or deleted */
export async function settleAlert(
  tx: Queryable,
  { id, claim }: Pick<ClaimedAlert, 'id' | 'claim'>,
  { state, since, toldAt, isTold, checkedUntil, dueAt, error }: SettledAlert,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE alerts SET state = $3, since = ${instantOf('$4')}, told_at = ${instantOf('$5')}, is_told = $6,
       checked_until = ${instantOf('$7')}, due_at = ${instantOf('$8')}, error = $9
     WHERE id = $1 AND due_at = $2::timestamptz`,
    [id, claim, state, since, toldAt, isTold, checkedUntil, dueAt, error],
  );
  return rowCount === 1;
}

/** Records a start or an end of an alert in the transaction that settles it. @param at milliseconds since the epoch */
export async function recordAlertChange(
  tx: Queryable,
  given: {
    alertId: string;
    workspaceId: string;
    state: AlertState['state'];
    value: number | null;
    expected: number | null;
    isTold: boolean;
    at: number;
  },
): Promise<void> {
  await tx.query(
    `INSERT INTO alert_changes (id, alert_id, workspace_id, state, value, expected, is_told, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, ${instantOf('$8')})`,
    [
      uuidv7(),
      given.alertId,
      given.workspaceId,
      given.state,
      given.value,
      given.expected,
      given.isTold,
      given.at,
    ],
  );
}
