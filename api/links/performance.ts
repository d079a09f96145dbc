import { EXACT_CLICKS } from '../../clickhouse/questions/clicks-by.ts';
import {
  type LinkChoice,
  type LinkFigures,
  linksReport,
  type Shown,
} from '../../clickhouse/questions/links-report.ts';
import { toMajor } from '../../core/money.ts';
import { type Link, linksByIds } from '../../sql/links.ts';
import type { Workspace } from '../../sql/workspaces.ts';
import type { ApiDeps } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { reportWindow } from '../report-window.ts';
import { toRecord } from './record.ts';
import type { ListQuery, Performance, PerformanceRow } from './schemas.ts';

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse'>;
type Report = (choice: LinkChoice, shown?: Shown) => Promise<LinkFigures[]>;
/** A link that exists, with what it did in the window. */
type Performer = { link: Link; figures: LinkFigures };

/** Rows asked for beyond the limit, so that some deleted links among them cost no second look. */
const SPARE_ROWS = 100;

/**
 * Per-link performance in a window, most revenue first, then most clicks, then the newest link. With `ids` exactly
 * those links of the workspace, also without activity; without, the first `limit` links that have any.
 *
 * @throws {AppError} `bad_request` for a malformed or too long `ids` and for a window that ends before it begins
 */
export async function linkPerformance(
  { pool, clickhouse, config }: Stores & Pick<ApiDeps, 'config'>,
  workspace: Workspace,
  query: ListQuery,
): Promise<Performance> {
  const ids = query.ids === undefined ? null : readIdList('ids', query.ids);
  const { shown, span } = reportWindow(query);
  const report: Report = (choice, shown) =>
    linksReport(clickhouse, workspace.id, span, choice, EXACT_CLICKS, shown);
  const performers = ids
    ? await performersOf(await linksByIds(pool, workspace.id, ids), report)
    : await bestPerformers(pool, workspace.id, query.limit, report);
  return {
    window: shown,
    links: performers.map(
      ({ link, figures }): PerformanceRow => ({
        link_id: link.id,
        slug: link.slug,
        channel: link.channel,
        destination: link.destination_url,
        clicks: figures.clicks,
        visitors: figures.visitors,
        conversions: figures.conversions,
        revenue: toMajor(figures.revenueMinor, workspace.currency),
        ...(ids && { external_id: link.external_id }),
        ...(query.include === 'settings' && { settings: toRecord(link, config.shortUrl) }),
      }),
    ),
  };
}

const NOTHING = { clicks: 0, visitors: 0, conversions: 0, revenueMinor: 0n };

async function performersOf(links: Link[], report: Report): Promise<Performer[]> {
  const rows = await report({ kind: 'ids', ids: links.map((link) => link.id) });
  const byId = new Map(rows.map((row) => [row.linkId, row]));
  return links
    .map((link) => ({ link, figures: byId.get(link.id) ?? { linkId: link.id, ...NOTHING } }))
    .sort(byRevenue);
}

function byRevenue(a: Performer, b: Performer): number {
  if (a.figures.revenueMinor !== b.figures.revenueMinor) {
    return a.figures.revenueMinor > b.figures.revenueMinor ? -1 : 1;
  }
  if (a.figures.clicks !== b.figures.clicks) return b.figures.clicks - a.figures.clicks;
  return a.link.created_at < b.link.created_at ? 1 : -1;
}

/**
 * The store of clicks knows no deletions of links, so it is asked for some more than are wanted, and again further
 * down while too few of them still exist. Which do is looked up before visitors are counted, which takes longest.
 */
async function bestPerformers(
  pool: Stores['pool'],
  workspaceId: string,
  limit: number,
  report: Report,
): Promise<Performer[]> {
  const found: Performer[] = [];
  const seen = new Set<string>();
  let step = limit + SPARE_ROWS;
  for (let offset = 0; ; offset += step, step *= 4) {
    let looked = 0;
    let existing = new Map<string, Link>();
    const rows = await report({ kind: 'top', limit: step, offset }, async (best) => {
      looked = best.length;
      // A click between two looks can move a link down across the offset.
      const fresh = best.filter(({ linkId }) => !seen.has(linkId));
      const ids = fresh.map(({ linkId }) => linkId);
      existing = new Map((await linksByIds(pool, workspaceId, ids)).map((link) => [link.id, link]));
      return fresh.filter(({ linkId }) => existing.has(linkId)).slice(0, limit - found.length);
    });
    for (const figures of rows) {
      const link = existing.get(figures.linkId);
      if (!link) continue;
      seen.add(link.id);
      found.push({ link, figures });
    }
    if (found.length === limit || looked < step) return found;
  }
}
