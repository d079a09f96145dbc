import { expect, test } from 'vitest';
import { dateInZone } from './date-in-zone.ts';
import { previousSpan } from './previous-span.ts';
import { formatInstantShort, requireInstant } from './timestamps.ts';

const at = (zone: string, text: string) => requireInstant('at', dateInZone(text, zone));
const previous = (zone: string, from: string, to: string) => {
  const span = previousSpan({ from: at(zone, from), to: at(zone, to) }, zone);
  return [span.from, span.to].map(formatInstantShort);
};

test.each([
  // Clocks go back in Berlin on October 25, in New York on November 1, forward in Berlin on March 29.
  ['Europe/Berlin', '2026-10-25', '2026-11-01', '2026-10-17T22:00:00.000Z', '2026-10-24T22:00:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-11-02', '2026-10-31T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-12-01', '2026-10-01T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29', '2026-03-30', '2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z'],
  ['UTC', '2026-03-01', '2026-04-01', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['UTC', '2026-01-01', '2027-01-01', '2025-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ['UTC', '2026-03-02', '2026-04-01', '2026-01-31T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
  // Midnight does not exist in Havana when clocks go forward: the day begins at one.
  ['America/Havana', '2026-03-08', '2026-03-09', '2026-03-07T05:00:00.000Z', '2026-03-08T05:00:00.000Z'],
])('in %s, %s to %s follows %s to %s', (zone, from, to, before, end) => {
  expect(previous(zone, from, to)).toEqual([before, end]);
});

test('a span that does not begin and end at midnights has the same length before', () => {
  expect(previous('Europe/Berlin', '2026-10-25T00:00:00Z', '2026-11-01T00:00:00Z')).toEqual([
    '2026-10-18T00:00:00.000Z',
    '2026-10-25T00:00:00.000Z',
  ]);
  expect(previous('Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T12:00:00Z')[0]).toBe(
    '2026-10-24T08:00:00.000Z',
  );
});

test('a date alone begins in the zone; other texts stay', () => {
  expect(dateInZone('2026-10-01', 'America/New_York')).toBe('2026-10-01T04:00:00.000Z');
  for (const text of ['2026-10-01T00:00:00Z', '2026-02-30', '0000-01-01', 'yesterday']) {
    expect(dateInZone(text, 'America/New_York')).toBe(text);
  }
});
