import { formatDay } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { coverOf, generationsOf } from '../rollups/cover.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import { CLICKS } from './click-conditions.ts';
import { runQuery } from './run-query.ts';
import { inSpans, type Span } from './visible-clicks.ts';

/**
 * Returns the clicks on some links by UTC day (`YYYY-MM-DD`), without bots: rolled-up days from the roll-ups, the
 * others click by click. Days without clicks are left out.
 */
export async function clicksByDay(
  client: ClickHouseClient,
  given: { workspaceId: string; linkIds: readonly string[]; span: Span },
): Promise<Map<string, number>> {
  const { workspaceId, linkIds, span } = given;
  if (linkIds.length === 0) return new Map();
  const periods = await rolledUpPeriods(client, { from: formatDay(span.from), to: formatDay(span.to) });
  const days = periods.filter(({ period }) => period === 'day');
  const cover = coverOf(span, days);
  const outside = inSpans(cover.rest);
  const rows = await runQuery<{ day: string; total: string }>(client, {
    sql: `SELECT day, sum(clicks) AS total FROM (
            SELECT start AS day, sum(clicks) AS clicks FROM clicks_rolled_up
            WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)}
              AND link_id IN {links:Array(UUID)} GROUP BY day
            UNION ALL
            SELECT toDate(ts, 'UTC') AS day, ${CLICKS} AS clicks FROM clicks
            WHERE workspace_id = {workspace:UUID} AND link_id IN {links:Array(UUID)} AND NOT is_bot
              AND ${outside.sql} GROUP BY day)
          GROUP BY day`,
    params: {
      ...outside.params,
      workspace: workspaceId,
      links: linkIds,
      generations: generationsOf(cover),
    },
    seconds: 10,
  });
  return new Map(rows.map((row) => [row.day, Number(row.total)]));
}
