import { expect, test } from 'vitest';
import { bucketsOf, sparklineUnit, valuesOf } from './sparklines.ts';

test('a window has at most 40 buckets, so that those of 25 links fit one response', () => {
  const LENGTH = { hour: 1 / 24, day: 1, week: 7, month: 28 };
  for (let days = 1; days <= 365; days++) {
    // Both ends may be parts of a bucket.
    expect(Math.ceil(days / LENGTH[sparklineUnit(days)]) + 1).toBeLessThanOrEqual(40);
  }
});

test('every bucket has a value, also an empty one', () => {
  const window = { from: '2026-11-01T00:00:00Z', to: '2026-11-05T00:00:00Z' };
  const points = [
    { label: '2026-11-01', clicks: 2 },
    { label: '2026-11-04', clicks: 5 },
  ];
  expect(valuesOf(points, bucketsOf({ unit: 'day', window, zone: 'UTC' }))).toEqual([2, 0, 0, 5]);
  expect(valuesOf([], bucketsOf({ unit: 'day', window, zone: 'UTC' }))).toEqual([0, 0, 0, 0]);
});

test('days are those of the time zone', () => {
  const window = { from: '2026-11-01T23:30:00Z', to: '2026-11-03T22:00:00Z' };
  const points = [{ label: '2026-11-02', clicks: 1 }];
  expect(valuesOf(points, bucketsOf({ unit: 'day', window, zone: 'Europe/Berlin' }))).toEqual([1, 0]);
  expect(valuesOf(points, bucketsOf({ unit: 'day', window, zone: 'UTC' }))).toEqual([0, 1, 0]);
});

test('hours, weeks, and months are put in their place', () => {
  const day = { from: '2026-10-24T22:10:00Z', to: '2026-10-25T02:10:00Z' };
  const hours = [
    { label: '2026-10-25T00:00:00+02:00', clicks: 1 },
    { label: '2026-10-25T02:00:00+02:00', clicks: 2 },
    // The clock was set back: this hour has its name twice.
    { label: '2026-10-25T02:00:00+01:00', clicks: 3 },
  ];
  // The window cuts the first hour.
  expect(valuesOf(hours, bucketsOf({ unit: 'hour', window: day, zone: 'Europe/Berlin' }))).toEqual([
    0, 2, 3, 0,
  ]);
  const weeks = { from: '2026-11-04T12:00:00Z', to: '2026-11-18T12:00:00Z' };
  const monday = [{ label: '2026-11-09', clicks: 4 }];
  expect(valuesOf(monday, bucketsOf({ unit: 'week', window: weeks, zone: 'UTC' }))).toEqual([0, 4, 0]);
  const year = { from: '2025-11-26T00:00:00Z', to: '2026-02-01T00:00:00Z' };
  const months = [{ label: '2026-01', clicks: 6 }];
  expect(valuesOf(months, bucketsOf({ unit: 'month', window: year, zone: 'UTC' }))).toEqual([0, 0, 6]);
});

test.each([
  ['day', '2026-11-01T09:00:00Z', '2026-11-05T09:00:00Z', 'UTC', 4, true],
  ['day', '2026-11-01T00:00:00Z', '2026-11-05T00:00:00Z', 'UTC', 4, false],
  ['day', '2026-10-31T23:00:00Z', '2026-11-04T23:00:00Z', 'Europe/Berlin', 4, false],
  ['day', '2026-11-03T09:00:00Z', '2026-11-05T09:00:00Z', 'UTC', 3, true],
  ['hour', '2026-11-01T08:40:00Z', '2026-11-01T14:40:00Z', 'UTC', 6, true],
  ['hour', '2026-11-01T08:30:00Z', '2026-11-01T14:30:00Z', 'Asia/Kolkata', 6, false],
  ['hour', '2026-11-01T08:00:00Z', '2026-11-01T14:00:00Z', 'Asia/Kolkata', 6, true],
  ['week', '2026-10-14T00:00:00Z', '2026-11-12T00:00:00Z', 'UTC', 4, true],
  ['week', '2026-10-12T00:00:00Z', '2026-11-09T00:00:00Z', 'UTC', 4, false],
  ['month', '2025-11-26T00:00:00Z', '2026-11-26T00:00:00Z', 'UTC', 12, true],
  ['month', '2025-12-01T00:00:00Z', '2026-12-01T00:00:00Z', 'UTC', 12, false],
] as const)(
  'a line by %s from %s to %s in %s has %d values; not over: %s',
  (unit, from, to, zone, count, isOpenEnded) => {
    expect(bucketsOf({ unit, window: { from, to }, zone })).toMatchObject({ count, isOpenEnded });
  },
);

test('clicks of a first day that the window cuts are in no value', () => {
  const window = { from: '2026-11-01T09:00:00Z', to: '2026-11-05T09:00:00Z' };
  const points = [
    { label: '2026-11-01', clicks: 2 },
    { label: '2026-11-02', clicks: 5 },
    { label: '2026-11-05', clicks: 1 },
  ];
  expect(valuesOf(points, bucketsOf({ unit: 'day', window, zone: 'UTC' }))).toEqual([5, 0, 0, 1]);
});
