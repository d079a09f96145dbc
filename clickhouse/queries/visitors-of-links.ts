import type { ClickHouseClient } from '../client.ts';
import { EXACT_CLICKS, report } from './clicks-by.ts';
import { runQuery } from './run-query.ts';
import type { Span } from './visible-clicks.ts';

/** How many different visitors clicked any of these links in the window, counted as in the links' report. */
export async function visitorsOfLinks(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  links: string[],
  exactUpTo = EXACT_CLICKS,
): Promise<number> {
  const condition = 'AND link_id IN {links:Array(UUID)}';
  return report(client, { workspaceId, span, condition, params: { links }, exactUpTo }, async ({ by }) => {
    const clicks = by('workspace_id', 'visitors');
    const [row] = await runQuery<{ visitors: string }>(client, {
      sql: `SELECT visitors FROM ${clicks.sql}`,
      params: clicks.params,
      seconds: 60,
    });
    return Number(row?.visitors ?? 0);
  });
}
