import { formatDay } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { coverOf, generationsOf } from '../rollups/cover.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import { CLICKS } from './click-conditions.ts';
import { runQuery } from './run-query.ts';
import { inSpans, type Span } from './visible-clicks.ts';

/**
 * Returns the clicks of a window on each referral link of a workspace, without bots: rolled-up periods from the
 * roll-ups, the rest click by click. Links without clicks are left out.
 */
export async function clicksByReferralLink(
  client: ClickHouseClient,
  { workspaceId, span }: { workspaceId: string; span: Span },
): Promise<Map<string, number>> {
  const periods = await rolledUpPeriods(client, { from: formatDay(span.from), to: formatDay(span.to) });
  const cover = coverOf(span, periods);
  const outside = inSpans(cover.rest);
  const rows = await runQuery<{ link_id: string; total: string }>(client, {
    sql: `SELECT link_id, sum(clicks) AS total FROM (
            SELECT link_id, sum(clicks) AS clicks FROM clicks_rolled_up
            WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)}
              AND channel = 'referral' GROUP BY link_id
            UNION ALL
            SELECT link_id, ${CLICKS} AS clicks FROM clicks
            WHERE workspace_id = {workspace:UUID} AND channel = 'referral' AND NOT is_bot
              AND ${outside.sql} GROUP BY link_id)
          GROUP BY link_id`,
    params: { ...outside.params, workspace: workspaceId, generations: generationsOf(cover) },
    seconds: 10,
  });
  return new Map(rows.map((row) => [row.link_id, Number(row.total)]));
}
