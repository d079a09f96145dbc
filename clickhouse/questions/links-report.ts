import type { ClickHouseClient } from '../client.ts';
import { ask } from './ask.ts';
import { type ClicksBy, EXACT_CLICKS, report } from './clicks-by.ts';
import { type FigureRow, type Figures, SUMMED_FIGURES, toFigures } from './report-figures.ts';
import type { Span } from './visible-clicks.ts';

export type LinkFigures = Figures & { linkId: string };

/** Which links: the best of all from a place on, or exactly these. */
export type LinkChoice = { kind: 'top'; limit: number; offset: number } | { kind: 'ids'; ids: string[] };

/**
 * Clicks, visitors, conversions and revenue of links with a click or an order in the window, by revenue, then
 * clicks, then the newest link (ids are UUIDv7), most first. A link without activity is left out, also one of the
 * given ids. Deleted links are in: whether a link still exists is for Postgres to say.
 *
 * @param hasDeleted whether the workspace has links deleted with their history; the store is asked unless it is given
 */
export async function linksReport(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  choice: LinkChoice,
  exactUpTo = EXACT_CLICKS,
  hasDeleted?: boolean,
): Promise<LinkFigures[]> {
  const { kind, ...params } = choice;
  if (choice.kind === 'ids' && choice.ids.length === 0) return [];
  const ofLinks = kind === 'ids' ? 'AND link_id IN {ids:Array(UUID)}' : '';
  const asked = { workspaceId, span, condition: ofLinks, params, exactUpTo, hasDeleted };
  return report(client, asked, async ({ exact, by, condition, credits }) => {
    const clicks = by('link_id', exact ? 'visitors' : 'no visitors');
    const rows = await ask<FigureRow & { link_id: string }>(client, {
      sql: `
      SELECT link_id, ${SUMMED_FIGURES} FROM (
        SELECT link_id, clicks, visitors, 0. AS conversions, 0 AS revenue FROM ${clicks.sql}
        UNION ALL
        SELECT link_id, 0, 0, sum(share), sum(amount_minor) FROM ${credits}
        WHERE channel != '' ${condition} GROUP BY link_id)
      GROUP BY link_id ORDER BY revenue DESC, clicks DESC, toString(link_id) DESC
      ${kind === 'top' ? 'LIMIT {limit:UInt32} OFFSET {offset:UInt32}' : ''}`,
      params: clicks.params,
      seconds: 60,
    });
    const links = rows.map((row) => ({ linkId: row.link_id, ...toFigures(row) }));
    return exact ? links : addVisitors(client, by, links);
  });
}

/**
 * Visitors of many clicks cost far more to count than the clicks, so that they are counted of the links in the
 * answer only, once these are known.
 */
async function addVisitors(
  client: ClickHouseClient,
  by: ClicksBy,
  links: LinkFigures[],
): Promise<LinkFigures[]> {
  if (links.length === 0) return links;
  const counted = by(
    'link_id',
    'visitors',
    links.map((link) => link.linkId),
  );
  const rows = await ask<{ link_id: string; visitors: string }>(client, {
    sql: `SELECT link_id, visitors FROM ${counted.sql}`,
    params: counted.params,
    seconds: 60,
  });
  const visitors = new Map(rows.map((row) => [row.link_id, Number(row.visitors)]));
  return links.map((link) => ({ ...link, visitors: Math.min(visitors.get(link.linkId) ?? 0, link.clicks) }));
}
