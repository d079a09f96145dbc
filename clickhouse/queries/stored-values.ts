import type { ClickHouseClient } from '../client.ts';
import { runQuery } from './run-query.ts';

/** Returns which of some names of browsers or systems the clicks of a workspace have. */
export async function storedAgentParts(
  clickhouse: ClickHouseClient,
  workspaceId: string,
  column: 'browser' | 'os',
  values: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await runQuery<{ value: string }>(clickhouse, {
    sql: `SELECT DISTINCT ${column} AS value FROM clicks
          WHERE workspace_id = {workspace:UUID} AND ${column} IN {values:Array(String)}`,
    params: { workspace: workspaceId, values },
    seconds: 10,
  });
  return new Set(rows.map(({ value }) => value));
}
