import { reportWindow, type WindowRequest } from '../../analytics/report-window.ts';
import {
  type Figures,
  type LinkFigures,
  linksReport,
  visitorsOfLinks,
} from '../../clickhouse/reports/index.ts';
import { toMajor } from '../../core/money/money.ts';
import { linksOfButtons } from '../../sql/bio/button-links.ts';
import { buttonsOfPages } from '../../sql/bio/buttons.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { readingPointOf } from '../reading-point.ts';
import type { Stats } from './schemas.ts';
import { requirePage, shelfOf } from './service.ts';

/**
 * Returns the figures of each button of a page in a window, in the order of the page, over all short links that it
 * ever had. Bots are excluded. A button that never had a short link has no figures.
 *
 * @throws {AppError} `bad_request` for a window that ends before it begins, `not_found`
 */
export async function pageStats(
  { pool, clickhouse, readers }: Pick<ApiDeps, 'pool' | 'clickhouse' | 'readers'>,
  auth: Auth,
  idOrSlug: string,
  query: WindowRequest,
): Promise<Stats> {
  const { workspace } = auth;
  const { shown, span } = reportWindow(query, workspace);
  const page = await requirePage(pool, shelfOf(auth), idOrSlug);
  const [{ hasDeletedLinks: hasDeleted }, stored, linksOf] = await Promise.all([
    readingPointOf({ pool, readers }, auth),
    buttonsOfPages(pool, workspace.id, [page.id]),
    linksOfButtons(pool, { id: page.id, workspaceId: workspace.id }),
  ]);
  const buttons = (stored.get(page.id) ?? []).filter((button) => button.type === 'link');
  const window = { workspaceId: workspace.id, span, hasDeleted };
  const figures = await linksReport(clickhouse, window, {
    kind: 'ids',
    ids: buttons.flatMap(({ id }) => linksOf.get(id) ?? []),
  });
  const byLink = new Map(figures.map((row) => [row.linkId, row]));
  const rows = await Promise.all(
    buttons.map(async (button) => {
      const links = (linksOf.get(button.id) ?? []).flatMap((id) => byLink.get(id) ?? []);
      const sums = sumOf(links);
      return { button, figures: { ...sums, visitors: Math.min(await visitorsOf(links), sums.clicks) } };
    }),
  );
  return {
    window: shown,
    totals: inMajor(sumOf(rows.map((row) => row.figures))),
    links: rows.map(({ button, figures }) => ({
      id: button.id,
      label: button.label,
      url: button.url ?? '',
      tracked_link_id: button.link_id,
      ...inMajor(figures),
    })),
  };

  /** A visitor who clicked two links of a button counts once. */
  async function visitorsOf(links: LinkFigures[]): Promise<number> {
    const clicked = links.filter((row) => row.clicks > 0);
    if (clicked.length <= 1) return clicked[0]?.visitors ?? 0;
    const ids = clicked.map((row) => row.linkId);
    return visitorsOfLinks(clickhouse, window, ids);
  }

  function inMajor({ revenueMinor, ...counts }: Figures) {
    return { ...counts, revenue: toMajor(revenueMinor, workspace.currency) };
  }
}

function sumOf(rows: Figures[]): Figures {
  const sum = (of: (row: Figures) => number) => rows.reduce((all, row) => all + of(row), 0);
  return {
    clicks: sum((row) => row.clicks),
    visitors: sum((row) => row.visitors),
    leads: Number(sum((row) => row.leads).toFixed(9)),
    conversions: Number(sum((row) => row.conversions).toFixed(9)),
    revenueMinor: rows.reduce((all, row) => all + row.revenueMinor, 0n),
  };
}
