import type { ClickHouseClient } from '../client.ts';
import { EXACT_CLICKS, report } from './clicks-by.ts';
import { runQuery } from './run-query.ts';
import { standingCredits } from './standing-credits.ts';
import { IN_SPAN, NOT_DELETED, type Span } from './visible-clicks.ts';

/** What links can be sorted by. Revenue is in minor units. */
export const LINK_FIGURES = ['clicks', 'visitors', 'conversions', 'revenue'] as const;
export type LinkFigure = (typeof LINK_FIGURES)[number];

/**
 * One figure of every link with activity in the window, largest first. Deleted links are in: whether a link still
 * exists is for Postgres to say.
 *
 * @param limit how many links at most
 */
export async function linksByFigure(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  figure: LinkFigure,
  limit: number,
): Promise<{ linkId: string; value: number }[]> {
  const first = (of: { sql: string; params: Record<string, unknown> }) =>
    runQuery<{ link_id: string; value: number }>(client, {
      sql: `SELECT link_id, value FROM (${of.sql}) ORDER BY value DESC, toString(link_id) DESC LIMIT {most:UInt32}`,
      params: { ...of.params, most: limit },
      seconds: 60,
    });
  const asked = { workspaceId, span, condition: '', params: {}, exactUpTo: EXACT_CLICKS };
  const rows =
    figure === 'clicks' || figure === 'visitors'
      ? await report(client, asked, ({ by }) => {
          const { sql, params } = by('link_id', figure === 'visitors' ? 'visitors' : 'no visitors');
          return first({ sql: `SELECT link_id, toFloat64(${figure}) AS value FROM ${sql}`, params });
        })
      : await first({
          sql: `SELECT link_id, toFloat64(sum(${figure === 'revenue' ? 'amount_minor' : 'share'})) AS value
            FROM ${standingCredits(IN_SPAN)} WHERE channel != '' ${NOT_DELETED} GROUP BY link_id`,
          params: { workspace: workspaceId, ...span },
        });
  return rows.map((row) => ({ linkId: row.link_id, value: row.value }));
}
