import { expect, test } from 'vitest';
import type { TimeUnit } from '../../../core/analytics/dimensions.ts';
import { marksOf, placedIn } from './annotation-marks.ts';

test.each<[TimeUnit, string[], string, string, number]>([
  ['day', ['2026-11-20', '2026-11-21'], '2026-11-21T09:30:00Z', 'UTC', 1],
  ['day', ['2026-11-20', '2026-11-21'], '2026-11-20T23:30:00Z', 'Europe/Berlin', 1],
  ['day', ['2026-11-20', '2026-11-21'], '2026-11-19T22:30:00Z', 'Europe/Berlin', -1],
  ['day', ['2026-11-20', '2026-11-21'], '2026-11-22T00:00:00Z', 'UTC', -1],
  ['week', ['2026-11-09', '2026-11-16'], '2026-11-15T23:59:59Z', 'UTC', 0],
  ['week', ['2026-11-09', '2026-11-16'], '2026-11-23T00:00:00Z', 'UTC', -1],
  ['month', ['2026-10', '2026-11'], '2026-10-31T23:30:00Z', 'Europe/Berlin', 1],
  ['hour', ['2026-11-20T10:00:00+01:00', '2026-11-20T11:00:00+01:00'], '2026-11-20T09:59:00Z', 'UTC', 0],
  ['minute', ['2026-11-20T10:00:00Z', '2026-11-20T10:01:00Z'], '2026-11-20T10:02:00Z', 'UTC', -1],
])('by %s of %j, %s in %s is in bucket %d', (unit, labels, at, zone, bucket) => {
  const placed = placedIn([{ at, text: 'Released' }], labels, unit, zone);
  expect(placed.map((one) => one.bucket)).toEqual(bucket === -1 ? [] : [bucket]);
});

test('annotations of one bucket share a mark, in order of time', () => {
  const at = (time: string, text: string) => ({ at: `2026-11-20T${time}:00Z`, text });
  const placed = placedIn(
    [at('12:00', 'Sale'), { at: '2026-11-21', text: 'Letter' }, at('09:00', 'Release')],
    ['2026-11-20', '2026-11-21'],
    'day',
    'UTC',
  );
  expect(marksOf(placed)).toEqual([
    { index: 0, texts: ['Release', 'Sale'] },
    { index: 1, texts: ['Letter'] },
  ]);
});
