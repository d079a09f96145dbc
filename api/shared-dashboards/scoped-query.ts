import { matches } from '../../core/analytics/match.ts';
import { badRequest } from '../../core/errors.ts';
import type { SharedDashboard } from '../../sql/console/shared-dashboards.ts';
import type { AnalyticsQuery, AnalyticsResult } from '../analytics/schemas.ts';

type Filter = AnalyticsQuery['filters'][number];
type Part = Omit<Filter, 'any'>;

/** Metrics in money. */
const IN_MONEY: ReadonlySet<string> = new Set(['revenue', 'revenue_per_click']);
/** The dimension that holds a scope's values. */
const DIMENSION_OF = { tag: 'tag', folder: 'folder', links: 'link' } as const;
/** No tag has a control character. */
const NO_TAG: Part = { dimension: 'tag', operator: 'is', values: ['\u0001'] };

/**
 * Returns a visitor's query limited to the scope of a dashboard. It treats other tags of the dashboard's links as
 * absent. A dashboard of links or folders has none at all, so its clicks are not grouped by them; see
 * {@link withAbsentTags}.
 *
 * @throws {AppError} `bad_request` when it requests revenue that the dashboard does not show
 */
export function scopedQuery(
  { scope: { type, values }, show_revenue }: Pick<SharedDashboard, 'scope' | 'show_revenue'>,
  query: AnalyticsQuery,
): AnalyticsQuery {
  const hidden = show_revenue ? -1 : query.metrics.findIndex((metric) => IN_MONEY.has(metric));
  if (hidden !== -1)
    throw badRequest(`metrics.${hidden}`, 'must not be in money: this dashboard hides revenue');
  if (type === 'workspace') return query;
  const tags = type === 'tag' ? values : [];
  const own = query.filters.flatMap((filter) => withinTags(filter, tags));
  const scope: Filter[] = [{ dimension: DIMENSION_OF[type], operator: 'is', values }];
  // All filters must hold, so none of the visitor's widens the scope.
  const scoped = { ...query, filters: [...scope, ...own] };
  if (type === 'tag' || !query.dimensions.includes('tag')) return scoped;
  return {
    ...scoped,
    dimensions: query.dimensions.filter((name) => name !== 'tag'),
    order_by: query.order_by.filter(({ by }) => by !== 'tag'),
  };
}

/**
 * Returns the result with `tag: null` in each row, where the visitor's query groups by tags and the scoped one does
 * not.
 */
export function withAbsentTags(
  asked: AnalyticsQuery,
  scoped: AnalyticsQuery,
  result: AnalyticsResult,
): AnalyticsResult {
  if (scoped.dimensions.length === asked.dimensions.length) return result;
  if (scoped.dimensions.length > 0) {
    const rows = result.rows.map((row) => ({ ...row, dimensions: { ...row.dimensions, tag: null } }));
    return { ...result, rows };
  }
  const { totals, compared_totals: compared } = result;
  // Without dimensions a result has no rows, and all of its clicks are those without a tag.
  if (Object.values(totals).every((figure) => !figure)) return result;
  const row = { dimensions: { tag: null }, metrics: totals, ...(compared && { compared }) };
  return { ...result, rows: asked.offset === 0 ? [row] : [], total_rows: 1 };
}

/** Returns the filter evaluated without other tags; nothing if it then always holds. */
function withinTags(filter: Filter, tags: readonly string[]): Filter[] {
  if (filter.any === undefined) return partWithin(filter, tags);
  const parts = filter.any.map((part) => partWithin(part, tags));
  return parts.some((part) => part.length === 0) ? [] : [{ any: parts.flat() }];
}

function partWithin(part: Part, tags: readonly string[]): Part[] {
  const { dimension, operator, values = [] } = part;
  if (dimension !== 'tag' || operator === undefined) return [part];
  if (operator === 'is_empty') return tags.length === 0 ? [] : [NO_TAG];
  const isExcluding = operator === 'is_not' || operator === 'contains_not';
  const how = operator === 'is' || operator === 'is_not' ? 'is' : 'contains';
  const meant = tags.filter((tag) => matches(tag, how, values.map(String)));
  if (meant.length > 0) return [{ dimension, operator: isExcluding ? 'is_not' : 'is', values: meant }];
  return isExcluding ? [] : [NO_TAG];
}
