import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { storedColumns } from '../stored-columns.ts';

/** A table of which each replica has the same rows. */
export type ComparedTable = {
  name: 'attributed_shares' | 'clicks' | 'deleted_links' | 'identifies' | 'orders' | 'removed_clicks';
  /** Columns that no two rows share. */
  key: readonly string[];
  /** Only one of several rows with the same key counts. */
  final: boolean;
  /** Rows have `ts`. */
  hasTimes: boolean;
  /** Columns that differ between replicas. */
  without?: readonly string[];
};

/**
 * Every table that a replica is filled with. The others follow from them, or are of the replica itself: roll-ups,
 * cached parts of reports, and `migrations`.
 */
export const COMPARED_TABLES: readonly ComparedTable[] = [
  { name: 'deleted_links', key: ['workspace_id', 'link_id'], final: true, hasTimes: false },
  { name: 'removed_clicks', key: ['ts', 'sequence'], final: true, hasTimes: true },
  { name: 'clicks', key: ['workspace_id', 'ts'], final: false, hasTimes: true },
  { name: 'identifies', key: ['workspace_id', 'visitor_id', 'ts'], final: true, hasTimes: true },
  { name: 'orders', key: ['workspace_id', 'order_id'], final: true, hasTimes: true },
  {
    name: 'attributed_shares',
    key: ['workspace_id', 'ts', 'order_id', 'version', 'part'],
    final: true,
    hasTimes: true,
    // The time at which a replica got the share.
    without: ['written'],
  },
];

/** Returns the table of a name. */
export function comparedTable(name: ComparedTable['name']): ComparedTable {
  const found = COMPARED_TABLES.find((table) => table.name === name);
  if (!found) throw new RangeError(`no table ${name} is compared`);
  return found;
}

/** Times in seconds since the epoch, the end excluded. */
export type Span = { from: number; to: number };

/** SQL on the rows of a table, with its parameters. */
export type Condition = { sql: string; params: Record<string, unknown> };

/** Number of rows of a span, and a hash that does not depend on their order. */
export type SpanContent = { rows: number; hash: string };

/** Longest time of one query, in seconds. */
const SECONDS = 600;

/** Returns SQL of the rows of a span. A table without times has one span. */
export function rowsOfSpan({ hasTimes }: ComparedTable, { from, to }: Span): Condition {
  if (!hasTimes) return { sql: 'true', params: {} };
  return {
    sql: `ts >= toDateTime64({span_from:UInt32}, 9, 'UTC') AND ts < toDateTime64({span_to:UInt32}, 9, 'UTC')`,
    params: { span_from: from, span_to: to },
  };
}

/** Returns SQL of the rows that two conditions select. */
export const both = (one: Condition, other: Condition): Condition => ({
  sql: `(${one.sql}) AND (${other.sql})`,
  params: { ...one.params, ...other.params },
});

/** Returns the months of a table that have rows, the oldest first. */
export async function monthsOf(client: ClickHouseClient, table: ComparedTable): Promise<Span[]> {
  if (!table.hasTimes) return [{ from: 0, to: 1 }];
  const rows = await runQuery<{ month: number }>(client, {
    sql: `SELECT DISTINCT toYYYYMM(ts) AS month FROM ${table.name} ORDER BY month`,
    params: {},
    seconds: SECONDS,
  });
  return rows.map(({ month }) => {
    const [year, index] = [Math.floor(month / 100), (month % 100) - 1];
    return { from: Date.UTC(year, index) / 1_000, to: Date.UTC(year, index + 1) / 1_000 };
  });
}

/** Returns the contents of the pieces of a span that have rows, by their begin. @param seconds length of a piece */
export async function contentsOf(
  client: ClickHouseClient,
  table: ComparedTable,
  span: Span,
  seconds: number,
  condition: Condition,
): Promise<Map<number, SpanContent>> {
  const of = both(rowsOfSpan(table, span), condition);
  const begin = table.hasTimes ? `intDiv(toUnixTimestamp64Nano(ts), ${seconds}000000000) * ${seconds}` : '0';
  const rows = await runQuery<{ begin: string; rows: string; hash: string }>(client, {
    sql: `SELECT ${begin} AS begin, count() AS rows, toString(sum(cityHash64(${await hashedColumns(client, table)}))) AS hash
      FROM ${table.name} ${table.final ? 'FINAL' : ''} WHERE ${of.sql} GROUP BY begin ORDER BY begin`,
    params: of.params,
    seconds: SECONDS,
  });
  return new Map(rows.map(({ begin: at, rows: count, hash }) => [Number(at), { rows: Number(count), hash }]));
}

/** Returns SQL of the columns that are equal in each replica, in the order of their names. */
export async function hashedColumns(client: ClickHouseClient, table: ComparedTable): Promise<string> {
  const columns = await storedColumns(client, table);
  return columns
    .map(({ name }) => name)
    .sort()
    .join(', ');
}
