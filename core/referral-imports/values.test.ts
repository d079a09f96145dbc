import { expect, test } from 'vitest';
import { readDecimal, readInstant } from './values.ts';

test.each([
  ['2026-10-01', '2026-10-01T00:00:00.000Z'],
  ['2026-10-01T10:00:00Z', '2026-10-01T10:00:00.000Z'],
  ['2026-10-01 10:00:00', '2026-10-01T10:00:00.000Z'],
  ['2026-10-01 10:00:00 UTC', '2026-10-01T10:00:00.000Z'],
  ['2026-10-01 10:00:00 +0200', '2026-10-01T08:00:00.000Z'],
  ['1790848800', '2026-10-01T10:00:00.000Z'],
  ['Oct 1, 2026', '2026-10-01T00:00:00.000Z'],
  ['October 1st, 2026 at 10:30 PM', '2026-10-01T22:30:00.000Z'],
  ['1 Oct 2026', '2026-10-01T00:00:00.000Z'],
  ['Sept. 1, 2026 12:30 am', '2026-09-01T00:30:00.000Z'],
  ['10/31/2026', '2026-10-31T00:00:00.000Z'],
  ['31.10.2026 12:00', '2026-10-31T12:00:00.000Z'],
  ['02/02/2026', '2026-02-02T00:00:00.000Z'],
])('the time %s is read', (text, expected) => {
  expect(readInstant(text)).toEqual({ value: new Date(expected) });
});

test.each([
  ['01/02/2026', 'is ambiguous: write 2026-01-02 or 2026-02-01'],
  ['yesterday', expect.stringContaining('must be an ISO 8601 time')],
  ['Oct 32, 2026', expect.stringContaining('must be an ISO 8601 time')],
  ['31/31/2026', expect.stringContaining('must be an ISO 8601 time')],
  ['Mayor 1, 2026', expect.stringContaining('must be an ISO 8601 time')],
  ['Juniper 1, 2026', expect.stringContaining('must be an ISO 8601 time')],
  ['Oct 1, 2026 13:00 PM', expect.stringContaining('must be an ISO 8601 time')],
  ['Oct 1, 2026 25:00', expect.stringContaining('must be an ISO 8601 time')],
])('the time %s is an error that says what to write', (text, problem) => {
  expect(readInstant(text)).toEqual({ problem });
});

test.each([
  ['49.90', '49.90'],
  ['-1,234.50', '-1234.50'],
  ['1,234,567', '1234567'],
  ['1.234,50', '1234.50'],
  ['12,5', '12.5'],
  ['0.125', '0.125'],
  ['0,125', '0.125'],
  ['1.2340', '1.2340'],
  ['1234.567', '1234.567'],
  ['1.234.567', '1234567'],
  ['€ 1 234,50', '1234.50'],
  ['1234.50 USD', '1234.50'],
])('the number %s is read', (text, value) => {
  expect(readDecimal(text)).toEqual({ value });
});

test.each([
  ['1,234', 'is ambiguous: write 1234 or 1.2340'],
  ['1.234', 'is ambiguous: write 1234 or 1.2340'],
  ['-12.345 EUR', 'is ambiguous: write -12345 or -12.3450'],
  ['1,2,3', 'must be a number with a point, such as 49.90'],
  ['ten', 'must be a number with a point, such as 49.90'],
])('the number %s is an error that says what to write', (text, problem) => {
  expect(readDecimal(text)).toEqual({ problem });
});
