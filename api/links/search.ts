import { reportWindow } from '../../analytics/report-window.ts';
import { linksByFigure, linksReport } from '../../clickhouse/reports/index.ts';
import { filterChannel } from '../../core/enrich/channels.ts';
import { badRequest } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { toMajor } from '../../core/money/money.ts';
import { toRecord } from '../../sql/links/link-record.ts';
import { type LinkSearch, searchLinks } from '../../sql/links/link-search.ts';
import { linksByIds } from '../../sql/links/links.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { readingPointOf } from '../reading-point.ts';
import type { FoundLinks, SearchQuery } from './search-schemas.ts';

/** Maximum number of links in a sort by a figure; further ones count as zero. */
const SORTED_LINKS = 100_000;

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse' | 'readers' | 'config'>;

/**
 * Returns one page of links that match a search, sorted by a field or a figure, with their figures in the window.
 *
 * @throws {AppError} `bad_request` for malformed or too many `ids`, a folder that is not a UUID, a window that
 *   ends before it begins, and a sort by a figure without figures
 */
export async function findLinks(deps: Stores, auth: Auth, query: SearchQuery): Promise<FoundLinks> {
  const { pool, clickhouse, config } = deps;
  const { workspace } = auth;
  const search = searchOf(query);
  const { sort } = query;
  const shownWindow = query.figures === 'include' ? reportWindow(query, workspace) : null;
  const figure = sort === 'created' || sort === 'name' ? null : sort;
  if (figure && !shownWindow)
    throw badRequest('sort', 'must be "created" or "name" when figures are excluded');
  const window = shownWindow && {
    workspaceId: workspace.id,
    span: shownWindow.span,
    hasDeleted: (await readingPointOf(deps, auth)).hasDeletedLinks,
  };
  const order =
    window && figure
      ? { by: 'figure' as const, figures: await linksByFigure(clickhouse, window, figure, SORTED_LINKS) }
      : { by: sort === 'name' ? sort : ('created' as const) };
  const { total, links: found } = await searchLinks(
    pool,
    workspace.id,
    search,
    { ...order, descending: query.order === 'desc' },
    query,
  );
  const ids = found.map(({ id }) => id);
  const [records, rows] = await Promise.all([
    linksByIds(pool, workspace.id, ids),
    window ? linksReport(clickhouse, window, { kind: 'ids', ids }) : [],
  ]);
  const recordOf = new Map(records.map((link) => [link.id, link]));
  const figuresOf = new Map(rows.map((row) => [row.linkId, row]));
  return {
    window: shownWindow?.shown ?? null,
    total,
    links: found.flatMap(({ id, status }) => {
      const link = recordOf.get(id);
      // The link was deleted between the two queries.
      if (!link) return [];
      const figures = figuresOf.get(id) ?? {
        clicks: 0,
        visitors: 0,
        leads: 0,
        conversions: 0,
        revenueMinor: 0n,
      };
      return [
        {
          link: toRecord(link, config.shortUrl),
          status,
          figures: window && {
            clicks: figures.clicks,
            visitors: figures.visitors,
            conversions: figures.conversions,
            revenue: toMajor(figures.revenueMinor, workspace.currency),
          },
        },
      ];
    }),
  };
}

function searchOf({
  ids,
  q,
  channel,
  domain,
  folder_id,
  tag,
  status,
  kind,
  archived,
}: SearchQuery): LinkSearch {
  if (folder_id !== undefined && folder_id !== 'none' && !isUuid(folder_id)) {
    throw badRequest('folder_id', 'must be a UUID or "none"');
  }
  return {
    ids: ids === undefined ? null : readIdList('ids', ids),
    text: q ?? null,
    channel: channel === undefined || channel === 'smart' ? (channel ?? null) : filterChannel(channel),
    domain: domain ?? null,
    folder: folder_id === undefined || folder_id === 'none' ? (folder_id ?? null) : { id: folder_id },
    tag: tag ?? null,
    status: status ?? null,
    kind: kind ?? null,
    archived: archived ?? 'exclude',
  };
}
