import type { Queryable } from '../database/pool.ts';
import type { ArchivedTable } from './archived-table.ts';

/** Rows in one response of PostgreSQL, where the table has no `atOnce`. */
const PAGE = 1_000;

/** Returns the columns of a table that are in archives, in the table's order. */
export async function archivedColumns(
  db: Queryable,
  { name, without = {} }: ArchivedTable,
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [name],
  );
  return rows.map((row) => row.name).filter((column) => !(column in without));
}

/** Begins the snapshot of an archive, without a time limit. Every server then writes values as the same text. */
export async function beginExport(tx: Queryable): Promise<void> {
  await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await tx.query(
    `SELECT set_config('statement_timeout', '0', true), set_config('timezone', 'UTC', true),
       set_config('datestyle', 'ISO', true), set_config('bytea_output', 'hex', true)`,
  );
}

/** SQL: the rows `t` of the workspace `$1`. */
export function rowsOf({ rows = 't.workspace_id = $1' }: ArchivedTable): string {
  return rows;
}

/**
 * Yields the rows of a workspace in a table, each as one line of JSON, in the order of the archive. The transaction has
 * one snapshot for all tables.
 */
export async function* readTable(
  tx: Queryable,
  table: ArchivedTable,
  workspaceId: string,
): AsyncGenerator<string[]> {
  const columns = await archivedColumns(tx, table);
  const values = columns.map((column) => `${table.written?.[column] ?? `t.${column}`} AS ${column}`);
  // A cursor takes no parameters in every mode of a pooler; the id is a UUID of the database.
  await tx.query(
    `DECLARE archived NO SCROLL CURSOR FOR
     SELECT replace(row_to_json(r)::text, E'\\n', ' ') AS line FROM (
       SELECT ${values.join(', ')} FROM ${table.name} AS t WHERE ${rowsOf(table)} ORDER BY ${table.order}) AS r`,
    [workspaceId],
  );
  try {
    for (;;) {
      const { rows } = await tx.query<{ line: string }>(`FETCH ${table.atOnce ?? PAGE} FROM archived`);
      if (rows.length === 0) return;
      yield rows.map(({ line }) => line);
    }
  } finally {
    await tx.query('CLOSE archived');
  }
}

/** The newest version of an order, and the number of the newest lead, in a snapshot; 0: none. */
export async function newestEvents(
  tx: Queryable,
  workspaceId: string,
): Promise<{ version: number; lead: number }> {
  const { rows } = await tx.query<{ version: number | null; lead: number | null }>(
    `SELECT (SELECT max(version) FROM orders WHERE workspace_id = $1) AS version,
       (SELECT max(internal_id) FROM leads WHERE workspace_id = $1) AS lead`,
    [workspaceId],
  );
  return { version: rows[0]?.version ?? 0, lead: rows[0]?.lead ?? 0 };
}

/** Returns how many rows of a workspace are in a table that its archive leaves out. */
export async function countLeftOut(db: Queryable, table: string, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table} WHERE workspace_id = $1`,
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Returns how many rows have a value in a column that is not in the archive. */
export async function countWithout(
  db: Queryable,
  table: ArchivedTable,
  column: string,
  workspaceId: string,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table.name} AS t WHERE ${rowsOf(table)} AND t.${column} IS NOT NULL`,
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}
