import type { ClickHouseClient } from '../client.ts';
import { coverOf } from '../rollups/cover.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import { ask } from './ask.ts';
import type { Span } from './visible-clicks.ts';

const NANOS_PER_MILLI = 1_000_000n;

/**
 * Clicks on some links per UTC day, without bots. Days that stand rolled up are read from there, a row a day; today,
 * and what is not rolled up yet, click by click. Days without clicks are left out.
 *
 * @returns clicks by day, as `YYYY-MM-DD`
 */
export async function clicksByDay(
  client: ClickHouseClient,
  given: { workspaceId: string; linkIds: readonly string[]; span: Span },
): Promise<Map<string, number>> {
  const { workspaceId, linkIds, span } = given;
  if (linkIds.length === 0) return new Map();
  const periods = await rolledUpPeriods(client, { from: dayOf(span.from), to: dayOf(span.to) });
  const days = periods.filter(({ period }) => period === 'day');
  const { generations, rest } = coverOf(span, days);
  const params: Record<string, unknown> = {
    workspace: workspaceId,
    links: linkIds,
    generations: generations.map(BigInt),
  };
  const parts = rest.map(({ from, to }, index) => {
    params[`from${index}`] = from;
    params[`to${index}`] = to;
    return `SELECT toDate(ts, 'UTC') AS day, count() AS clicks FROM clicks
      WHERE workspace_id = {workspace:UUID} AND ts >= fromUnixTimestamp64Nano({from${index}:Int64}, 'UTC')
        AND ts < fromUnixTimestamp64Nano({to${index}:Int64}, 'UTC')
        AND link_id IN {links:Array(UUID)} AND NOT is_bot GROUP BY day`;
  });
  parts.push(`SELECT start AS day, sum(clicks) AS clicks FROM clicks_rolled_up
    WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)}
      AND link_id IN {links:Array(UUID)} GROUP BY day`);
  const rows = await ask<{ day: string; total: string }>(client, {
    sql: `SELECT day, sum(clicks) AS total FROM (${parts.join(' UNION ALL ')}) GROUP BY day`,
    params,
    seconds: 10,
  });
  return new Map(rows.map((row) => [row.day, Number(row.total)]));
}

function dayOf(nanos: bigint): string {
  return new Date(Number(nanos / NANOS_PER_MILLI)).toISOString().slice(0, 10);
}
