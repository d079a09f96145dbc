import { expect, test } from 'vitest';
import { instantOfDay, windowOf, windowQuery } from './window.ts';

const windowIn = (query: string) => windowOf(new URLSearchParams(query));
const USUAL = { kind: 'days', days: 30 };

test('reads a range of two valid days', () => {
  expect(windowIn('from=2024-02-29&to=2024-03-01')).toEqual({
    kind: 'range',
    from: '2024-02-29',
    to: '2024-03-01',
  });
  expect(windowIn('days=7')).toEqual({ kind: 'days', days: 7 });
});

test.each([
  'from=2026-13-01&to=2026-13-01',
  'from=2026-02-30&to=2026-03-01',
  'from=2026-02-01&to=2026-02-29',
  'from=2026-00-01&to=2026-01-01',
  'from=2026-03-02&to=2026-03-01',
  'from=yesterday&to=today',
  'days=0',
])('falls back to the default range: %s', (query) => {
  expect(windowIn(query)).toEqual(USUAL);
  expect(windowQuery(windowIn(query))).toEqual({ days: 30 });
});

test.each([
  // An ordinary day, both changes of a clock, and days whose midnight a clock skips or has twice.
  ['2026-06-01', 'Europe/Berlin', '2026-05-31T22:00:00.000Z'],
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
  ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
  ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
  ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
  ['2026-06-01', 'Pacific/Kiritimati', '2026-05-31T10:00:00.000Z'],
])('the first instant of %s in %s', (day, zone, instant) => {
  expect(instantOfDay(day, zone, 0).toISOString()).toBe(instant);
});
