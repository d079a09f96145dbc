import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from '../client.ts';

/** A question to the store: text with `{name:Type}` parameters, never with values in it. */
export type Question = {
  sql: string;
  params: Record<string, unknown>;
  /** Longest time the store may work on it, in seconds. Past it the question fails with code 159. */
  seconds: number;
  /** How the store shall go about it. */
  settings?: ClickHouseSettings;
};

/** The client gives up a connection that is silent for 30 s; a question that may take longer says it is alive. */
export const ALIVE = {
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
} as const;

/**
 * Asks, and waits for every row. A 64-bit integer comes as text; what a row holds is the question's to know.
 *
 * @throws {ClickHouseError} with code 159 past `seconds`; a network error when the store is away
 */
export async function ask<Row>(client: ClickHouseClient, question: Question): Promise<Row[]> {
  return client.questions.rows<Row>(asked(question));
}

/** As {@link ask}, each row as its text of JSON, for answers that pass it on. */
export async function askLines(client: ClickHouseClient, question: Question): Promise<string[]> {
  return client.questions.lines(asked(question));
}

const asked = ({ sql, params, seconds, settings }: Question) => ({
  sql,
  params,
  settings: { max_execution_time: seconds, ...(seconds > 20 && ALIVE), ...settings },
});
