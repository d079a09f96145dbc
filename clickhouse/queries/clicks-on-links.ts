import type { ClickHouseClient } from '../client.ts';
import { coverOf, generationsOf } from '../rollups/cover.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import { CLICKS } from './click-conditions.ts';
import { runQuery } from './run-query.ts';
import { inSpans } from './visible-clicks.ts';

const NANOS_PER_MILLI = 1_000_000n;

/**
 * Returns the all-time clicks of each of some links by link id, without bots: it reads one row for each rolled-up month
 * or day, and the other clicks one by one. Links without clicks are left out.
 */
export async function clicksOnLinks(
  client: ClickHouseClient,
  given: { workspaceId: string; linkIds: readonly string[]; now: Date },
): Promise<Map<string, number>> {
  const { workspaceId, linkIds, now } = given;
  if (linkIds.length === 0) return new Map();
  const span = { from: 0n, to: BigInt(now.getTime()) * NANOS_PER_MILLI };
  const cover = coverOf(span, await rolledUpPeriods(client));
  const outside = inSpans(cover.rest);
  const params: Record<string, unknown> = {
    ...outside.params,
    workspace: workspaceId,
    links: linkIds,
    generations: generationsOf(cover),
  };
  const rows = await runQuery<{ link_id: string; total: string }>(client, {
    sql: `SELECT link_id, sum(clicks) AS total FROM (
            SELECT link_id, sum(clicks) AS clicks FROM clicks_rolled_up
            WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)}
              AND link_id IN {links:Array(UUID)} GROUP BY link_id
            UNION ALL
            SELECT link_id, ${CLICKS} AS clicks FROM clicks
            WHERE workspace_id = {workspace:UUID} AND link_id IN {links:Array(UUID)} AND NOT is_bot
              AND ${outside.sql} GROUP BY link_id)
          GROUP BY link_id`,
    params,
    seconds: 10,
  });
  return new Map(rows.map((row) => [row.link_id, Number(row.total)]));
}
