import { csvText, textCell } from '../../../../core/text/csv-text.ts';
import { callApi, type Query } from '../../api/call.ts';
import { type FoundLinks, PIXEL_PLATFORMS } from '../../api/links.ts';

/** Links per request. */
const BATCH = 500;

type Row = FoundLinks['links'][number];

/** Columns that an import reads, then informational ones. */
const COLUMNS: [name: string, cell: (row: Row) => string][] = [
  ['destination_url', ({ link }) => link.destination],
  ['name', ({ link }) => textCell(link.name)],
  ['channel', ({ link }) => link.channel ?? ''],
  ['smart', ({ link }) => (link.smart ? 'true' : '')],
  ['slug', ({ link }) => link.slug],
  ['external_id', ({ link }) => textCell(link.external_id ?? '')],
  ['external', ({ link }) => String(link.external)],
  ['utm_source', ({ link }) => textCell(link.utm_source ?? '')],
  ['utm_medium', ({ link }) => textCell(link.utm_medium ?? '')],
  ['utm_campaign', ({ link }) => textCell(link.utm_campaign ?? '')],
  ['tags', ({ link }) => (link.tags.length > 0 ? JSON.stringify(link.tags) : '')],
  ['folder_id', ({ link }) => link.folder_id ?? ''],
  ['utm_term', ({ link }) => textCell(link.utm_term ?? '')],
  ['utm_content', ({ link }) => textCell(link.utm_content ?? '')],
  ['rules', ({ link }) => (link.rules ? JSON.stringify(link.rules) : '')],
  ['split', ({ link }) => (link.split ? JSON.stringify(link.split) : '')],
  ['split_ends_at', ({ link }) => link.split_ends_at ?? ''],
  ['split_goal', ({ link }) => link.split_goal ?? ''],
  ['redirect_status', ({ link }) => String(link.redirect_status)],
  ['forward_query', ({ link }) => String(link.forward_query)],
  ['forward_path', ({ link }) => String(link.forward_path)],
  ['append_utm', ({ link }) => String(link.append_utm)],
  ['append_visitor', ({ link }) => String(link.append_visitor)],
  ['starts_at', ({ link }) => link.starts_at ?? ''],
  ['archived', ({ link }) => String(link.archived)],
  ['preview.title', ({ link }) => textCell(link.preview?.title ?? '')],
  ['preview.description', ({ link }) => textCell(link.preview?.description ?? '')],
  ['preview.image_url', ({ link }) => link.preview?.image_url ?? ''],
  ['preview.image_width', ({ link }) => String(link.preview?.image_width ?? '')],
  ['preview.image_height', ({ link }) => String(link.preview?.image_height ?? '')],
  ['targeting.ios', ({ link }) => link.targeting?.ios ?? ''],
  ['targeting.android', ({ link }) => link.targeting?.android ?? ''],
  ['targeting.mobile', ({ link }) => link.targeting?.mobile ?? ''],
  ['targeting.desktop', ({ link }) => link.targeting?.desktop ?? ''],
  ['expires_at', ({ link }) => link.expires_at ?? ''],
  ['max_clicks', ({ link }) => String(link.max_clicks ?? '')],
  ['expired_redirect_url', ({ link }) => link.expired_redirect_url ?? ''],
  ...PIXEL_PLATFORMS.map((platform): [string, (row: Row) => string] => [
    `retargeting.${platform}`,
    ({ link }) => link.retargeting?.[platform] ?? '',
  ]),
  ['metadata', ({ link }) => (link.metadata ? JSON.stringify(link.metadata) : '')],
  ['id', ({ link }) => link.id],
  ['short_url', ({ link }) => link.short_url],
  ['created_at', ({ link }) => link.created_at],
  ['status', ({ status }) => status],
  ['password_protected', ({ link }) => String(link.password_protected)],
];

const FIGURE_COLUMNS: typeof COLUMNS = [
  ['clicks', ({ figures }) => String(figures?.clicks ?? '')],
  ['visitors', ({ figures }) => String(figures?.visitors ?? '')],
  ['conversions', ({ figures }) => String(figures?.conversions ?? '')],
  ['revenue', ({ figures }) => String(figures?.revenue ?? '')],
];

/**
 * The matching links as CSV, oldest first: links created meanwhile come last. Links deleted meanwhile shift the others,
 * so each page must start with the previous page's last link; otherwise it is read again from an earlier offset.
 *
 * @param query parameters of `GET /links/search`; sort and page are chosen here
 * @throws {ApiFailure}
 */
export async function linksCsv(
  query: Query,
  onProgress: (done: number, total: number) => void,
): Promise<string> {
  const rows = new Map<string, Row>();
  for (let offset = 0; ; ) {
    const { links, total } = await callApi<FoundLinks>('/links/search', {
      query: { ...query, sort: 'created', order: 'asc', limit: BATCH, offset },
    });
    const [first] = links;
    if (offset > 0 && !(first && rows.has(first.link.id))) {
      offset = Math.max(0, offset - BATCH);
      continue;
    }
    for (const row of links) rows.set(row.link.id, row);
    onProgress(rows.size, total);
    if (offset + BATCH >= total) break;
    offset += BATCH - 1;
  }
  const columns = query.figures === 'exclude' ? COLUMNS : [...COLUMNS, ...FIGURE_COLUMNS];
  return csvText(
    columns.map(([name]) => name),
    [...rows.values()].map((row) => columns.map(([, cell]) => cell(row))),
  );
}
