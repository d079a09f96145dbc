import type { Chat } from '../../core/chat/chat-body.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Schedule } from '../../core/reports/schedule.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { workspaceRows } from '../database/workspace-list.ts';
import { instantOf } from './claimed-workspace.ts';

/** Where a report goes: an email address, or the address of a chat's incoming webhook. */
export type Recipient = { type: 'email' | Chat; address: string };

/** What a workspace sets of a report. */
export type ReportSettings = {
  name: string;
  saved_view_id: string | null;
  /** In the form of a saved view's; null: that of the saved view. */
  query: Record<string, unknown> | null;
  schedule: Schedule;
  recipients: Recipient[];
  show_revenue: boolean;
  is_active: boolean;
};

/** A report as it is stored. Instants are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Report = ReportSettings & {
  id: string;
  next_at: string | null;
  last_sent_at: string | null;
  error: string | null;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, name, saved_view_id, query, schedule, recipients, show_revenue, is_active,
  ${isoMicros('next_at')} AS next_at, ${isoMicros('last_sent_at')} AS last_sent_at, error,
  ${isoMicros('created_at')} AS created_at, ${isoMicros('updated_at')} AS updated_at`;

export const {
  count: countReports,
  list: listReports,
  byId: reportById,
  lock: lockReport,
  delete: deleteReport,
} = workspaceRows<Report>('reports', COLUMNS);

const valuesOf = (given: ReportSettings) => [
  given.name,
  given.saved_view_id,
  given.query,
  given.schedule,
  JSON.stringify(given.recipients),
  given.show_revenue,
  given.is_active,
];

/**
 * Creates a report. The caller has locked the workspace: creation times are unique in it.
 *
 * @param nextAt milliseconds since the epoch; null: paused
 */
export async function insertReport(
  tx: Queryable,
  workspaceId: string,
  given: ReportSettings,
  nextAt: number | null,
): Promise<Report> {
  const { rows } = await tx.query<Report>(
    `INSERT INTO reports (id, workspace_id, name, saved_view_id, query, schedule, recipients, show_revenue, is_active,
       next_at, due_at, created_at, updated_at)
     SELECT $2, $1, $4, $5, $6, $7, $8, $9, $10, ${instantOf('$3')}, ${instantOf('$3')}, at, at FROM (
       SELECT ${nextCreation('reports', '$1')} AS at) AS clock
     RETURNING ${COLUMNS}`,
    [workspaceId, uuidv7(), nextAt, ...valuesOf(given)],
  );
  if (!rows[0]) throw new Error('the report was not inserted');
  return rows[0];
}

/**
 * Changes a report. A worker that is making it at that moment sends nothing, and it is due again.
 *
 * @param nextAt milliseconds since the epoch; null: paused
 */
export async function updateReport(
  tx: Queryable,
  workspaceId: string,
  id: string,
  given: ReportSettings,
  nextAt: number | null,
): Promise<Report> {
  const { rows } = await tx.query<Report>(
    `UPDATE reports SET name = $4, saved_view_id = $5, query = $6, schedule = $7, recipients = $8, show_revenue = $9,
       is_active = $10, next_at = ${instantOf('$3')}, failures = 0, error = NULL, updated_at = clock_timestamp(),
       due_at = CASE WHEN requested_at IS NULL THEN ${instantOf('$3')} ELSE clock_timestamp() END
     WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [workspaceId, id, nextAt, ...valuesOf(given)],
  );
  if (!rows[0]) throw new Error('the report was not updated');
  return rows[0];
}

/** Makes a report due now, besides its schedule. @returns false when it was requested less than a minute ago */
export async function requestReport(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE reports SET requested_at = clock_timestamp(), due_at = clock_timestamp()
     WHERE workspace_id = $1 AND id = $2
       AND coalesce(requested_at, last_sent_at, '-infinity') < clock_timestamp() - interval '1 minute'`,
    [workspaceId, id],
  );
  return rowCount === 1;
}

/** Gives the reports and alerts of a saved view its query, before the view is deleted: they continue as they are. */
export async function keepQueryOfView(tx: Queryable, workspaceId: string, viewId: string): Promise<void> {
  for (const table of ['reports', 'alerts']) {
    await tx.query(
      `UPDATE ${table} AS kept SET query = v.query, saved_view_id = NULL FROM saved_views v
       WHERE v.id = $2 AND v.workspace_id = $1 AND kept.saved_view_id = v.id AND kept.workspace_id = $1`,
      [workspaceId, viewId],
    );
  }
}
