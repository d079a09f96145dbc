import type { ClickHouseClient } from '../client.ts';
import { createClientCaches } from '../client-caches.ts';
import { type ClicksBy, EXACT_CLICKS, report } from './clicks-by.ts';
import { type FigureRow, type Figures, SUMMED_FIGURES, toFigures } from './report-figures.ts';
import { runQuery } from './run-query.ts';
import type { Span } from './visible-clicks.ts';

export type LinkFigures = Figures & { linkId: string };

/** Which links: the best of all from a place on, or exactly these. */
export type LinkChoice = { kind: 'top'; limit: number; offset: number } | { kind: 'ids'; ids: string[] };

/** Says which links of a report are shown, before their visitors are counted. It may be asked twice. */
export type Shown = (links: LinkFigures[]) => Promise<LinkFigures[]>;

/**
 * Clicks, visitors, conversions and revenue of links with a click or an order in the window, by revenue, then
 * clicks, then the newest link (ids are UUIDv7), most first. A link without activity is left out, also one of the
 * given ids. Deleted links are in: whether a link still exists is for Postgres to say.
 *
 * @param more.shown leaves out links; all of them are shown unless given
 * @param more.hasDeleted whether the workspace has links deleted with their history; the store is asked unless it is given
 */
export async function linksReport(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  choice: LinkChoice,
  exactUpTo = EXACT_CLICKS,
  {
    shown = async (links) => links,
    hasDeleted,
  }: { shown?: Shown | undefined; hasDeleted?: boolean | undefined } = {},
): Promise<LinkFigures[]> {
  const { kind, ...params } = choice;
  if (choice.kind === 'ids' && choice.ids.length === 0) return [];
  const ofLinks = kind === 'ids' ? 'AND link_id IN {ids:Array(UUID)}' : '';
  const asked = { workspaceId, span, condition: ofLinks, params, exactUpTo, hasDeleted };
  return report(client, asked, async ({ exact, periods, by, condition, credits }) => {
    const clicks = by('link_id', exact ? 'visitors' : 'no visitors');
    const counted = runQuery<FigureRow & { link_id: string }>(client, {
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
    const links = counted.then((rows) =>
      shown(rows.map((row) => ({ linkId: row.link_id, ...toFigures(row) }))),
    );
    if (exact) return links;
    return addVisitors(client, by, links, kind === 'top' ? `${periods}/${JSON.stringify(params)}` : null);
  });
}

/** So many reports' links are remembered, of each report so many. */
const REMEMBERED = { reports: 256, links: 1_000 };
const shownBeforeOf = createClientCaches<string, string[]>(REMEMBERED.reports);

/**
 * Visitors of many clicks cost far more to count than the clicks, so that they are counted of the links in the
 * answer only. Which these are will be known later; but mostly they are those that the same report had before, so that
 * their visitors are counted meanwhile.
 *
 * @param name of what is asked for; null: nobody knows before
 */
async function addVisitors(
  client: ClickHouseClient,
  by: ClicksBy,
  found: Promise<LinkFigures[]>,
  name: string | null,
): Promise<LinkFigures[]> {
  const remembered = shownBeforeOf(client);
  const before = (name !== null && remembered.get(name)) || [];
  const [links, meanwhile] = await Promise.all([found, visitorsOf(client, by, before)]);
  const ids = links.map((link) => link.linkId);
  if (name !== null && ids.length <= REMEMBERED.links) remembered.set(name, ids);
  const known = new Set(before);
  const others = await visitorsOf(
    client,
    by,
    ids.filter((id) => !known.has(id)),
  );
  const visitors = new Map([...meanwhile, ...others].map((row) => [row.link_id, Number(row.visitors)]));
  return links.map((link) => ({ ...link, visitors: Math.min(visitors.get(link.linkId) ?? 0, link.clicks) }));
}

async function visitorsOf(
  client: ClickHouseClient,
  by: ClicksBy,
  links: string[],
): Promise<{ link_id: string; visitors: string }[]> {
  if (links.length === 0) return [];
  const { sql, params } = by('link_id', 'visitors', links);
  return runQuery(client, { sql: `SELECT link_id, visitors FROM ${sql}`, params, seconds: 60 });
}
