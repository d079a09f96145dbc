import { expect, test } from 'vitest';
import type { TimeUnit } from '../../../core/analytics/dimensions.ts';
import { chartBuckets, touchedBuckets } from './buckets.ts';

const result = (unit: TimeUnit, labels: string[], from: string, to: string) => ({
  rows: labels.map((label) => ({ dimensions: { [`time:${unit}`]: label }, metrics: { clicks: 1 } })),
  window: { from, to },
});

const DAYS = ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04'];

test.each([
  ['days cut at both edges', 'day', DAYS, '2026-11-01T15:00:00Z', '2026-11-04T15:00:00Z', 'UTC', 3, true],
  ['whole days', 'day', DAYS, '2026-11-01T00:00:00Z', '2026-11-05T00:00:00Z', 'UTC', 4, false],
  // Midnight in Berlin.
  ['days of a zone', 'day', DAYS, '2026-10-31T23:00:00Z', '2026-11-04T23:00:00Z', 'Europe/Berlin', 4, false],
  [
    'days of another zone',
    'day',
    DAYS,
    '2026-11-01T00:00:00Z',
    '2026-11-04T23:00:00Z',
    'Europe/Berlin',
    3,
    false,
  ],
  ['few days', 'day', DAYS.slice(2), '2026-11-03T15:00:00Z', '2026-11-04T15:00:00Z', 'UTC', 2, true],
  [
    'weeks',
    'week',
    ['2026-11-02', '2026-11-09', '2026-11-16', '2026-11-23'],
    '2026-11-04T00:00:00Z',
    '2026-11-30T00:00:00Z',
    'UTC',
    3,
    false,
  ],
  [
    'months',
    'month',
    ['2026-08', '2026-09', '2026-10', '2026-11'],
    '2026-08-01T00:00:00Z',
    '2026-11-29T00:00:00Z',
    'UTC',
    4,
    true,
  ],
  [
    'hours',
    'hour',
    ['2026-11-01T10:00:00Z', '2026-11-01T11:00:00Z', '2026-11-01T12:00:00Z', '2026-11-01T13:00:00Z'],
    '2026-11-01T10:05:00Z',
    '2026-11-01T13:05:00Z',
    'UTC',
    3,
    true,
  ],
] as const)('a chart shows no fall at the edges of its window: %s', (...given) => {
  const [, unit, labels, from, to, zone, shown, isOpenEnded] = given;
  const buckets = chartBuckets(result(unit, [...labels], from, to), unit, zone);
  expect([buckets.rows.length, buckets.times.length, buckets.isOpenEnded]).toEqual([
    shown,
    shown,
    isOpenEnded,
  ]);
});

test.each<[TimeUnit, string, string, string, number | null]>([
  // 30 times 24 hours each: in the earlier ones the clock was set back.
  ['day', '2026-10-30T22:21:00Z', '2026-11-29T22:21:00Z', 'Europe/Berlin', 31],
  ['day', '2026-09-30T22:21:00Z', '2026-10-30T22:21:00Z', 'Europe/Berlin', 30],
  ['day', '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', 'UTC', 1],
  ['week', '2026-11-02T00:00:00Z', '2026-11-16T00:00:00Z', 'UTC', 2],
  ['week', '2026-11-08T00:00:00Z', '2026-11-16T00:00:01Z', 'UTC', 3],
  ['month', '2026-10-31T23:30:00Z', '2026-12-31T00:00:00Z', 'Europe/Berlin', 2],
  ['hour', '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', 'UTC', null],
])('by %s a window from %s to %s in %s touches %j buckets', (unit, from, to, zone, count) => {
  expect(touchedBuckets({ from, to }, unit, zone)).toBe(count);
});
