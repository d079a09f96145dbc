import type { Queryable } from '../database/pool.ts';
import { missedParameters, recordsMissed } from './replica-repairs.ts';

/** An import of clicks. */
export type ClickImport = {
  id: string;
  source: string;
  /** Rows of ClickHouse. */
  rows: number;
  /** Clicks that the rows represent. */
  clicks: number;
  orders: number;
  /** Microseconds; null: no click was stored. */
  first_ts: number | null;
  last_ts: number | null;
  created_at: Date;
  undone_at: Date | null;
  /** When its clicks had left ClickHouse; null after `undone_at` means that a worker still removes them. */
  removed_at: Date | null;
};

const COLUMNS = `id, source, rows::float8 AS rows, clicks::float8 AS clicks, orders::float8 AS orders,
  first_ts::float8 AS first_ts, last_ts::float8 AS last_ts, created_at, undone_at, removed_at`;

/** Most imports in a list. */
const LISTED = 500;

/** Returns the imports of a workspace, newest first. */
export async function listClickImports(db: Queryable, workspaceId: string): Promise<ClickImport[]> {
  const { rows } = await db.query<ClickImport>(
    `SELECT ${COLUMNS} FROM click_imports WHERE workspace_id = $1 ORDER BY created_at DESC LIMIT ${LISTED}`,
    [workspaceId],
  );
  return rows;
}

/** Returns an import of a workspace, or null. */
export async function clickImport(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<ClickImport | null> {
  const { rows } = await db.query<ClickImport>(
    `SELECT ${COLUMNS} FROM click_imports WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** Returns the workspaces that have an import of this id, for operators. */
export async function workspacesOfImport(db: Queryable, id: string): Promise<string[]> {
  const { rows } = await db.query<{ workspace_id: string }>(
    'SELECT workspace_id FROM click_imports WHERE id = $1',
    [id],
  );
  return rows.map((row) => row.workspace_id);
}

/** Returns how often an import of the workspace was undone: the removed clicks may be imported again. */
export async function undoneImports(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ undone: string }>(
    'SELECT count(*) AS undone FROM click_imports WHERE workspace_id = $1 AND undone_at IS NOT NULL',
    [workspaceId],
  );
  return Number(rows[0]?.undone ?? 0);
}

/**
 * Creates an import, or continues it.
 *
 * @param given.isStoring its clicks are about to be stored, until {@link endClickImport}
 */
export async function beginClickImport(
  db: Queryable,
  given: { id: string; workspaceId: string; source: string; isStoring?: boolean },
): Promise<void> {
  await db.query(
    `INSERT INTO click_imports (id, workspace_id, source, roll_up_due, is_storing)
     VALUES ($1, $2, $3, clock_timestamp(), $4)
     ON CONFLICT (workspace_id, id) DO UPDATE SET roll_up_due = excluded.roll_up_due,
       is_storing = click_imports.is_storing OR excluded.is_storing`,
    [given.id, given.workspaceId, given.source, given.isStoring ?? false],
  );
}

/** Records that all clicks of an import are stored, or recorded as missed, in every replica. */
export async function endClickImport(db: Queryable, workspaceId: string, id: string): Promise<void> {
  await db.query('UPDATE click_imports SET is_storing = false WHERE workspace_id = $1 AND id = $2', [
    workspaceId,
    id,
  ]);
}

/**
 * Returns imports that run, or that were killed or failed, of a workspace or of all. While its lease is held, none of a
 * workspace runs.
 */
export async function importsToComplete(
  db: Queryable,
  workspaceId: string | null,
): Promise<{ workspaceId: string; importId: string }[]> {
  const { rows } = await db.query<{ workspaceId: string; importId: string }>(
    `SELECT workspace_id AS "workspaceId", id AS "importId" FROM click_imports
     WHERE is_storing AND ($1::uuid IS NULL OR workspace_id = $1) ORDER BY created_at LIMIT 100`,
    [workspaceId],
  );
  return rows;
}

/** Records that replicas have the same clicks of an import that ended early. Every other one has missed them. */
export async function recordComplete(
  db: Queryable,
  { workspaceId, importId }: { workspaceId: string; importId: string },
  replicas: readonly string[],
): Promise<void> {
  await db.query(
    `WITH ${recordsMissed(3)}
     UPDATE click_imports SET is_storing = false, roll_up_due = clock_timestamp()
     WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, importId, ...missedParameters(writeOf(workspaceId, importId, replicas))],
  );
}

