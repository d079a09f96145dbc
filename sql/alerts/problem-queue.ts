import type { AlertState } from '../../core/alerts/alert-state.ts';
import type { ToldProblem } from '../../core/alerts/problem-content.ts';
import type { Queryable } from '../database/pool.ts';
import { instantOf, millis, withClaimed } from '../reports/claimed-workspace.ts';
import { type Workspace, workspaceColumns } from '../workspaces/workspaces.ts';

/** A workspace whose problems this worker looks for. */
export type ClaimedProblems = {
  workspace: Workspace;
  isUsageDue: boolean;
  /** The end of the claim. It is the fence: only the worker whose claim holds may settle. */
  claim: string;
};

/**
 * Queues each workspace that is not queued yet: workspaces of sample data have no problems.
 *
 * @param now milliseconds since the epoch
 */
export async function queueProblemChecks(db: Queryable, now: number): Promise<void> {
  await db.query(
    `INSERT INTO problem_checks (workspace_id, due_at, usage_due_at)
     SELECT id, at, at FROM workspaces w, ${instantOf('$1')} AS at
     WHERE sample_of IS NULL AND removed_at IS NULL
       AND NOT EXISTS (SELECT FROM problem_checks c WHERE c.workspace_id = w.id)
     ON CONFLICT DO NOTHING`,
    [now],
  );
}

/** Claims workspaces that are due. @param now milliseconds since the epoch */
export async function claimProblemChecks(
  db: Queryable,
  now: number,
  leaseMs: number,
  most: number,
): Promise<ClaimedProblems[]> {
  const { rows } = await db.query<Workspace & { isUsageDue: boolean; claim: string }>(
    `${withClaimed('problem_checks', 'workspace_id')}
     SELECT ${workspaceColumns('w')}, c.usage_due_at <= ${instantOf('$1')} AS "isUsageDue",
       c.due_at::text AS claim
     FROM claimed c JOIN workspaces w ON w.id = c.workspace_id`,
    [now, leaseMs, most],
  );
  return rows.map(({ isUsageDue, claim, ...workspace }) => ({ workspace, isUsageDue, claim }));
}

/**
 * Sets when a workspace is due again. Times are milliseconds since the epoch.
 *
 * @param usageDueAt null: as it was
 * @returns false when the claim is over
 */
export async function settleProblemCheck(
  tx: Queryable,
  { workspace, claim }: ClaimedProblems,
  { dueAt, usageDueAt }: { dueAt: number; usageDueAt: number | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE problem_checks SET due_at = ${instantOf('$3')},
       usage_due_at = coalesce(${instantOf('$4')}, usage_due_at)
     WHERE workspace_id = $1 AND due_at = $2::timestamptz`,
    [workspace.id, claim, dueAt, usageDueAt],
  );
  return rowCount === 1;
}

/** What is known of a problem: whether it lasts, and what owners were told. Times are milliseconds since the epoch. */
export type KnownProblem = AlertState &
  Omit<ToldProblem, 'since'> & {
    /** Id or name of what is affected, or empty. */
    subject: string;
  };

/** Returns what is known of a workspace's problems. */
export async function knownProblems(tx: Queryable, workspaceId: string): Promise<KnownProblem[]> {
  const { rows } = await tx.query<KnownProblem>(
    `SELECT kind, subject, name, count::int AS count, reason, state, ${millis('since')} AS since,
       ${millis('told_at')} AS "toldAt", is_told AS "isTold"
     FROM problem_alerts WHERE workspace_id = $1 ORDER BY since, kind, subject`,
    [workspaceId],
  );
  return rows;
}

/** Saves what is known of a problem. */
export async function saveProblem(tx: Queryable, workspaceId: string, known: KnownProblem): Promise<void> {
  const { kind, subject, name, count, reason, state, since, toldAt, isTold } = known;
  await tx.query(
    `INSERT INTO problem_alerts (workspace_id, kind, subject, name, count, reason, state, since, told_at, is_told)
     VALUES ($1, $2, $3, $4, $5, $6, $7, ${instantOf('$8')}, ${instantOf('$9')}, $10)
     ON CONFLICT (workspace_id, kind, subject) DO UPDATE SET name = excluded.name, count = excluded.count,
       reason = excluded.reason, state = excluded.state, since = excluded.since, told_at = excluded.told_at,
       is_told = excluded.is_told`,
    [workspaceId, kind, subject, name, count, reason, state, since, toldAt, isTold],
  );
}

/** Forgets the problems that ended, and whose quiet hours are over. @param toldBefore milliseconds since the epoch */
export async function forgetProblems(tx: Queryable, workspaceId: string, toldBefore: number): Promise<void> {
  await tx.query(
    `DELETE FROM problem_alerts WHERE workspace_id = $1 AND state = 'ok'
       AND coalesce(told_at, '-infinity') < ${instantOf('$2')}`,
    [workspaceId, toldBefore],
  );
}
