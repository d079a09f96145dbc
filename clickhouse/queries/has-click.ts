import type { ClickHouseClient } from '../client.ts';
import { IS_COUNTED } from './click-conditions.ts';
import { runQuery } from './run-query.ts';

/** Returns whether a person has clicked a link of the workspace. */
export async function hasClick(clickhouse: ClickHouseClient, workspaceId: string): Promise<boolean> {
  const rows = await runQuery(clickhouse, {
    sql: `SELECT 1 FROM clicks WHERE workspace_id = {workspace:UUID} AND ${IS_COUNTED} LIMIT 1`,
    params: { workspace: workspaceId },
    seconds: 5,
  });
  return rows.length > 0;
}
