import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TimeUnit } from '../analytics/dimensions.ts';
import { bucketStarts, checkTimeZone } from './time-buckets.ts';
import { formatInstantShort, parseInstant } from './timestamps.ts';

const at = (text: string) => parseInstant(text) ?? 0n;

/** When the buckets of a window begin, at most 2,000. */
function starts(unit: TimeUnit, from: string, to: string, timezone: string): string[] {
  const found = bucketStarts({ from: at(from), to: at(to) }, unit, timezone, 2_000) ?? [];
  return found.map((start) => formatInstantShort(start).replace(':00.000Z', 'Z'));
}

describe('a series has', () => {
  test('hours, the first one before the window', () => {
    expect(starts('hour', '2026-11-20T10:20:30.123Z', '2026-11-20T12:00:00Z', 'UTC')).toEqual([
      '2026-11-20T10:00Z',
      '2026-11-20T11:00Z',
    ]);
    expect(starts('hour', '2026-11-20', '2026-11-23', 'UTC')).toHaveLength(72);
    expect(starts('hour', '2026-11-20', '2026-11-23T00:00:00.000000001Z', 'UTC')).toHaveLength(73);
  });

  test('hours as they are where clocks stand half an hour off', () => {
    expect(starts('hour', '2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z', 'Asia/Kolkata')).toEqual([
      '2026-11-20T09:30Z',
      '2026-11-20T10:30Z',
    ]);
  });

  test('the days of the time zone, as long as they are', () => {
    expect(starts('day', '2026-10-23T12:00:00Z', '2026-10-27T12:00:00Z', 'Europe/Berlin')).toEqual([
      '2026-10-22T22:00Z',
      '2026-10-23T22:00Z',
      '2026-10-24T22:00Z',
      '2026-10-25T23:00Z',
      '2026-10-26T23:00Z',
    ]);
    expect(
      starts('day', '2026-03-27T12:00:00Z', '2026-03-31T12:00:00Z', 'Europe/Berlin').slice(1, 4),
    ).toEqual(['2026-03-27T23:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z']);
  });

  test('both hours that a clock shows twice, and none that it leaves out', () => {
    expect(starts('hour', '2026-10-24T23:00:00Z', '2026-10-25T03:00:00Z', 'Europe/Berlin')).toHaveLength(4);
    expect(starts('hour', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 'Europe/Berlin')).toHaveLength(25);
    expect(starts('hour', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 'Europe/Berlin')).toHaveLength(23);
  });

  test('a day that begins at one because clocks jump over its midnight', () => {
    // Cairo, 2026-04-24: 00:00 becomes 01:00.
    expect(starts('day', '2026-04-22T12:00:00Z', '2026-04-26T12:00:00Z', 'Africa/Cairo').slice(1, 4)).toEqual(
      ['2026-04-22T22:00Z', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
    );
  });

  test('the first of two midnights, where clocks are set back to midnight', () => {
    // Havana, 2026-11-01: 01:00 becomes 00:00.
    expect(
      starts('day', '2026-10-31T12:00:00Z', '2026-11-04T12:00:00Z', 'America/Havana').slice(1, 3),
    ).toEqual(['2026-11-01T04:00Z', '2026-11-02T05:00Z']);
  });

  test('no day that a country left out', () => {
    // Samoa had no 30 December 2011.
    expect(starts('day', '2011-12-29T12:00:00Z', '2012-01-02T12:00:00Z', 'Pacific/Apia')).toEqual([
      '2011-12-29T10:00Z',
      '2011-12-30T10:00Z',
      '2011-12-31T10:00Z',
      '2012-01-01T10:00Z',
      '2012-01-02T10:00Z',
    ]);
  });

  test('the months of the time zone', () => {
    const months = starts('month', '2025-11-15', '2026-12-21T00:00:00Z', 'America/New_York');
    expect(months).toHaveLength(14);
    expect(months.slice(0, 6)).toEqual([
      '2025-11-01T04:00Z',
      '2025-12-01T05:00Z',
      '2026-01-01T05:00Z',
      '2026-02-01T05:00Z',
      '2026-03-01T05:00Z',
      '2026-04-01T04:00Z',
    ]);
  });
});

test('whatever the window and the zone, buckets rise, and begin at or before the window', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'Asia/Kathmandu',
  ];
  const instant = fc.integer({ min: at1970(-20), max: at1970(80) });
  const length = fc.oneof(
    fc.integer({ min: 1, max: 72 * 3_600_000 }),
    fc.integer({ min: 1, max: 1_000 * 86_400_000 }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, length, (zone, from, millis) => {
      const span = { from: BigInt(from) * 1_000_000n, to: BigInt(from + millis) * 1_000_000n };
      const unit = millis <= 72 * 3_600_000 ? 'hour' : millis <= 400 * 86_400_000 ? 'day' : 'month';
      const starts = bucketStarts(span, unit, zone, 402) ?? [];
      expect(starts.length).toBeGreaterThan(0);
      expect((starts[0] ?? 0n) <= span.from).toBe(true);
      const longest = { hour: 2n, day: 49n, month: 32n * 24n }[unit] * 3_600_000_000_000n;
      [...starts.slice(1), span.to].forEach((next, index) => {
        const start = starts[index] ?? 0n;
        expect(next > start && next - start <= longest).toBe(true);
      });
      expect((starts[1] ?? span.to) > span.from).toBe(true);
    }),
    { numRuns: 60 },
  );
});

const at1970 = (years: number) => years * 365 * 86_400_000;

test.each(['Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Asia/Calcutta', 'Etc/GMT+5'])(
  '%s is a time zone',
  (name) => expect(checkTimeZone('timezone', name)).toBe(name),
);

test.each([
  ['europe/berlin', 'Europe/Berlin'],
  ['AMERICA/NEW_YORK', 'America/New_York'],
  ['utc', 'UTC'],
])('%s is spelled %s', (name, spelled) => expect(checkTimeZone('timezone', name)).toBe(spelled));

test.each(['', 'Mars/Olympus', '+01:00', '-0500', 'Europe/Berlin ', '../etc', 'Europe\0'])(
  '%j is none',
  (name) => {
    expect(() => checkTimeZone('timezone', name)).toThrow('`timezone` must be an IANA time zone');
  },
);

test('more buckets than are allowed are none', () => {
  const century = { from: at('1926-01-01'), to: at('2026-01-01') };
  expect(bucketStarts(century, 'month', 'UTC', 1_200)).toHaveLength(1_200);
  expect(bucketStarts(century, 'month', 'UTC', 1_199)).toBeNull();
});
