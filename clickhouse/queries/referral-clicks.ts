import type { ClickHouseClient } from '../client.ts';
import { runQuery } from './run-query.ts';

/** Most referral links of one person. */
const MOST_LINKS = 100;

/**
 * Returns the referral links that visitors clicked, without clicks of bots, the most recently clicked first.
 *
 * @param before nanoseconds since the epoch, exclusive; null: up to the newest click
 */
export async function referralLinksClicked(
  client: ClickHouseClient,
  given: { workspaceId: string; visitorIds: readonly string[]; before: bigint | null },
): Promise<string[]> {
  const rows = await runQuery<{ link_id: string }>(client, {
    sql: `SELECT link_id FROM clicks
          WHERE workspace_id = {workspace:UUID} AND visitor_id IN {visitors:Array(UUID)} AND channel = 'referral'
            AND NOT is_bot ${given.before === null ? '' : "AND ts < fromUnixTimestamp64Nano({before:Int64}, 'UTC')"}
          GROUP BY link_id ORDER BY max(ts) DESC LIMIT ${MOST_LINKS}`,
    params: { workspace: given.workspaceId, visitors: given.visitorIds, before: given.before },
    seconds: 10,
  });
  return rows.map((row) => row.link_id);
}
