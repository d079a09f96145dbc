import { expect, test } from 'vitest';
import { type AlertState, alertStateAfter } from './alert-state.ts';
import { type AlertCondition, findingOf, WEEKS } from './condition.ts';

const HOUR = 3_600_000;
const WEEK_HOURS = 168;
const CHANGE: AlertCondition = { metric: 'clicks', type: 'change', percent: 30, window_hours: 1 };

test.each<[AlertCondition['type'], number | null, boolean]>([
  ['over', 101, true],
  ['over', 100, false],
  ['over', null, false],
  ['under', 99, true],
  ['under', 100, false],
  ['under', null, false],
  ['none', 0, true],
  ['none', 1, false],
  ['none', null, true],
])('%s 100 with %j: %s', (type, value, holds) => {
  expect(findingOf({ metric: 'clicks', type, value: 100, window_hours: 1 }, value).holds).toBe(holds);
});

test.each<[string, number, number[], boolean]>([
  ['a fall to a third', 300, [1_000, 990, 1_020, 1_010], true],
  ['a doubling', 2_000, [1_000, 990, 1_020, 1_010], true],
  ['less than the percent', 750, [1_000, 990, 1_020, 1_010], false],
  ['what chance explains', 14, [20, 22, 19, 21], false],
  ['weeks that differ as much', 400, [1_000, 350, 1_400, 500], false],
  ['too few clicks', 0, [6, 7, 5, 6], false],
  ['three weeks only', 0, [1_000, 1_000, 1_000], false],
])('a change: %s', (_, now, before, holds) => {
  expect(findingOf(CHANGE, now, before).holds).toBe(holds);
});

/** A generator of equal numbers for each seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A count of independent visits. */
function poisson(random: () => number, mean: number): number {
  if (mean > 200) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count++;
  return count;
}

/** A year and four weeks of hourly clicks: nights, weekends, growth, and days that differ by a tenth. */
function yearOf(perHour: number, seed: number): number[] {
  const random = randomFrom(seed);
  const clicks: number[] = [];
  let day = 1;
  for (let hour = 0; hour < 8_760 + WEEKS * WEEK_HOURS; hour++) {
    if (hour % 24 === 0) day = Math.exp(0.1 * normal(random));
    const ofDay = 1 + 0.8 * Math.sin(((hour % 24) - 9) * (Math.PI / 12));
    const ofWeek = Math.floor(hour / 24) % 7 >= 5 ? 0.6 : 1.1;
    const growth = 1 + hour / 8_760;
    clicks.push(poisson(random, perHour * ofDay * ofWeek * day * growth));
  }
  return clicks;
}

/** Returns the hours at which recipients are told that an alert fires. */
function toldIn(clicks: readonly number[], condition: AlertCondition): number[] {
  const sum = (end: number) =>
    clicks.slice(end - condition.window_hours, end).reduce((total, count) => total + count, 0);
  let state: AlertState = { state: 'ok', since: 0, toldAt: null, isTold: false };
  const told: number[] = [];
  for (let end = WEEKS * WEEK_HOURS + condition.window_hours; end <= clicks.length; end++) {
    const before = Array.from({ length: WEEKS }, (_, week) => sum(end - (week + 1) * WEEK_HOURS));
    const { after, tell } = alertStateAfter(
      state,
      findingOf(condition, sum(end), before).holds,
      end * HOUR,
      12,
    );
    state = after;
    if (tell === 'firing') told.push(end);
  }
  return told;
}

test.each([5, 50, 500, 5_000])(
  'a year of %i clicks an hour with a weekly rhythm has at most one false alert a month',
  (perHour) => {
    for (const [seed, window_hours, percent] of [
      [1, 1, 20],
      [2, 1, 50],
      [3, 6, 20],
      [4, 24, 20],
    ] as const) {
      const told = toldIn(yearOf(perHour, seed * 1_000 + perHour), { ...CHANGE, window_hours, percent });
      expect(told.length, `${perHour} ${window_hours} ${percent}`).toBeLessThanOrEqual(12);
    }
  },
);

test('an outage is told within two hours, a burst within one, and one at night within half a day', () => {
  const quiet = yearOf(500, 7);
  const noon = 30 * WEEK_HOURS + 2 * 24 + 15;
  const halved = quiet.map((count, hour) =>
    hour >= noon && hour < noon + 24 ? Math.round(count / 4) : count,
  );
  expect(toldIn(halved, { ...CHANGE, percent: 50 }).some((hour) => hour > noon && hour <= noon + 2)).toBe(
    true,
  );
  const burst = quiet.map((count, hour) => (hour === noon ? count * 3 : count));
  expect(toldIn(burst, { ...CHANGE, percent: 50 })).toContain(noon + 1);
  const night = 30 * WEEK_HOURS + 3;
  const dead = quiet.map((count, hour) => (hour >= night && hour < night + 24 ? 0 : count));
  expect(
    toldIn(dead, { ...CHANGE, percent: 50 }).find((hour) => hour > night && hour <= night + 12),
  ).toBeDefined();
});

test('an alert is quiet for twelve hours after one, and an end is told if its start was', () => {
  let state: AlertState = { state: 'ok', since: 0, toldAt: null, isTold: false };
  const told: [number, string][] = [];
  const check = (hour: number, holds: boolean) => {
    const { after, tell } = alertStateAfter(state, holds, hour * HOUR, 12);
    state = after;
    if (tell) told.push([hour, tell]);
  };
  for (const [hour, holds] of [
    [1, true],
    [2, true],
    [3, false],
    // Within the quiet hours: neither its start nor its end is told.
    [5, true],
    [6, false],
    // It still lasts when they are over.
    [8, true],
    [12, true],
    [13, true],
    [14, true],
    [15, false],
    [16, false],
  ] as const)
    check(hour, holds);
  expect(told).toEqual([
    [1, 'firing'],
    [3, 'resolved'],
    [13, 'firing'],
    [15, 'resolved'],
  ]);
});
