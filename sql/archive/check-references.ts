import type { Queryable } from '../database/pool.ts';
import { ARCHIVED_TABLES } from './archived-tables.ts';
import { rowsOf } from './read-table.ts';

type Reference = { table: string; column: string; to: string; to_column: string };

/** SQL: foreign keys of one column between tables, of which the second has workspaces. */
const REFERENCES = `SELECT c.relname AS "table", a.attname AS "column", f.relname AS "to", b.attname AS to_column
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
  JOIN pg_attribute b ON b.attrelid = f.oid AND b.attnum = k.confkey[1]
  WHERE k.contype = 'f' AND cardinality(k.conkey) = 1 AND c.relname = ANY ($1)
    AND EXISTS (SELECT FROM pg_attribute w WHERE w.attrelid = f.oid AND w.attname = 'workspace_id' AND NOT w.attisdropped)
  ORDER BY 1, 2`;

/**
 * Returns the name of a table with a row of the imported workspace that refers to a row of another one, or that became
 * another workspace's; null: there is none. An archive may come from someone who knows ids of others.
 *
 * @param stored the number of rows that were stored, by table
 */
export async function rowsOfOthers(
  tx: Queryable,
  workspaceId: string,
  stored: Readonly<Record<string, number>>,
): Promise<string | null> {
  for (const table of ARCHIVED_TABLES) {
    if (table.rows === undefined) continue;
    const { rows } = await tx.query<{ own: number }>(
      `SELECT count(*) AS own FROM ${table.name} AS t WHERE ${rowsOf(table)}`,
      [workspaceId],
    );
    if (rows[0]?.own !== stored[table.name]) return table.name;
  }
  const names = ARCHIVED_TABLES.map(({ name }) => name);
  const { rows: references } = await tx.query<Reference>(REFERENCES, [names]);
  for (const { table, column, to, to_column } of references) {
    const archived = ARCHIVED_TABLES.find(({ name }) => name === table);
    if (archived === undefined) continue;
    const { rowCount } = await tx.query(
      `SELECT FROM ${table} AS t JOIN ${to} AS other ON other.${to_column} = t.${column}
       WHERE ${rowsOf(archived)} AND other.workspace_id <> $1 LIMIT 1`,
      [workspaceId],
    );
    if (rowCount !== 0) return `${table}.${column}`;
  }
  return null;
}
