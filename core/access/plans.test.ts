import { expect, test } from 'vitest';
import { isPaid, limitsOf, usagePeriod } from './plans.ts';

const period = (created: string, now: string) => {
  const { start, reset } = usagePeriod(new Date(created), new Date(now));
  return [start.toISOString(), reset.toISOString()];
};

test('a period begins on the day of the month on which the workspace was created', () => {
  expect(period('2026-03-10T15:00:00Z', '2026-11-21T00:00:00Z')).toEqual([
    '2026-11-10T00:00:00.000Z',
    '2026-12-10T00:00:00.000Z',
  ]);
  expect(period('2026-03-22T15:00:00Z', '2026-11-21T23:59:59Z')).toEqual([
    '2026-10-22T00:00:00.000Z',
    '2026-11-22T00:00:00.000Z',
  ]);
});

test('a workspace of the 31st resets on the last day of shorter months', () => {
  expect(period('2026-01-31T00:00:00Z', '2027-02-27T12:00:00Z')).toEqual([
    '2027-01-31T00:00:00.000Z',
    '2027-02-28T00:00:00.000Z',
  ]);
  expect(period('2026-01-31T00:00:00Z', '2027-02-28T00:00:00Z')).toEqual([
    '2027-02-28T00:00:00.000Z',
    '2027-03-31T00:00:00.000Z',
  ]);
  expect(period('2026-01-31T00:00:00Z', '2028-02-29T12:00:00Z')[0]).toBe('2028-02-29T00:00:00.000Z');
});

test('a period may span two years', () => {
  expect(period('2026-01-15T00:00:00Z', '2027-01-02T00:00:00Z')).toEqual([
    '2026-12-15T00:00:00.000Z',
    '2027-01-15T00:00:00.000Z',
  ]);
});

test('only active and trialing plans other than free are paid', () => {
  expect(isPaid({ plan: 'free', plan_status: 'active' })).toBe(false);
  expect(isPaid({ plan: 'starter', plan_status: 'active' })).toBe(true);
  expect(isPaid({ plan: 'pro', plan_status: 'trialing' })).toBe(true);
  expect(isPaid({ plan: 'pro', plan_status: 'past_due' })).toBe(false);
  expect(isPaid({ plan: 'unlimited', plan_status: 'canceled' })).toBe(false);
});

test('a plan that is no longer paid has the limits of the free one', () => {
  expect(limitsOf({ plan: 'business', plan_status: 'canceled' }).links).toBe(25);
  expect(limitsOf({ plan: 'unlimited', plan_status: 'active' }).links).toBeNull();
});
