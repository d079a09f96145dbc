import { expect, test } from 'vitest';
import { dataFrom } from './retention.ts';

test.each([
  ['2026-11-25T20:00:00Z', 1, '2026-10-01T00:00:00.000Z'],
  ['2026-11-01T00:00:00Z', 1, '2026-10-01T00:00:00.000Z'],
  ['2026-10-31T23:59:59Z', 1, '2026-09-01T00:00:00.000Z'],
  ['2026-03-31T12:00:00Z', 1, '2026-02-01T00:00:00.000Z'],
  ['2026-01-15T00:00:00Z', 13, '2024-12-01T00:00:00.000Z'],
  ['2026-11-25T00:00:00Z', 120, '2016-11-01T00:00:00.000Z'],
])('at %s, %i months are kept from %s on', (now, months, from) => {
  expect(new Date(dataFrom(months, Date.parse(now))).toISOString()).toBe(from);
});
