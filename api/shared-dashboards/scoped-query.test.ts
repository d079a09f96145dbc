import { expect, test } from 'vitest';
import type { AnalyticsQuery } from '../analytics/schemas.ts';
import { scopedQuery } from './scoped-query.ts';

type Filter = AnalyticsQuery['filters'][number];

const QUERY = { metrics: ['clicks'], dimensions: [], filters: [], order_by: [] } as unknown as AnalyticsQuery;
const TAGS = { scope: { type: 'tag' as const, values: ['autumn', 'winter'] }, show_revenue: false };
const OWN = { dimension: 'tag', operator: 'is', values: ['autumn', 'winter'] };
const NONE = { dimension: 'tag', operator: 'is', values: ['\u0001'] };

const filtersOf = (...filters: Filter[]) => scopedQuery(TAGS, { ...QUERY, filters }).filters;
const tag = (operator: string, ...values: string[]) => ({ dimension: 'tag', operator, values }) as Filter;

test.each([
  ['is', ['winter', 'secret'], [tag('is', 'winter')]],
  ['is', ['secret'], [NONE]],
  ['is_not', ['winter', 'secret'], [tag('is_not', 'winter')]],
  ['is_not', ['secret'], []],
  ['contains', ['N'], [tag('is', 'autumn', 'winter')]],
  ['contains', ['secret'], [NONE]],
  ['contains_not', ['WIN'], [tag('is_not', 'winter')]],
  ['contains_not', ['secret'], []],
  ['is_empty', [], [NONE]],
])('tag %s %j knows the tags of the dashboard only', (operator, values, expected) => {
  expect(filtersOf(tag(operator, ...values))).toEqual([OWN, ...expected]);
});

test('a filter with alternatives always holds when one of them does', () => {
  const germany: Filter = { dimension: 'country', operator: 'is', values: ['DE'] };
  expect(filtersOf({ any: [germany, tag('is', 'secret')] })).toEqual([OWN, { any: [germany, NONE] }]);
  expect(filtersOf({ any: [germany, tag('is_not', 'secret')] })).toEqual([OWN]);
});

test('folders and links are one more filter, the workspace is none', () => {
  const filters: Filter[] = [{ dimension: 'country', operator: 'is', values: ['DE'] }];
  const of = (type: 'folder' | 'links' | 'workspace') =>
    scopedQuery({ scope: { type, values: ['id'] }, show_revenue: true }, { ...QUERY, filters }).filters;
  expect(of('folder')).toEqual([{ dimension: 'folder', operator: 'is', values: ['id'] }, ...filters]);
  expect(of('links')).toEqual([{ dimension: 'link', operator: 'is', values: ['id'] }, ...filters]);
  expect(of('workspace')).toEqual(filters);
});

test.each(['folder', 'links'] as const)('a dashboard of %s has no tags', (type) => {
  const scope = { type, values: ['id'] };
  const [own] = scopedQuery({ scope, show_revenue: true }, QUERY).filters;
  const within = (query: Partial<AnalyticsQuery>) =>
    scopedQuery({ scope, show_revenue: true }, { ...QUERY, ...query }).filters;
  expect(within({ filters: [tag('is', 'secret')] })).toEqual([own, NONE]);
  expect(within({ filters: [tag('contains', 's')] })).toEqual([own, NONE]);
  expect(within({ filters: [tag('is_not', 'secret')] })).toEqual([own]);
  expect(within({ filters: [tag('is_empty')] })).toEqual([own]);
  const grouped = { ...QUERY, dimensions: ['tag' as const, 'country' as const] };
  expect(scopedQuery({ scope, show_revenue: true }, grouped)).toEqual({
    ...grouped,
    filters: [own],
    dimensions: ['country'],
  });
});

test('revenue is refused unless the dashboard shows it', () => {
  for (const metric of ['revenue', 'revenue_per_click'] as const) {
    const query = { ...QUERY, metrics: ['clicks' as const, metric] };
    expect(() => scopedQuery(TAGS, query)).toThrow('metrics.1');
    expect(scopedQuery({ ...TAGS, show_revenue: true }, query).metrics).toEqual(['clicks', metric]);
  }
});
