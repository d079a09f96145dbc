import type { ClickHouseClient } from '../client.ts';
import { ELSEWHERE } from '../inserts/elsewhere.ts';

/** How far back clicks are compared with the log. Milliseconds; the table's TTL is longer. */
export const COMPARED_MS = 14 * 86_400_000;
/** A click must not become old between its record and its removal. Milliseconds. */
const MARGIN_MS = 86_400_000;

/** SQL: clicks of this log, which alone are counted. Imported ones have the ordinal 999. */
export const OF_THIS_LOG = `sequence < ${ELSEWHERE} AND toUnixTimestamp64Nano(ts) % 1000 != 999`;

/**
 * Records clicks that are about to be removed, so that the comparison with the log knows them, and returns the
 * condition under which they may go: a counted click that is stored between this record and the removal stays. The
 * caller repeats both until nothing is left. Records are a set, so a repeat changes nothing.
 *
 * @param condition on `clicks`
 * @param params its parameters
 * @returns SQL without parameters, to be added to the condition
 */
export async function recordRemoval(
  client: ClickHouseClient,
  condition: string,
  params: Record<string, unknown> = {},
): Promise<string> {
  const from = `toDateTime64('${new Date(Date.now() - COMPARED_MS - MARGIN_MS).toISOString().slice(0, 10)}', 9, 'UTC')`;
  await client.command({
    query: `INSERT INTO removed_clicks SELECT ts, sequence FROM clicks
            WHERE (${condition}) AND ts >= ${from} AND ${OF_THIS_LOG}`,
    query_params: params,
    clickhouse_settings: { wait_end_of_query: 1 },
  });
  return `(ts < ${from} OR NOT (${OF_THIS_LOG}) OR (ts, sequence) IN (SELECT ts, sequence FROM removed_clicks))`;
}
