import { linksReport } from '../../clickhouse/questions/links-report.ts';
import { toMajor } from '../../core/money.ts';
import { buttonsOfPages } from '../../sql/bio-buttons.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { reportWindow, type WindowRequest } from '../report-window.ts';
import type { Stats } from './schemas.ts';
import { requirePage, shelfOf } from './service.ts';

/**
 * What each button of a page brought in a window, in the order of the page. Bots count in nothing, and a button
 * without a short link has no figures to count.
 *
 * @throws {AppError} `bad_request` for a window that ends before it begins, `not_found`
 */
export async function pageStats(
  { pool, clickhouse }: Pick<ApiDeps, 'pool' | 'clickhouse'>,
  auth: Auth,
  idOrSlug: string,
  query: WindowRequest,
): Promise<Stats> {
  const { workspace } = auth;
  const { shown, span } = reportWindow(query);
  const page = await requirePage(pool, shelfOf(auth), idOrSlug);
  const stored = await buttonsOfPages(pool, workspace.id, [page.id]);
  const buttons = (stored.get(page.id) ?? []).filter((button) => button.type === 'link');
  const figures = await linksReport(clickhouse, workspace.id, span, {
    kind: 'ids',
    ids: buttons.flatMap(({ link_id }) => link_id ?? []),
  });
  const byLink = new Map(figures.map((row) => [row.linkId, row]));
  const rows = buttons.map((button) => ({ button, figures: byLink.get(button.link_id ?? '') }));
  const sum = (of: (row: (typeof figures)[number]) => number) =>
    figures.reduce((all, row) => all + of(row), 0);
  return {
    window: shown,
    totals: {
      clicks: sum((row) => row.clicks),
      visitors: sum((row) => row.visitors),
      conversions: Number(sum((row) => row.conversions).toFixed(9)),
      revenue: toMajor(
        figures.reduce((all, row) => all + row.revenueMinor, 0n),
        workspace.currency,
      ),
    },
    links: rows.map(({ button, figures }) => ({
      id: button.id,
      label: button.label,
      url: button.url ?? '',
      tracked_link_id: button.link_id,
      clicks: figures?.clicks ?? 0,
      visitors: figures?.visitors ?? 0,
      conversions: figures?.conversions ?? 0,
      revenue: toMajor(figures?.revenueMinor ?? 0n, workspace.currency),
    })),
  };
}
