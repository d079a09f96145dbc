import type { ClickHouseClient } from '../client.ts';
import {
  type AnalyticsRow,
  countedIn,
  figuresOfRows,
  MOST_REVENUE_FIRST,
  NOTHING,
  pageOfRows,
} from './analytics/query.ts';
import type { Figures } from './figures.ts';
import type { ReportWindow } from './request.ts';

export type LinkFigures = Figures & { linkId: string };

/** Selects links: the best of all from an offset on, or exactly these. */
export type LinkChoice = { kind: 'top'; limit: number; offset: number } | { kind: 'ids'; ids: string[] };

/** Removes links that are not shown from a report, before visitors are counted. The report may call it twice. */
export type ChooseShown = (links: LinkFigures[]) => Promise<LinkFigures[]>;

const BY_LINK = [{ kind: 'link' }] as const;
const of = (ids: string[]) => [{ kind: 'links', ids, isInside: true }] as const;
const ofLink = ({ keys: [linkId = ''], figures }: AnalyticsRow): LinkFigures => {
  const { conversionRate: _, revenuePerClick: __, ...own } = figures;
  return { linkId, ...own };
};

/**
 * Returns clicks, visitors, conversions and revenue of links with a click or an order in the window, by revenue, then
 * clicks, then the newest link (ids are UUIDv7), most first. A link without activity is left out, also one of the given
 * ids. Links that PostgreSQL no longer has are included.
 *
 * @param shown leaves links out; by default none
 */
export async function linksReport(
  client: ClickHouseClient,
  window: ReportWindow,
  choice: LinkChoice,
  shown: ChooseShown = async (links) => links,
): Promise<LinkFigures[]> {
  if (choice.kind === 'ids' && choice.ids.length === 0) return [];
  const { limit, offset } = choice.kind === 'top' ? choice : { limit: choice.ids.length, offset: 0 };
  const counted = countedIn(window, BY_LINK, choice.kind === 'ids' ? { conditions: of(choice.ids) } : {});
  const order = [...MOST_REVENUE_FIRST, { by: 0, isDescending: true }];
  const rows = await pageOfRows(client, counted, { order, limit, offset }, async (all) =>
    (await shown(all.map(ofLink))).map(({ linkId, ...figures }) => ({
      keys: [linkId],
      figures: { ...NOTHING, ...figures },
    })),
  );
  return rows.map(ofLink);
}

/** The figures by which links can be sorted. Revenue is in minor units. */
export type LinkFigure = 'clicks' | 'visitors' | 'conversions' | 'revenue';

/**
 * Returns one figure of every link with activity in the window, largest first. Links that PostgreSQL no longer has are
 * included.
 *
 * @param limit most links
 */
export async function linksByFigure(
  client: ClickHouseClient,
  window: ReportWindow,
  figure: LinkFigure,
  limit: number,
): Promise<{ linkId: string; value: number }[]> {
  const order = [
    { by: figure, isDescending: true },
    { by: 0, isDescending: true },
  ];
  const counted = countedIn(window, BY_LINK, { metrics: [figure] });
  const rows = await pageOfRows(client, counted, { order, limit, offset: 0 });
  return rows.map(({ keys: [linkId = ''], figures }) => ({
    linkId,
    value: figure === 'revenue' ? Number(figures.revenueMinor) : figures[figure],
  }));
}

/** Returns how many different visitors clicked any of these links in the window, counted as in the report of links. */
export async function visitorsOfLinks(
  client: ClickHouseClient,
  window: ReportWindow,
  links: string[],
): Promise<number> {
  const counted = countedIn(window, [], { metrics: ['visitors'], conditions: of(links) });
  return (await figuresOfRows(client, counted, [])).totals.visitors;
}
