import type { Order } from '../clickhouse/reports/index.ts';
import { METRICS } from '../core/analytics/dimensions.ts';
import { badRequest } from '../core/errors.ts';
import { readEach } from '../core/faults.ts';
import { readFilter } from './filter-values.ts';
import type { Filter, FilterOrAny } from './filters.ts';
import type { Grouping } from './grouping.ts';
import type { AnalyticsQuery, FilterBody } from './query.ts';

/**
 * Parses the filters of a request.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function filtersOf(filters: readonly FilterBody[]): FilterOrAny[] {
  return readEach(filters, (filter, n) => {
    const path = `filters.${n}`;
    if (filter.any === undefined) return filterOf(filter, path);
    const other = (['dimension', 'operator', 'values'] as const).find((name) => filter[name] !== undefined);
    if (other) throw badRequest(`${path}.${other}`, 'must be left out when `any` is given');
    return { any: readEach(filter.any, (one, m) => filterOf(one, `${path}.any.${m}`)) };
  });
}

function filterOf({ dimension, operator, values = [] }: Omit<FilterBody, 'any'>, path: string): Filter {
  if (dimension === undefined) throw badRequest(`${path}.dimension`, 'is required');
  if (operator === undefined) throw badRequest(`${path}.operator`, 'is required');
  const filter = { dimension, operator, values: values.map(String) };
  return readFilter(filter, { list: `${path}.values`, value: (n) => `${path}.values.${n}` });
}

/** @throws {AppError} `bad_request` when the order is neither by a metric nor by a dimension of the query */
export function requireOrders({
  metrics,
  dimensions,
  order_by,
}: Pick<AnalyticsQuery, 'metrics' | 'dimensions' | 'order_by'>): void {
  const known: readonly string[] = [...metrics, ...dimensions];
  readEach(order_by, ({ by }, n) => {
    if (!known.includes(by)) throw badRequest(`order_by.${n}.by`, `must be one of ${known.join(', ')}`);
  });
}

/** Returns the sort order of rows. */
export function ordersOf(query: Pick<AnalyticsQuery, 'metrics' | 'order_by'>, grouping: Grouping): Order[] {
  const { metrics, order_by } = query;
  if (order_by.length === 0) {
    const bucket = grouping.keys.findIndex(({ kind }) => kind === 'bucket');
    const first = metrics.slice(0, 1).map((by) => ({ by, isDescending: true }));
    return bucket === -1 ? first : [{ by: bucket, isDescending: false }, ...first];
  }
  return order_by.flatMap(({ by, direction }) => {
    const isDescending = direction === 'desc';
    const metric = METRICS.find((name) => name === by && metrics.includes(name));
    if (metric) return { by: metric, isDescending };
    const dimension = grouping.dimensions.find(({ name }) => name === by);
    return dimension ? { by: dimension.key, isDescending } : [];
  });
}
