import type { AlertCondition } from '../../core/alerts/condition.ts';
import { uuidv7 } from '../../core/ids.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { workspaceRows } from '../database/workspace-list.ts';
import type { Recipient } from '../reports/reports.ts';

/** What a workspace sets of an alert. */
export type AlertSettings = {
  name: string;
  saved_view_id: string | null;
  /** In the form of a saved view's; null: that of the saved view. */
  query: Record<string, unknown> | null;
  condition: AlertCondition;
  recipients: Recipient[];
  quiet_hours: number;
  is_active: boolean;
};

/** An alert as it is stored. Instants are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Alert = AlertSettings & {
  id: string;
  state: 'ok' | 'firing';
  since: string;
  checked_until: string | null;
  error: string | null;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, name, saved_view_id, query, condition, recipients, quiet_hours, is_active, state,
  ${isoMicros('since')} AS since, ${isoMicros('checked_until')} AS checked_until, error,
  ${isoMicros('created_at')} AS created_at, ${isoMicros('updated_at')} AS updated_at`;

export const {
  count: countAlerts,
  list: listAlerts,
  byId: alertById,
  lock: lockAlert,
  delete: deleteAlert,
} = workspaceRows<Alert>('alerts', COLUMNS);

const valuesOf = (given: AlertSettings) => [
  given.name,
  given.saved_view_id,
  given.query,
  given.condition,
  JSON.stringify(given.recipients),
  given.quiet_hours,
  given.is_active,
];

/** Creates an alert. The caller has locked the workspace: creation times are unique in it. */
export async function insertAlert(tx: Queryable, workspaceId: string, given: AlertSettings): Promise<Alert> {
  const { rows } = await tx.query<Alert>(
    `INSERT INTO alerts (id, workspace_id, name, saved_view_id, query, condition, recipients, quiet_hours, is_active,
       due_at, since, created_at, updated_at)
     SELECT $2, $1, $3, $4, $5, $6, $7, $8, $9, CASE WHEN $9 THEN at END, at, at, at FROM (
       SELECT ${nextCreation('alerts', '$1')} AS at) AS clock
     RETURNING ${COLUMNS}`,
    [workspaceId, uuidv7(), ...valuesOf(given)],
  );
  if (!rows[0]) throw new Error('the alert was not inserted');
  return rows[0];
}

/** Changes an alert, which is checked again at once. What it found before counts no more if `isOther`. */
export async function updateAlert(
  tx: Queryable,
  workspaceId: string,
  id: string,
  given: AlertSettings,
  isOther: boolean,
): Promise<Alert> {
  const { rows } = await tx.query<Alert>(
    `UPDATE alerts SET name = $4, saved_view_id = $5, query = $6, condition = $7, recipients = $8, quiet_hours = $9,
       is_active = $10, due_at = CASE WHEN $10 THEN clock_timestamp() END, error = NULL, updated_at = clock_timestamp(),
       checked_until = CASE WHEN $3 THEN NULL ELSE checked_until END,
       state = CASE WHEN $3 THEN 'ok' ELSE state END, since = CASE WHEN $3 THEN clock_timestamp() ELSE since END,
       told_at = CASE WHEN $3 THEN NULL ELSE told_at END, is_told = NOT $3 AND is_told
     WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [workspaceId, id, isOther, ...valuesOf(given)],
  );
  if (!rows[0]) throw new Error('the alert was not updated');
  return rows[0];
}

/** A start or an end of an alert. */
export type AlertChange = {
  /** Also the cursor of the history, newest first. */
  id: string;
  state: Alert['state'];
  value: number | null;
  expected: number | null;
  is_told: boolean;
  at: string;
};

/** Returns the starts and ends of an alert, newest first. @param page.before an id: older ones only */
export async function listAlertChanges(
  db: Queryable,
  workspaceId: string,
  alertId: string,
  page: { before: string | null; limit: number },
): Promise<AlertChange[]> {
  const { rows } = await db.query<AlertChange>(
    `SELECT id, state, value, expected, is_told, ${isoMicros('at')} AS at FROM alert_changes
     WHERE workspace_id = $1 AND alert_id = $2 AND ($3::uuid IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
    [workspaceId, alertId, page.before, page.limit],
  );
  return rows;
}
