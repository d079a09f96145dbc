import { describe, expect, test } from 'vitest';
import {
  comparisonText,
  type Filter,
  filterText,
  queryComparison,
  queryWindow,
  readFilter,
  toggled,
  unitOf,
  unitsOf,
  viewOf,
} from './view.ts';

const view = (query: string) => viewOf(new URLSearchParams(query));
const is = (dimension: Filter['dimension'], ...values: string[]): Filter => ({
  dimension,
  operator: 'is',
  values,
});

test('an address without parameters shows clicks of the last 30 days beside the previous period', () => {
  expect(view('')).toEqual({
    window: { kind: 'days', days: 30 },
    comparison: { kind: 'previous' },
    filters: [],
    metric: 'clicks',
    unit: null,
  });
});

test('an address holds range, comparison, filters, metric and steps', () => {
  const compare = comparisonText({ kind: 'range', from: '2025-11-01', to: '2025-11-30' });
  const filters: Filter[] = [
    is('country', 'DE', 'AT'),
    { dimension: 'utm_campaign', operator: 'contains_not', values: ['a,b:c %'] },
    { dimension: 'city', operator: 'is_empty', values: [] },
  ];
  const search = new URLSearchParams({ from: '2026-11-01', to: '2026-11-30', metric: 'revenue', by: 'week' });
  search.set('compare', compare ?? '');
  for (const filter of filters) search.append('f', filterText(filter));
  expect(view(search.toString())).toEqual({
    window: { kind: 'range', from: '2026-11-01', to: '2026-11-30' },
    comparison: { kind: 'range', from: '2025-11-01', to: '2025-11-30' },
    filters,
    metric: 'revenue',
    unit: 'week',
  });
});

test.each([
  '',
  'country',
  'country:is',
  'country:is_empty:DE',
  'planet:is:Mars',
  'country:was:DE',
  'time:day:is:x',
])('the filter %j has no sense and is left out', (text) => expect(readFilter(text)).toBe(null));

test('a press on a value filters by it alone, and a second one ends that', () => {
  const kept: Filter = { dimension: 'country', operator: 'is_not', values: ['US'] };
  const once = toggled([is('country', 'DE', 'AT'), kept, is('device', 'mobile')], 'country', 'FR');
  expect(once).toEqual([kept, is('device', 'mobile'), is('country', 'FR')]);
  expect(toggled(once, 'country', 'FR')).toEqual([kept, is('device', 'mobile')]);
  const unknown = toggled([], 'city', null);
  expect(unknown).toEqual([{ dimension: 'city', operator: 'is_empty', values: [] }]);
  expect(toggled(unknown, 'city', null)).toEqual([]);
});

describe('the steps of the chart', () => {
  test.each([
    ['days=hour', 'minute', ['minute']],
    ['days=1', 'hour', ['hour']],
    ['days=7', 'day', ['hour', 'day']],
    ['days=30', 'day', ['hour', 'day', 'week']],
    ['days=90', 'day', ['day', 'week', 'month']],
    ['days=365', 'week', ['day', 'week', 'month']],
    ['from=2020-01-01&to=2026-01-01', 'month', ['week', 'month']],
    ['from=2026-01-01&to=2026-01-01', 'hour', ['hour']],
  ])('%s', (query, usual, fitting) => {
    expect([unitOf(view(query)), unitsOf(view(query).window)]).toEqual([usual, fitting]);
  });

  test('are those chosen, where they fit', () => {
    expect(unitOf(view('days=30&by=week'))).toBe('week');
    expect(unitOf(view('days=1&by=month'))).toBe('hour');
  });
});

test('days of a range are those of the time zone, and end now at the latest', () => {
  const { window } = view('from=2026-10-24&to=2026-10-26');
  const later = new Date('2026-12-01T00:00:00Z');
  // The clock goes back on October 25.
  expect(queryWindow(window, 'Europe/Berlin', later)).toEqual({
    from: '2026-10-23T22:00:00.000Z',
    to: '2026-10-26T23:00:00.000Z',
  });
  expect(queryWindow(window, 'America/New_York', later)).toEqual({
    from: '2026-10-24T04:00:00.000Z',
    to: '2026-10-27T04:00:00.000Z',
  });
  expect(queryWindow(window, 'UTC', new Date('2026-10-26T10:02:00Z'))).toMatchObject({
    to: '2026-10-26T10:05:00.000Z',
  });
  expect(queryWindow({ kind: 'hour' }, 'UTC', new Date('2026-10-26T10:02:30Z'))).toEqual({
    from: '2026-10-26T09:03:00.000Z',
    to: '2026-10-26T10:03:00.000Z',
  });
});

test('a comparison is the previous period, chosen days, or none', () => {
  expect(queryComparison({ kind: 'previous' }, 'UTC')).toBe('previous');
  expect(queryComparison({ kind: 'none' }, 'UTC')).toBe(undefined);
  expect(queryComparison({ kind: 'range', from: '2026-01-01', to: '2026-01-01' }, 'Asia/Tokyo')).toEqual({
    from: '2025-12-31T15:00:00.000Z',
    to: '2026-01-01T15:00:00.000Z',
  });
});
