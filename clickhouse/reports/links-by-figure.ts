import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { IN_SPAN, NOT_DELETED } from '../queries/visible-clicks.ts';
import { ONE_MOMENT } from './cached-parts.ts';
import { countedShares } from './counted-shares.ts';
import { type ReportWindow, report } from './report.ts';
import { ALL_LINKS } from './request.ts';

/** What links can be sorted by. Revenue is in minor units. */
export const LINK_FIGURES = ['clicks', 'visitors', 'conversions', 'revenue'] as const;
export type LinkFigure = (typeof LINK_FIGURES)[number];

/**
 * Returns one figure of every link with activity in the window, largest first. Links that PostgreSQL no longer has are in it.
 *
 * @param limit most links
 */
export async function linksByFigure(
  client: ClickHouseClient,
  window: ReportWindow,
  figure: LinkFigure,
  limit: number,
): Promise<{ linkId: string; value: number }[]> {
  const first = (of: { sql: string; params: Record<string, unknown> }) =>
    runQuery<{ link_id: string; value: number }>(client, {
      sql: `SELECT link_id, value FROM (${of.sql}) ORDER BY value DESC, toString(link_id) DESC LIMIT {most:UInt32}`,
      params: { ...of.params, most: limit },
      seconds: 60,
      settings: ONE_MOMENT,
    });
  const rows =
    figure === 'clicks' || figure === 'visitors'
      ? await report(client, window, ALL_LINKS, ({ clicksBy }) => {
          const { sql, params } = clicksBy('link_id', figure === 'visitors' ? 'visitors' : 'no visitors');
          return first({ sql: `SELECT link_id, toFloat64(${figure}) AS value FROM ${sql}`, params });
        })
      : await first({
          sql: `SELECT link_id, toFloat64(sum(${figure === 'revenue' ? 'amount_minor' : 'share'})) AS value
            FROM ${countedShares(IN_SPAN)} WHERE channel != '' ${window.hasDeleted ? NOT_DELETED : ''} GROUP BY link_id`,
          params: { workspace: window.workspaceId, ...window.span },
        });
  return rows.map((row) => ({ linkId: row.link_id, value: row.value }));
}
