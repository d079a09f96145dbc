import { type LinkFigure, linksByFigure } from '../../clickhouse/queries/links-by-figure.ts';
import { linksReport } from '../../clickhouse/queries/links-report.ts';
import type { Span } from '../../clickhouse/queries/visible-clicks.ts';
import { filterChannel } from '../../core/enrich/channels.ts';
import { badRequest } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { toMajor } from '../../core/money/money.ts';
import { type LinkOrder, type LinkSearch, searchLinks } from '../../sql/links/link-search.ts';
import { linksByIds } from '../../sql/links/links.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { ApiDeps } from '../dependencies.ts';
import { readIdList } from '../id-lists.ts';
import { reportWindow } from '../report-window.ts';
import { toRecord } from './record.ts';
import type { FoundLinks, SearchQuery } from './search-schemas.ts';

/** Links that a figure sorts, the best of them; further ones count as if they had none. */
const SORTED_LINKS = 100_000;

type Stores = Pick<ApiDeps, 'pool' | 'clickhouse' | 'config'>;

/**
 * One page of links by what they are, sorted by what they are or did, with their figures in the window.
 *
 * @throws {AppError} `bad_request` for malformed or too many `ids`, for a folder that is no UUID, for a window that
 *   ends before it begins, and for a sort by a figure without figures
 */
export async function findLinks(
  { pool, clickhouse, config }: Stores,
  workspace: Workspace,
  query: SearchQuery,
): Promise<FoundLinks> {
  const search = searchOf(query);
  const { sort } = query;
  const window = query.figures === 'include' ? reportWindow(query) : null;
  const figure = sort === 'created' || sort === 'name' ? null : sort;
  if (figure && !window) throw badRequest('sort', 'must be created or name where figures are excluded');
  const order =
    window && figure
      ? await orderByFigure(clickhouse, workspace.id, window.span, figure)
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
    window ? linksReport(clickhouse, workspace.id, window.span, { kind: 'ids', ids }) : [],
  ]);
  const recordOf = new Map(records.map((link) => [link.id, link]));
  const figuresOf = new Map(rows.map((row) => [row.linkId, row]));
  return {
    window: window?.shown ?? null,
    total,
    links: found.flatMap(({ id, status }) => {
      const link = recordOf.get(id);
      // Deleted between the two looks.
      if (!link) return [];
      const figures = figuresOf.get(id) ?? { clicks: 0, visitors: 0, conversions: 0, revenueMinor: 0n };
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

function searchOf({ ids, q, channel, folder_id, tag, status }: SearchQuery): LinkSearch {
  if (folder_id !== undefined && folder_id !== 'none' && !isUuid(folder_id)) {
    throw badRequest('folder_id', 'must be a UUID or none');
  }
  return {
    ids: ids === undefined ? null : readIdList('ids', ids),
    text: q ?? null,
    channel: channel === undefined || channel === 'smart' ? (channel ?? null) : filterChannel(channel),
    folder: folder_id === undefined || folder_id === 'none' ? (folder_id ?? null) : { id: folder_id },
    tag: tag ?? null,
    status: status ?? null,
  };
}

async function orderByFigure(
  clickhouse: Stores['clickhouse'],
  workspaceId: string,
  span: Span,
  figure: LinkFigure,
): Promise<Pick<Extract<LinkOrder, { by: 'figure' }>, 'by' | 'figures'>> {
  return { by: 'figure', figures: await linksByFigure(clickhouse, workspaceId, span, figure, SORTED_LINKS) };
}
