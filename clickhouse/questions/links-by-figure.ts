import type { ClickHouseClient } from '../client.ts';
import { ask } from './ask.ts';
import { EXACT_CLICKS, reportedClicks } from './clicks-by.ts';
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
  const values =
    figure === 'clicks' || figure === 'visitors'
      ? await ofClicks(client, workspaceId, span, figure)
      : {
          sql: `SELECT link_id, toFloat64(sum(${figure === 'revenue' ? 'amount_minor' : 'share'})) AS value
            FROM ${standingCredits(IN_SPAN)} WHERE channel != '' ${NOT_DELETED} GROUP BY link_id`,
          params: { workspace: workspaceId, ...span },
        };
  const rows = await ask<{ link_id: string; value: number }>(client, {
    sql: `SELECT link_id, value FROM (${values.sql})
      ORDER BY value DESC, toString(link_id) DESC LIMIT {most:UInt32}`,
    params: { ...values.params, most: limit },
    seconds: 60,
  });
  return rows.map((row) => ({ linkId: row.link_id, value: row.value }));
}

async function ofClicks(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  figure: 'clicks' | 'visitors',
): Promise<{ sql: string; params: Record<string, unknown> }> {
  const { by } = await reportedClicks(client, {
    workspaceId,
    span,
    condition: '',
    params: {},
    exactUpTo: EXACT_CLICKS,
  });
  const clicks = by('link_id', figure === 'visitors' ? 'visitors' : 'no visitors');
  return { sql: `SELECT link_id, toFloat64(${figure}) AS value FROM ${clicks.sql}`, params: clicks.params };
}
