import type { Query } from '../../api/call.ts';
import { type ChangeParameters, useUrlParameters } from '../../parts/url-parameters.ts';
import { type WindowQuery, windowOf, windowQuery } from '../../parts/window.ts';

const SORTS = ['created', 'name', 'clicks', 'visitors', 'conversions', 'revenue'] as const;
export type Sort = (typeof SORTS)[number];

/** Whether links are sorted by what they are, not by a figure. */
export const isByOwnColumn = (sort: Sort): boolean => sort === 'created' || sort === 'name';

/** Filters by URL parameter, named as in `GET /links/search`. */
const FILTERS = ['q', 'channel', 'domain', 'folder_id', 'tag', 'status'] as const;
export type Filter = (typeof FILTERS)[number];

/** Which links the table has: those that a person or a key made, those of the system, or archived ones. */
const SHOWN = ['own', 'referral', 'bio', 'program', 'archived', 'all'] as const;
export type Shown = (typeof SHOWN)[number];

/** The changes of the URL that remove every filter. */
export const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, null]));

/** Links on a page. */
export const PAGE_SIZE = 25;

/** The table's state, read from the URL. */
export type LinksView = {
  filters: Partial<Record<Filter, string>>;
  shown: Shown;
  sort: Sort;
  descending: boolean;
  /** From 1. */
  page: number;
  window: WindowQuery;
};

/** Reads a view from a page's query; invalid values get defaults. */
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
    shown: SHOWN.find((one) => one === search.get('shown')) ?? 'own',
    sort,
    descending: search.get('order') ? search.get('order') !== 'asc' : sort !== 'name',
    page: Number.isInteger(page) && page >= 1 && page <= 10_000 ? page : 1,
    window: windowQuery(windowOf(search)),
  };
}

/**
 * The API's parameters for a view.
 *
 * @param withFigures false on a plan without statistics
 */
export function searchQuery(
  { filters, shown, sort, descending, page, window }: LinksView,
  withFigures: boolean,
): Query {
  return {
    ...filters,
    ...(shown === 'archived' ? { archived: 'only' } : shown !== 'all' && { kind: shown }),
    sort: withFigures || isByOwnColumn(sort) ? sort : 'created',
    order: descending ? 'desc' : 'asc',
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(withFigures ? window : { figures: 'exclude' }),
  };
}

/** The view in the URL, and a setter. Any change but that of the page returns to the first page. */
export function useLinksView() {
  const [search, set] = useUrlParameters();
  const change: ChangeParameters = (changes, options) => set({ page: null, ...changes }, options);
  return { view: viewOf(search), change };
}
