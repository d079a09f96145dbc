import type { ClickHouseClient } from '../client.ts';
import { IS_COUNTED, IS_OWN } from './click-conditions.ts';
import { runQuery } from './run-query.ts';

/**
 * Returns how many events of the workspace count toward its plan in `[from, to)`: clicks of people on links,
 * identifies, and orders. An order counts once, however often it was reported. Imported events do not count.
 */
export async function countEvents(
  clickhouse: ClickHouseClient,
  workspaceId: string,
  from: Date,
  to: Date,
): Promise<number> {
  const [row] = await runQuery<{ events: string }>(clickhouse, {
    sql: `
      WITH {workspace:UUID} AS workspace,
           fromUnixTimestamp64Milli({from:Int64}) AS since,
           fromUnixTimestamp64Milli({to:Int64}) AS until
      SELECT sum(events) AS events FROM (
        SELECT count() AS events FROM clicks
        WHERE workspace_id = workspace AND ts >= since AND ts < until AND ${IS_COUNTED} AND ${IS_OWN}
        UNION ALL
        SELECT count() FROM identifies FINAL WHERE workspace_id = workspace AND ts >= since AND ts < until
        UNION ALL
        SELECT count() FROM orders FINAL
        WHERE workspace_id = workspace AND ts >= since AND ts < until AND NOT imported
      )`,
    params: { workspace: workspaceId, from: from.getTime(), to: to.getTime() },
    seconds: 30,
  });
  return Number(row?.events ?? 0);
}
