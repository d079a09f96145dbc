import { expect, test } from 'vitest';
import { lastRun, nextRun, type Run, type Schedule } from './schedule.ts';

const at = (iso: string) => Date.parse(iso);
const shown = ({ at: sent, period }: Run) =>
  [sent, period.from, period.to].map((instant) => new Date(instant).toISOString().replace(':00.000Z', 'Z'));

const DAILY: Schedule = { every: 'day', hour: 2, time_zone: 'Europe/Berlin' };

test.each<[string, Schedule, string, string[]]>([
  [
    'a day before its hour',
    { ...DAILY, hour: 8 },
    '2026-11-20T06:59:00Z',
    ['2026-11-20T07:00Z', '2026-11-18T23:00Z', '2026-11-19T23:00Z'],
  ],
  [
    'a day at its hour, for the day after',
    { ...DAILY, hour: 8 },
    '2026-11-20T07:00:00Z',
    ['2026-11-21T07:00Z', '2026-11-19T23:00Z', '2026-11-20T23:00Z'],
  ],
  [
    'an hour that clocks skip, at its end, for a day of 24 hours',
    DAILY,
    '2026-03-28T12:00:00Z',
    ['2026-03-29T01:00Z', '2026-03-27T23:00Z', '2026-03-28T23:00Z'],
  ],
  [
    'the day after, for a day of 23 hours',
    DAILY,
    '2026-03-29T12:00:00Z',
    ['2026-03-30T00:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
  ],
  [
    'an hour that comes twice, the first time',
    DAILY,
    '2026-10-24T12:00:00Z',
    ['2026-10-25T00:00Z', '2026-10-23T22:00Z', '2026-10-24T22:00Z'],
  ],
  [
    'an hour that comes twice, not the second time',
    DAILY,
    '2026-10-25T00:00:00Z',
    ['2026-10-26T01:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
  ],
  [
    'a week on Wednesday, for the week that ended on Sunday',
    { every: 'week', weekday: 3, hour: 9, time_zone: 'America/New_York' },
    '2026-11-20T00:00:00Z',
    ['2026-11-25T14:00Z', '2026-11-16T05:00Z', '2026-11-23T05:00Z'],
  ],
  [
    'a month on its last day, for the month before',
    { every: 'month', day: 31, hour: 0, time_zone: 'Asia/Kolkata' },
    '2027-02-10T00:00:00Z',
    ['2027-02-27T18:30Z', '2026-12-31T18:30Z', '2027-01-31T18:30Z'],
  ],
  [
    'a month across the year',
    { every: 'month', hour: 6, time_zone: 'UTC' },
    '2026-12-02T00:00:00Z',
    ['2027-01-01T06:00Z', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
  ],
])('the next run of %s', (_, schedule, after, expected) => {
  expect(shown(nextRun(schedule, at(after)))).toEqual(expected);
});

test('the last run is the one whose next one has not come', () => {
  for (const schedule of [
    DAILY,
    { every: 'week', weekday: 7, hour: 23, time_zone: 'Pacific/Auckland' },
    { every: 'month', day: 30, hour: 2, time_zone: 'Europe/Berlin' },
  ] as const) {
    let run = nextRun(schedule, at('2026-01-01T00:00:00Z'));
    for (let count = 0; count < 40; count++) {
      const next = nextRun(schedule, run.at);
      expect(next.period.from).toBe(run.period.to);
      expect(lastRun(schedule, run.at)).toEqual(run);
      expect(lastRun(schedule, next.at - 1)).toEqual(run);
      run = next;
    }
  }
});

test('each day of a year with two changes of clocks is in one period', () => {
  let run = nextRun(DAILY, at('2026-01-01T12:00:00Z'));
  for (let day = 0; day < 365; day++) {
    const next = nextRun(DAILY, run.at);
    expect(next.period.from).toBe(run.period.to);
    run = next;
  }
});

test('a day that a zone skipped has no period, and no other day is left out', () => {
  // Samoa had no December 30, 2011: its run is at the end of the skip.
  const schedule: Schedule = { every: 'day', hour: 8, time_zone: 'Pacific/Apia' };
  const first = nextRun(schedule, at('2011-12-29T12:00:00Z'));
  const second = nextRun(schedule, first.at);
  expect([first, second, nextRun(schedule, second.at)].map(shown)).toEqual([
    ['2011-12-29T18:00Z', '2011-12-28T10:00Z', '2011-12-29T10:00Z'],
    ['2011-12-30T10:00Z', '2011-12-29T10:00Z', '2011-12-30T10:00Z'],
    ['2011-12-31T18:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
  ]);
});
