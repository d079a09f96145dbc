import { createHash } from 'node:crypto';
import type { Queryable } from '../database/pool.ts';

/** A destination that this worker requests. */
export type DueDestination = {
  workspaceId: string;
  url: string;
  failures: number;
  /** The end of the claim: only the worker whose claim holds may store what it found. */
  claim: string;
};

/** Most destinations that are checked in a workspace, the newest ones. A request each two seconds takes half a day. */
const MOST_CHECKED = 20_000;
const GAP = "interval '2 seconds'";

/** SQL: links that lead visitors somewhere now. Macros stay in the URL. */
const LIVE = `l.deleted_at IS NULL AND NOT l.archived AND l.blocked_at IS NULL
  AND (l.expires_at IS NULL OR l.expires_at > now())`;

/**
 * Queues the destinations of a workspace's live links that are not queued yet, and drops those that no link has any
 * more. Of a workspace that does not want the check all are dropped.
 */
export async function queueDestinations(db: Queryable, workspaceId: string): Promise<void> {
  await db.query(
    `WITH wanted AS (
       SELECT d.destination_url AS url, sha256(convert_to(d.destination_url, 'UTF8')) AS hash, max(l.created_at) AS at
       FROM links l JOIN destinations d ON d.id = l.destination_id JOIN workspaces w ON w.id = l.workspace_id
       WHERE l.workspace_id = $1 AND w.check_destinations AND ${LIVE} AND d.destination_url ~* '^https?://'
       GROUP BY d.destination_url ORDER BY at DESC LIMIT ${MOST_CHECKED}
     ), dropped AS (
       DELETE FROM destination_checks c WHERE c.workspace_id = $1
         AND NOT EXISTS (SELECT FROM wanted WHERE wanted.hash = c.url_sha256)
     )
     INSERT INTO destination_checks (workspace_id, url_sha256, url, host, due_at)
     SELECT $1, hash, url, lower(substring(url FROM '^[^/]+//(?:[^/?#@]*@)?([^/?#]+)')),
       now() + (row_number() OVER (ORDER BY at DESC) - 1) * ${GAP} FROM wanted
     WHERE NOT EXISTS (SELECT FROM destination_checks c WHERE c.workspace_id = $1 AND c.url_sha256 = wanted.hash)
     ON CONFLICT DO NOTHING`,
    [workspaceId],
  );
}

/** Returns the workspaces that want their destinations checked, or that have some queued. */
export async function workspacesWithChecks(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM workspaces w WHERE (check_destinations AND removed_at IS NULL AND suspended_at IS NULL)
       OR EXISTS (SELECT FROM destination_checks c WHERE c.workspace_id = w.id)`,
  );
  return rows.map(({ id }) => id);
}

/** Claims destinations that are due. Times are milliseconds since the epoch. */
export async function claimDestinations(
  db: Queryable,
  now: number,
  leaseMs: number,
  most: number,
): Promise<DueDestination[]> {
  const { rows } = await db.query<DueDestination>(
    `UPDATE destination_checks SET due_at = to_timestamp(($1::float8 + $2) / 1000)
     WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM destination_checks WHERE due_at <= to_timestamp($1::float8 / 1000)
       ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
     RETURNING workspace_id AS "workspaceId", url, failures, due_at::text AS claim`,
    [now, leaseMs, most],
  );
  return rows;
}

/** Stores how a destination responded. @param error null: it works @param dueAt milliseconds since the epoch */
export async function settleDestination(
  db: Queryable,
  { workspaceId, url, claim }: DueDestination,
  { error, now, dueAt }: { error: string | null; now: number; dueAt: number },
): Promise<void> {
  await db.query(
    `UPDATE destination_checks SET due_at = to_timestamp($4::float8 / 1000), error = $5,
       failures = CASE WHEN $5::text IS NULL THEN 0 ELSE least(failures + 1, 1000) END,
       failing_since = CASE WHEN $5::text IS NOT NULL THEN coalesce(failing_since, to_timestamp($6::float8 / 1000)) END
     WHERE workspace_id = $1 AND url_sha256 = $2 AND due_at = $3::timestamptz`,
    [workspaceId, createHash('sha256').update(url).digest(), claim, dueAt, error, now],
  );
}
