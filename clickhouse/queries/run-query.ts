import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from '../client.ts';

/** A query: text with `{name:Type}` parameters, never with values in it. */
export type Query = {
  sql: string;
  params: Record<string, unknown>;
  /** Longest time that ClickHouse may work on it, in seconds. A query that takes longer fails with code 159. */
  seconds: number;
  settings?: ClickHouseSettings;
};

/** Keeps the connection of a long query alive: the client closes one that is silent for 30 s. */
export const PROGRESS_HEADERS = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
} as const;

/**
 * Runs a query and returns all of its rows. A 64-bit integer comes as text; the caller names the type of a row.
 *
 * @throws {ClickHouseError} code 159 past `seconds`; a network error when ClickHouse is down
 */
export async function runQuery<Row>(client: ClickHouseClient, query: Query): Promise<Row[]> {
  return client.queries.rows<Row>(requestOf(query));
}

/** Runs a query and returns each row as its JSON text, for responses that pass rows on unread. */
export async function runQueryLines(client: ClickHouseClient, query: Query): Promise<string[]> {
  return client.queries.lines(requestOf(query));
}

const requestOf = ({ sql, params, seconds, settings }: Query) => ({
  sql,
  params,
  settings: { max_execution_time: seconds, ...(seconds > 20 && PROGRESS_HEADERS), ...settings },
});
