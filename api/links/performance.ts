import { reportWindow } from '../../analytics/report-window.ts';
import {
  byRevenueThenClicks,
  type ChooseShown,
  type LinkChoice,
  type LinkFigures,
  linksReport,
} from '../../clickhouse/reports/index.ts';
import { toMajor } from '../../core/money/money.ts';
import { toRecord } from '../../sql/links/link-record.ts';
import { type Link, linksByIds, type NamedLink, namedLinksByIds } from '../../sql/links/links.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { readingPointOf } from '../reading-point.ts';
import type { ListQuery, Performance, PerformanceRow } from './schemas.ts';

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse' | 'readers'>;
type Report = (choice: LinkChoice, shown?: ChooseShown) => Promise<LinkFigures[]>;
/** Returns which of these links exist, in any order. */
type Find<L> = (ids: string[]) => Promise<L[]>;
/** An existing link with its figures in the window. */
type Performer<L> = { link: L; figures: LinkFigures };

/** Rows requested beyond the limit: a few deleted links among them then need no second query. */
const SPARE_ROWS = 100;

/**
 * Returns the performance of links in a window: most revenue first, then most clicks, then the newest link. `ids` names
 * the links, which may have no activity. Without `ids` it returns the first `limit` links that have any.
 *
 * @throws {AppError} `bad_request` for a malformed or too long `ids` and for a window that ends before it begins
 */
export async function linkPerformance(
  deps: Stores & Pick<ApiDeps, 'config'>,
  auth: Auth,
  query: ListQuery,
): Promise<Performance> {
  const { pool, clickhouse, config } = deps;
  const { workspace } = auth;
  const ids = query.ids === undefined ? null : readIdList('ids', query.ids);
  const { shown, span } = reportWindow(query, workspace);
  const { hasDeletedLinks: hasDeleted } = await readingPointOf(deps, auth);
  const window = { workspaceId: workspace.id, span, hasDeleted };
  const report: Report = (choice, chosen) => linksReport(clickhouse, window, choice, chosen);
  const isListed = ({ archived }: { archived: boolean }) => !archived || query.archived === 'include';
  const whole = (some: string[]) => linksByIds(pool, workspace.id, some);
  const withSettings = query.include === 'settings';
  const rowOf = ({ link, figures }: Performer<NamedLink>): PerformanceRow => ({
    link_id: link.id,
    domain: link.domain,
    slug: link.slug,
    channel: link.channel,
    destination: link.destination_url,
    clicks: figures.clicks,
    visitors: figures.visitors,
    leads: figures.leads,
    conversions: figures.conversions,
    revenue: toMajor(figures.revenueMinor, workspace.currency),
  });
  const wholeRowOf = (performer: Performer<Link>): PerformanceRow => ({
    ...rowOf(performer),
    ...(ids && { external_id: performer.link.external_id }),
    ...(withSettings && { settings: toRecord(performer.link, config.shortUrl) }),
  });
  if (ids) {
    return { window: shown, links: (await performersOf(await whole(ids), report)).map(wholeRowOf) };
  }
  if (withSettings) {
    const listed = async (some: string[]) => (await whole(some)).filter(isListed);
    return { window: shown, links: (await bestPerformers(listed, query.limit, report)).map(wholeRowOf) };
  }
  const named = async (some: string[]) => (await namedLinksByIds(pool, workspace.id, some)).filter(isListed);
  return { window: shown, links: (await bestPerformers(named, query.limit, report)).map(rowOf) };
}

const NOTHING = { clicks: 0, visitors: 0, leads: 0, conversions: 0, revenueMinor: 0n };

async function performersOf(links: Link[], report: Report): Promise<Performer<Link>[]> {
  const rows = await report({ kind: 'ids', ids: links.map((link) => link.id) });
  const byId = new Map(rows.map((row) => [row.linkId, row]));
  return links
    .map((link) => ({ link, figures: byId.get(link.id) ?? { linkId: link.id, ...NOTHING } }))
    .sort(inOrder);
}

const inOrder = (a: Performer<Link>, b: Performer<Link>): number =>
  byRevenueThenClicks(a.figures, b.figures) || (a.link.created_at < b.link.created_at ? 1 : -1);

/**
 * Reads more links than requested, and further ones while too few of them exist, because ClickHouse has clicks of
 * deleted links. Existence is checked before visitors are counted, which takes longest.
 */
async function bestPerformers<L extends { id: string }>(
  find: Find<L>,
  limit: number,
  report: Report,
): Promise<Performer<L>[]> {
  const found: Performer<L>[] = [];
  const seen = new Set<string>();
  let step = limit + SPARE_ROWS;
  for (let offset = 0; ; offset += step, step *= 4) {
    let looked = 0;
    let best = new Map<string, L>();
    const rows = await report({ kind: 'top', limit: step, offset }, async (candidates) => {
      looked = candidates.length;
      // A click between two queries can move a link down past the offset, which would return it twice.
      const fresh = candidates.filter(({ linkId }) => !seen.has(linkId));
      best = await existing(find, fresh, limit - found.length);
      return fresh.filter(({ linkId }) => best.has(linkId));
    });
    for (const figures of rows) {
      const link = best.get(figures.linkId);
      if (!link) continue;
      seen.add(link.id);
      found.push({ link, figures });
    }
    if (found.length === limit || looked < step) return found;
  }
}

/** Returns the first of these links that exist. Few are deleted, so links beyond `most` are rarely looked up. */
async function existing<L extends { id: string }>(
  find: Find<L>,
  rows: readonly LinkFigures[],
  most: number,
): Promise<Map<string, L>> {
  const found = new Map<string, L>();
  for (const some of [rows.slice(0, most), rows.slice(most)]) {
    const missing = most - found.size;
    if (some.length === 0 || missing === 0) break;
    const links = new Map((await find(some.map((row) => row.linkId))).map((link) => [link.id, link]));
    const there = some.flatMap(({ linkId }) => links.get(linkId) ?? []).slice(0, missing);
    for (const link of there) found.set(link.id, link);
  }
  return found;
}
