import type { ClickHouseClient } from './client.ts';
import { runQuery } from './queries/run-query.ts';

export type StoredColumn = { name: string; type: string };

/** Returns the columns of a table that an insert gives, in their order, but those of `without`. */
export async function storedColumns(
  client: ClickHouseClient,
  { name, without = [] }: { name: string; without?: readonly string[] },
): Promise<StoredColumn[]> {
  const columns = await runQuery<StoredColumn>(client, {
    sql: `SELECT name, type FROM system.columns
      WHERE database = currentDatabase() AND table = {table:String} AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
      ORDER BY position`,
    params: { table: name },
    seconds: 30,
  });
  return columns.filter((column) => !without.includes(column.name));
}

/** Returns the columns as the quoted structure that the table function `input` takes. */
export function structureOf(columns: readonly StoredColumn[]): string {
  return columns
    .map(({ name, type }) => `${name} ${type}`.replaceAll('\\', '\\\\').replaceAll("'", "\\'"))
    .join(', ');
}