/**
 * Adds the numbers of stored rows and clicks.
 *
 * @param stored times in microseconds
 * @param replicas the replicas of ClickHouse that have them
 */
export async function addToClickImport(
  db: Queryable,
  { id, workspaceId }: { id: string; workspaceId: string },
  stored: { rows: number; clicks: number; firstTs: number; lastTs: number },
  replicas: readonly string[],
): Promise<void> {
  await db.query(
    `WITH ${recordsMissed(7)}
     UPDATE click_imports SET rows = rows + $2, clicks = clicks + $3, first_ts = least(first_ts, $4),
       last_ts = greatest(last_ts, $5), updated_at = clock_timestamp(), roll_up_due = clock_timestamp()
     WHERE id = $1 AND workspace_id = $6`,
    [
      ...[id, stored.rows, stored.clicks, stored.firstTs, stored.lastTs, workspaceId],
      ...missedParameters(writeOf(workspaceId, id, replicas)),
    ],
  );
}

/** Adds orders that were stored. */
export async function addOrdersToImport(
  db: Queryable,
  { id, workspaceId }: { id: string; workspaceId: string },
  orders: number,
): Promise<void> {
  await db.query(
    `UPDATE click_imports SET orders = orders + $3, updated_at = clock_timestamp()
     WHERE id = $1 AND workspace_id = $2`,
    [id, workspaceId, orders],
  );
}

/** Marks an import as undone. Its clicks are about to be removed. */
export async function undoClickImport(db: Queryable, workspaceId: string, id: string): Promise<void> {
  await db.query(
    `UPDATE click_imports SET undone_at = coalesce(undone_at, clock_timestamp()), removed_at = NULL,
       roll_up_due = clock_timestamp(), is_storing = false
     WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, id],
  );
}

/**
 * Records that the clicks of an import that was undone are in no response. Roll-ups follow.
 *
 * @param replicas the replicas of ClickHouse that they left
 */
export async function clicksRemoved(
  db: Queryable,
  workspaceId: string,
  id: string,
  replicas: readonly string[],
): Promise<void> {
  await db.query(
    `WITH ${recordsMissed(3)}
     UPDATE click_imports SET removed_at = clock_timestamp(), roll_up_due = clock_timestamp()
     WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, id, ...missedParameters(writeOf(workspaceId, id, replicas))],
  );
}

const writeOf = (workspaceId: string, id: string, stored: readonly string[]) => ({
  stored,
  of: [{ work: 'click_imports' as const, subject: `${workspaceId}/${id}` }],
});

/** SQL: an import that was undone while ClickHouse did not respond. */
const IS_TO_REMOVE = 'undone_at IS NOT NULL AND removed_at IS NULL';

/** Returns undone imports whose clicks are still stored, of a workspace or of all, oldest first. */
export async function importsToRemove(
  db: Queryable,
  workspaceId: string | null,
): Promise<{ workspaceId: string; importId: string }[]> {
  const { rows } = await db.query<{ workspaceId: string; importId: string }>(
    `SELECT workspace_id AS "workspaceId", id AS "importId" FROM click_imports
     WHERE ${IS_TO_REMOVE} AND ($1::uuid IS NULL OR workspace_id = $1) ORDER BY undone_at LIMIT 100`,
    [workspaceId],
  );
  return rows;
}

/**
 * SQL: an import with work for a job. A running import changes clicks every other second, so one pass of the roll-ups
 * follows its last change.
 */
export const HAS_WORK = `(roll_up_due < now() - interval '5 seconds' OR (${IS_TO_REMOVE}) OR is_storing)`;

/** Returns the newest change by an import that roll-ups may not have, by PostgreSQL's clock; null: there is none. */
export async function rollUpDue(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ due: string | null }>(
    `SELECT max(roll_up_due)::text AS due FROM (
       SELECT roll_up_due FROM click_imports WHERE roll_up_due IS NOT NULL
       UNION ALL SELECT roll_up_due FROM workspace_imports WHERE roll_up_due IS NOT NULL) AS imports`,
  );
  return rows[0]?.due ?? null;
}

/** Records that roll-ups contain every change up to an instant of {@link rollUpDue}. */
export async function rolledUp(db: Queryable, until: string): Promise<void> {
  for (const table of ['click_imports', 'workspace_imports']) {
    await db.query(`UPDATE ${table} SET roll_up_due = NULL WHERE roll_up_due <= $1::timestamptz`, [until]);
  }
}
