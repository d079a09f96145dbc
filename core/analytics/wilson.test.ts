import { expect, test } from 'vitest';
import { wilsonInterval } from './wilson.ts';

/**
 * R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods", Statistics
 * in Medicine 17 (1998), table I, method 3: the score method without continuity correction.
 */
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('the interval of %i of %i is as published', (hits, trials, low, high) => {
  const interval = wilsonInterval(hits, trials);
  expect(interval?.low).toBeCloseTo(low, 4);
  expect(interval?.high).toBeCloseTo(high, 4);
});

test('the interval of all is that of none, mirrored, and ends at exactly 0 and 1', () => {
  const none = wilsonInterval(0, 20);
  const all = wilsonInterval(20, 20);
  expect([none?.low, all?.high]).toEqual([0, 1]);
  expect(all?.low).toBeCloseTo(1 - (none?.high ?? 0), 12);
});

test('there is no interval without trials, and more hits than trials count as all', () => {
  expect(wilsonInterval(0, 0)).toBeNull();
  expect(wilsonInterval(31, 30)).toEqual(wilsonInterval(30, 30));
});

test('the interval holds the share, and is the narrower the more trials there are', () => {
  const widths = [10, 100, 1_000, 10_000].map((trials) => {
    const { low, high } = wilsonInterval(trials / 10, trials) ?? { low: 1, high: 0 };
    expect(low).toBeLessThan(0.1);
    expect(high).toBeGreaterThan(0.1);
    return high - low;
  });
  expect(widths).toEqual(widths.toSorted((one, other) => other - one));
});
