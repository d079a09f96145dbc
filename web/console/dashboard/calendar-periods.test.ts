import { expect, test } from 'vitest';
import { calendarPeriods } from './calendar-periods.ts';

const daysOf = (today: string) =>
  Object.fromEntries(calendarPeriods(today).map(({ value, from, to }) => [value, `${from} ${to}`]));

test('names days, months and years of the calendar, across their ends', () => {
  expect(daysOf('2026-11-26')).toEqual({
    today: '2026-11-26 2026-11-26',
    yesterday: '2026-11-25 2026-11-25',
    month: '2026-11-01 2026-11-30',
    'last-month': '2026-10-01 2026-10-31',
    year: '2026-01-01 2026-12-31',
  });
  expect(daysOf('2028-03-01')).toMatchObject({
    yesterday: '2028-02-29 2028-02-29',
    month: '2028-03-01 2028-03-31',
    'last-month': '2028-02-01 2028-02-29',
  });
  expect(daysOf('2027-01-01')).toMatchObject({
    yesterday: '2026-12-31 2026-12-31',
    'last-month': '2026-12-01 2026-12-31',
    year: '2027-01-01 2027-12-31',
  });
});
