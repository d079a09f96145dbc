import type { ReportProblem } from '../../core/tracking/report-problems.ts';
import type { Queryable } from '../database/pool.ts';

/** How often a problem was found in a field of a workspace's reports. */
export type ProblemCount = {
  workspaceId: string;
  problem: ReportProblem;
  field: string;
  count: number;
  /** The last value, without personal data; null: none. */
  example: string | null;
  at: Date;
};

/** Adds to the counts. Leaves out unknown workspaces. */
export async function addReportProblems(db: Queryable, found: readonly ProblemCount[]): Promise<void> {
  if (found.length === 0) return;
  await db.query(
    `INSERT INTO report_problems AS known (workspace_id, problem, field, count, example, last_at)
     SELECT workspace.id, found.problem, found.field, found.count, found.example, found.last_at
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::timestamptz[])
       AS found (workspace_id, problem, field, count, example, last_at)
     JOIN workspaces AS workspace ON workspace.id = found.workspace_id
     ORDER BY workspace.id, found.problem, found.field
     ON CONFLICT (workspace_id, problem, field) DO UPDATE
       SET count = known.count + EXCLUDED.count, example = EXCLUDED.example, last_at = EXCLUDED.last_at`,
    [
      found.map((one) => one.workspaceId),
      found.map((one) => one.problem),
      found.map((one) => one.field),
      found.map((one) => one.count),
      found.map((one) => one.example),
      found.map((one) => one.at),
    ],
  );
}

/** Returns the workspace's problems, the most recent first. */
export async function reportProblems(
  db: Queryable,
  workspaceId: string,
): Promise<Omit<ProblemCount, 'workspaceId'>[]> {
  const { rows } = await db.query<Omit<ProblemCount, 'workspaceId'>>(
    `SELECT problem, field, count, example, last_at AS at FROM report_problems WHERE workspace_id = $1
     ORDER BY last_at DESC, problem, field LIMIT 100`,
    [workspaceId],
  );
  return rows;
}

/** Deletes the workspace's problems, for instance once they are fixed. */
export async function deleteReportProblems(db: Queryable, workspaceId: string): Promise<void> {
  await db.query('DELETE FROM report_problems WHERE workspace_id = $1', [workspaceId]);
}
