import { expect, test } from 'vitest';
import { counterparts } from './counterparts.ts';
import { bucketLabels, bucketStarts } from './time-buckets.ts';
import { requireInstant } from './timestamps.ts';

/** Returns pairs of labels: the hours of a day, and their counterparts in another day. */
function hoursBeside(day: [string, string], other: [string, string], zone: string): Map<string, string> {
  const cut = ([from, to]: [string, string]) =>
    bucketStarts({ from: requireInstant('from', from), to: requireInstant('to', to) }, 'hour', zone, 30) ??
    [];
  const label = (start: bigint) => bucketLabels([start], 'hour', zone)[0] ?? '';
  const pairs = counterparts(cut(day), cut(other), ['hour'], zone);
  return new Map([...pairs].map(([one, beside]) => [label(one), label(beside)]));
}

const BEFORE: [string, string] = ['2026-10-23T22:00:00Z', '2026-10-24T22:00:00Z'];
const CHANGED: [string, string] = ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'];

test('hours stand beside the same time on the clock after clocks went back', () => {
  const beside = hoursBeside(CHANGED, BEFORE, 'Europe/Berlin');
  expect(beside.get('2026-10-25T10:00:00+01:00')).toBe('2026-10-24T10:00:00+02:00');
  expect(beside.get('2026-10-25T02:00:00+02:00')).toBe('2026-10-24T02:00:00+02:00');
  // The hour occurs twice, and has no counterpart the second time.
  expect(beside.has('2026-10-25T02:00:00+01:00')).toBe(false);
  expect(beside.size).toBe(24);
});

test('the hour that comes twice in the compared day is shown once', () => {
  const beside = hoursBeside(BEFORE, CHANGED, 'Europe/Berlin');
  expect(beside.get('2026-10-24T10:00:00+02:00')).toBe('2026-10-25T10:00:00+01:00');
  expect(beside.get('2026-10-24T02:00:00+02:00')).toBe('2026-10-25T02:00:00+02:00');
});

test('days go by position', () => {
  expect(counterparts([10n, 20n, 30n], [1n, 2n], ['day'], 'UTC')).toEqual(
    new Map([
      [10n, 1n],
      [20n, 2n],
    ]),
  );
});
