import type { ClickHouseClient } from './client.ts';
import { runQuery } from './queries/run-query.ts';

/** Longest time of one statement, in seconds. */
const SECONDS = 600;

/**
 * Hides the clicks of an import from every query, and returns how many there were. When this resolves, a mask hides
 * them, and their removal from disk has begun.
 */
export async function removeImport(
  client: ClickHouseClient,
  { workspaceId, importId }: { workspaceId: string; importId: string },
): Promise<{ rows: number; clicks: number }> {
  const own = 'workspace_id = {workspace:UUID} AND imported AND import_id = {import:UUID}';
  const params = { workspace: workspaceId, import: importId };
  const months = await runQuery<{ month: number; rows: string; clicks: string }>(client, {
    sql: `SELECT toYYYYMM(ts) AS month, count() AS rows, count() + sum(extra_clicks) AS clicks FROM clicks
          WHERE ${own} GROUP BY month ORDER BY month`,
    params,
    seconds: SECONDS,
  });
  if (months.length === 0) return { rows: 0, clicks: 0 };
  await client.command({
    query: `DELETE FROM clicks WHERE ${own}`,
    query_params: params,
    clickhouse_settings: { lightweight_deletes_sync: '2', max_execution_time: SECONDS },
  });
  // A mutation takes no parameters, and does not see masked rows.
  for (const { month } of months) {
    await client.command({
      query: `ALTER TABLE clicks APPLY DELETED MASK IN PARTITION ${Number(month)}`,
      clickhouse_settings: { mutations_sync: '0' },
    });
  }
  return {
    rows: months.reduce((sum, { rows }) => sum + Number(rows), 0),
    clicks: months.reduce((sum, { clicks }) => sum + Number(clicks), 0),
  };
}
