import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ONE_MOMENT } from './cached-parts.ts';
import type { ClicksBy } from './clicks-by.ts';
import { type FigureRow, type Figures, SUMMED_FIGURES, toFigures } from './figures.ts';
import { type ReportWindow, report } from './report.ts';

export type LinkFigures = Figures & { linkId: string };

/** Which links: the best of all from an offset on, or exactly these. */
export type LinkChoice = { kind: 'top'; limit: number; offset: number } | { kind: 'ids'; ids: string[] };

/** Chooses which links of a report are shown, before their visitors are counted. The report may call it twice. */
export type ChooseShown = (links: LinkFigures[]) => Promise<LinkFigures[]>;

/**
 * Returns clicks, visitors, conversions and revenue of links with a click or an order in the window, by revenue, then clicks,
 * then the newest link (ids are UUIDv7), most first. A link without activity is left out, also one of the given ids. Links that
 * PostgreSQL no longer has are in it.
 *
 * @param shown leaves links out; by default none
 */
export async function linksReport(
  client: ClickHouseClient,
  window: ReportWindow,
  choice: LinkChoice,
  shown: ChooseShown = async (links) => links,
): Promise<LinkFigures[]> {
  const { kind, ...params } = choice;
  if (choice.kind === 'ids' && choice.ids.length === 0) return [];
  const ofLinks = { condition: kind === 'ids' ? 'AND link_id IN {ids:Array(UUID)}' : '', params };
  return report(client, window, ofLinks, async ({ isExact, clicksBy, condition, shares }) => {
    const clicks = clicksBy('link_id', isExact ? 'visitors' : 'no visitors');
    const rows = await runQuery<FigureRow & { link_id: string }>(client, {
      sql: `
      SELECT link_id, ${SUMMED_FIGURES} FROM (
        SELECT link_id, clicks, visitors, 0. AS leads, 0. AS conversions, 0 AS revenue FROM ${clicks.sql}
        UNION ALL
        SELECT link_id, 0, 0, sum(lead), sum(share), sum(amount_minor) FROM ${shares}
        WHERE channel != '' ${condition} GROUP BY link_id)
      GROUP BY link_id ORDER BY revenue DESC, clicks DESC, toString(link_id) DESC
      ${kind === 'top' ? 'LIMIT {limit:UInt32} OFFSET {offset:UInt32}' : ''}`,
      params: clicks.params,
      seconds: 60,
      settings: ONE_MOMENT,
    });
    const links = await shown(rows.map((row) => ({ linkId: row.link_id, ...toFigures(row) })));
    return isExact ? links : withVisitors(client, clicksBy, links);
  });
}

/** Visitors of many clicks cost far more to count than the clicks: they are counted for the links in the response only. */
async function withVisitors(
  client: ClickHouseClient,
  clicksBy: ClicksBy,
  links: LinkFigures[],
): Promise<LinkFigures[]> {
  if (links.length === 0) return [];
  const ids = links.map((link) => link.linkId);
  const { sql, params } = clicksBy('link_id', 'visitors', ids);
  const rows = await runQuery<{ link_id: string; visitors: string }>(client, {
    sql: `SELECT link_id, visitors FROM ${sql}`,
    params,
    seconds: 60,
    settings: ONE_MOMENT,
  });
  const visitors = new Map(rows.map((row) => [row.link_id, Number(row.visitors)]));
  // A click may arrive between the two queries.
  return links.map((link) => ({ ...link, visitors: Math.min(visitors.get(link.linkId) ?? 0, link.clicks) }));
}
