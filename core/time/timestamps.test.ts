import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../errors.ts';
import {
  clampToStored,
  formatInstant,
  formatInstantShort,
  INSTANT_END_NANOS,
  INSTANT_MIN_NANOS,
  parseInstant,
  requireInstant,
  STORED_MAX_NANOS,
  STORED_MIN_NANOS,
} from './timestamps.ts';

const TEN = 1_795_168_800_000_000_000n; // 2026-11-20T10:00:00Z

describe('an instant', () => {
  test.each([
    ['2026-11-20T10:00:00Z', TEN],
    ['2026-11-20T10:00Z', TEN],
    ['2026-11-20T10:00:00.5Z', TEN + 500_000_000n],
    ['2026-11-20T10:00:00,5Z', TEN + 500_000_000n],
    ['2026-11-20T10:00:00.123456789Z', TEN + 123_456_789n],
    ['2026-11-20T12:30:00+02:30', TEN],
    ['2026-11-20T12:30:00+0230', TEN],
    ['2026-11-20T12:00:00+02', TEN],
    ['2026-11-20T04:00:00-06:00', TEN],
    ['2026-11-20T10:00:00-00:00', TEN],
    ['2026-11-21T01:00:00+15:00', TEN],
    ['2026-11-20t10:00:00z', TEN],
    ['2016-12-31T23:59:60Z', 1_483_228_800_000_000_000n],
    ['2017-01-01T00:59:60.5+01:00', 1_483_228_800_500_000_000n],
    ['20261120T100000Z', TEN],
    ['20261120T120000.000+0200', TEN],
    ['2026-11-20', TEN - 36_000_000_000_000n],
    ['1970-01-01', 0n],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['2024-02-29', 1_709_164_800_000_000_000n],
    ['0099-01-01T00:00:00Z', -59_042_995_200_000_000_000n],
    ['0000-01-01', INSTANT_MIN_NANOS],
    ['0000-01-01T23:59:00+23:59', INSTANT_MIN_NANOS],
    ['9999-12-31T23:59:59.999999999Z', INSTANT_END_NANOS - 1n],
    ['9999-12-31T23:58:59.999999999-00:01', INSTANT_END_NANOS - 1n],
  ])('%s is parsed exactly', (text, nanos) => {
    expect(parseInstant(text)).toBe(nanos);
  });

  test.each([
    '',
    'now',
    '1795168800',
    '2026',
    '2026-11',
    '20261120',
    '2026-11-20T10:00:00',
    '2026-11-20 10:00:00Z',
    '2026-11-20T10:00:00 01:00',
    '2026-11-20T10Z',
    '2026-11-20Z',
    '2026-11-31',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-11-00',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '2026-12-31T22:59:60Z',
    '2026-12-31T23:59:61Z',
    '1960-12-31T23:59:60Z',
    '9999-12-31T23:59:60Z',
    '2026-11-20T10:00:00.Z',
    '2026-11-20T10:00:00.1234567890Z',
    '2026-11-20T10:00:00+24:00',
    '2026-11-20T10:00:00+02:60',
    ' 2026-11-20',
    '2026-11-20\n',
    '+002026-11-20',
    '9999-12-31T23:59:59-23:59',
    '9999-12-31T23:59:00-00:01',
    '0000-01-01T00:00:00+23:59',
    '0000-01-01T00:00:59.999999999+00:01',
    'Fri, 20 Nov 2026 10:00:00 GMT',
  ])('%j is not an instant', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  test('that is required and malformed is a 400 naming its parameter', () => {
    expect(requireInstant('from', '2026-11-20')).toBe(parseInstant('2026-11-20'));
    expect(() => requireInstant('from', 'yesterday')).toThrow(AppError);
    expect(() => requireInstant('from', 'yesterday')).toThrow(/^`from` /);
  });
});

describe('printing', () => {
  test('cuts finer digits and never rounds up', () => {
    const nanos = TEN + 999_999_999n;
    expect(formatInstant(nanos, 3)).toBe('2026-11-20T10:00:00.999Z');
    expect(formatInstant(nanos, 6)).toBe('2026-11-20T10:00:00.999999Z');
    expect(formatInstant(nanos, 9)).toBe('2026-11-20T10:00:00.999999999Z');
    expect(formatInstant(-1n, 6)).toBe('1969-12-31T23:59:59.999999Z');
  });

  test('uses no more digits than the instant needs', () => {
    expect(formatInstantShort(TEN)).toBe('2026-11-20T10:00:00.000Z');
    expect(formatInstantShort(TEN + 1_000n)).toBe('2026-11-20T10:00:00.000001Z');
    expect(formatInstantShort(TEN + 1n)).toBe('2026-11-20T10:00:00.000000001Z');
  });

  const instants = fc.bigInt({ min: INSTANT_MIN_NANOS, max: INSTANT_END_NANOS - 1n });

  test('with nine digits, then parsing, gives the same instant', () => {
    fc.assert(
      fc.property(instants, (nanos) => {
        expect(parseInstant(formatInstant(nanos, 9))).toBe(nanos);
        expect(parseInstant(formatInstantShort(nanos))).toBe(nanos);
      }),
    );
  });

  test('keeps the order of instants as the order of texts', () => {
    fc.assert(
      fc.property(instants, instants, (a, b) => {
        expect(formatInstant(a, 9) < formatInstant(b, 9)).toBe(a < b);
      }),
    );
  });
});

test('an instant outside ClickHouse’s range is clamped to it', () => {
  expect(clampToStored(parseInstant('9999-12-31') ?? 0n)).toBe(STORED_MAX_NANOS);
  expect(clampToStored(parseInstant('0001-01-01') ?? 0n)).toBe(STORED_MIN_NANOS);
  expect(clampToStored(TEN)).toBe(TEN);
});
