import type { ClickHouseClient } from './client.ts';
import { runQuery } from './queries/run-query.ts';

/** Clicks of a workspace before an instant, in milliseconds since the epoch, the start of a UTC month. */
export type Expired = { workspaceIds: readonly string[]; before: number };

const SECONDS = 600;

/** Workspaces of one statement: a mutation takes no parameters, and its text is kept. */
const WORKSPACES = 500;

/** Returns the months (`202511`) that still have expired clicks, each with the workspaces that have them. */
export async function expiredMonths(
  client: ClickHouseClient,
  { workspaceIds, before }: Expired,
): Promise<Map<number, string[]>> {
  const rows = await runQuery<{ month: number; workspaces: string[] }>(client, {
    sql: `SELECT toYYYYMM(ts) AS month, groupUniqArray(workspace_id) AS workspaces FROM clicks
          WHERE workspace_id IN {workspaces:Array(UUID)} AND ts < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
          GROUP BY month ORDER BY month`,
    params: { workspaces: workspaceIds, before },
    seconds: SECONDS,
  });
  return new Map(rows.map(({ month, workspaces }) => [month, workspaces]));
}

/** Starts the removal of a month's clicks of these workspaces from disk. Queries run meanwhile. */
export async function removeMonth(
  client: ClickHouseClient,
  month: number,
  workspaceIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < workspaceIds.length; from += WORKSPACES) {
    const ids = workspaceIds.slice(from, from + WORKSPACES).map(quoted);
    await client.command({
      // A mutation does not see masked rows: without the second command they would stay on disk.
      query: `ALTER TABLE clicks DELETE IN PARTITION ${Number(month)} WHERE workspace_id IN (${ids.join(', ')}),
                APPLY DELETED MASK IN PARTITION ${Number(month)}`,
      clickhouse_settings: { mutations_sync: '0' },
    });
  }
}

function quoted(uuid: string): string {
  if (!/^[0-9a-f-]{36}$/.test(uuid)) throw new Error(`${JSON.stringify(uuid)} must be a UUID`);
  return `'${uuid}'`;
}
