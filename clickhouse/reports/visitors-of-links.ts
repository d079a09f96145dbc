import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ONE_MOMENT } from './cached-parts.ts';
import { type ReportWindow, report } from './report.ts';

/** Returns how many different visitors clicked any of these links in the window, counted as in the report of links. */
export async function visitorsOfLinks(
  client: ClickHouseClient,
  window: ReportWindow,
  links: string[],
): Promise<number> {
  const ofLinks = { condition: 'AND link_id IN {links:Array(UUID)}', params: { links } };
  return report(client, window, ofLinks, async ({ clicksBy }) => {
    const clicks = clicksBy('workspace_id', 'visitors');
    const [row] = await runQuery<{ visitors: string }>(client, {
      sql: `SELECT visitors FROM ${clicks.sql}`,
      params: clicks.params,
      seconds: 60,
      settings: ONE_MOMENT,
    });
    return Number(row?.visitors ?? 0);
  });
}
