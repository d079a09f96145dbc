import { describe, expect, test } from 'vitest';
import { AppError } from '../core/errors.ts';
import { NANOS_PER_DAY, parseInstant } from '../core/time/timestamps.ts';
import { daysOf, resolveWindow } from './time-window.ts';

const now = parseInstant('2026-11-20T10:00:00.123Z') ?? 0n;
const at = (text: string) => parseInstant(text);

describe('a window', () => {
  test('is the last 30 days by default', () => {
    const window = resolveWindow({}, { now });
    expect(window.to).toBe(now);
    expect(window.from).toBe(now - 30n * NANOS_PER_DAY);
    expect(window.shown).toEqual({ from: '2026-10-21T10:00:00.123Z', to: '2026-11-20T10:00:00.123Z' });
  });

  test('counts the requested days', () => {
    expect(resolveWindow({ days: '7' }, { now }).from).toBe(now - 7n * NANOS_PER_DAY);
  });

  test('ends now when only its beginning is given', () => {
    const window = resolveWindow({ from: '2026-11-01' }, { now });
    expect([window.from, window.to]).toEqual([at('2026-11-01'), now]);
  });

  test('counts days back from its end when only that is given', () => {
    const window = resolveWindow({ to: '2026-11-10T00:00:00Z', days: '2' }, { now });
    expect([window.from, window.to]).toEqual([at('2026-11-08'), at('2026-11-10')]);
    expect(resolveWindow({ to: '2026-11-10' }, { now }).from).toBe(at('2026-10-11'));
  });

  test('lets from and to win over days', () => {
    const window = resolveWindow({ from: '2026-01-01', to: '2026-01-02', days: '365' }, { now });
    expect([window.from, window.to]).toEqual([at('2026-01-01'), at('2026-01-02')]);
  });

  test('shows as many digits as were given', () => {
    const window = resolveWindow({ from: '2026-11-20T09:00:00.000000001Z' }, { now });
    expect(window.shown.from).toBe('2026-11-20T09:00:00.000000001Z');
  });

  test.each([
    { from: '2026-11-10', to: '2026-11-10' },
    { from: '2026-11-11', to: '2026-11-10' },
    { from: '2027-01-01' },
    { from: 'yesterday' },
    { to: '' },
    { from: '' },
    { from: '2026-11-01', days: 'x' },
    { days: '0' },
    { days: '366' },
    { days: '-1' },
    { days: '1.5' },
    { days: '7 ' },
    { days: '' },
    { days: '1e2' },
  ])('is refused for %j', (query) => {
    expect(() => resolveWindow(query, { now })).toThrow(AppError);
  });
});

test('an edge that leaves the years 0000 to 9999 is refused by its name', () => {
  const refused = (query: object) => () => resolveWindow(query, { now });
  expect(refused({ to: '9999-12-31T23:59:59-23:59' })).toThrow(/^`to` /);
  expect(refused({ from: '0000-01-01T00:00:00+23:59' })).toThrow(/^`from` /);
  expect(refused({ to: '0000-01-07T23:59:59Z', days: '7' })).toThrow(/^`to` /);
  expect(resolveWindow({ to: '0000-01-08', days: '7' }, { now }).shown).toEqual({
    from: '0000-01-01T00:00:00.000Z',
    to: '0000-01-08T00:00:00.000Z',
  });
  expect(resolveWindow({ from: '0000-01-01', to: '9999-12-31T23:59:59.999999Z' }, { now }).shown).toEqual({
    from: '0000-01-01T00:00:00.000Z',
    to: '9999-12-31T23:59:59.999999Z',
  });
});

test('callers may set other limits of days', () => {
  const rules = { minDays: 7, maxDays: 90, defaultDays: 30 };
  expect(daysOf(undefined, rules)).toBe(30);
  expect(daysOf('7', rules)).toBe(7);
  expect(daysOf('90', rules)).toBe(90);
  expect(() => daysOf('6', rules)).toThrow(/^`days` must be an integer from 7 to 90$/);
  expect(() => daysOf('91', rules)).toThrow(AppError);
  expect(() => daysOf('6', { ...rules, within: 'window' })).toThrow(/^`window.days` must be/);
});
