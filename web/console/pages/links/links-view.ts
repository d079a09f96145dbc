import type { Query } from '../../api/call.ts';
import { type ChangeParameters, useUrlParameters } from '../../parts/url-parameters.ts';
import { type WindowQuery, windowOf, windowQuery } from '../../parts/window.ts';

export const SORTS = ['created', 'name', 'clicks', 'visitors', 'conversions', 'revenue'] as const;
export type Sort = (typeof SORTS)[number];

/** Filters, by their names in the page's URL, which are those of `GET /links/search`. */
export const FILTERS = ['q', 'channel', 'folder_id', 'tag', 'status'] as const;
export type Filter = (typeof FILTERS)[number];

/** Links on a page. */
export const PAGE_SIZE = 25;

/** What the table shows, read from the page's URL. */
export type LinksView = {
  filters: Partial<Record<Filter, string>>;
  sort: Sort;
  descending: boolean;
  /** From 1. */
  page: number;
  window: WindowQuery;
};

/** Reads a view out of a page's query; what can't be read is the default. */
export function viewOf(search: URLSearchParams): LinksView {
  const filters: LinksView['filters'] = {};
  for (const name of FILTERS) {
    const value = search.get(name);
    if (value) filters[name] = value;
  }
  const sort = SORTS.find((one) => one === search.get('sort')) ?? 'created';
  const page = Number(search.get('page') ?? 1);
  return {
    filters,
    sort,
    descending: search.get('order') ? search.get('order') !== 'asc' : sort !== 'name',
    page: Number.isInteger(page) && page >= 1 && page <= 10_000 ? page : 1,
    window: windowQuery(windowOf(search)),
  };
}

/**
 * The parameters that the API takes for a view.
 *
 * @param withFigures false on a plan without statistics
 */
export function searchQuery(
  { filters, sort, descending, page, window }: LinksView,
  withFigures: boolean,
): Query {
  const bySelf = sort === 'created' || sort === 'name';
  return {
    ...filters,
    sort: withFigures || bySelf ? sort : 'created',
    order: descending ? 'desc' : 'asc',
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(withFigures ? window : { figures: 'exclude' }),
  };
}

/** The view in the page's URL, and how to change it. Whatever changes but the page begins at the first page again. */
export function useLinksView() {
  const [search, set] = useUrlParameters();
  const change: ChangeParameters = (changes, options) => set({ page: null, ...changes }, options);
  return { view: viewOf(search), change };
}
