import { getHeapSpaceStatistics } from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { collectAll, giveBackWhenQuiet } from './idle-memory.ts';

afterEach(() => vi.useRealTimers());

test('memory is given back once after each time with events, twenty seconds later', () => {
  vi.useFakeTimers();
  let isQuiet = true;
  const collect = vi.fn();
  const end = giveBackWhenQuiet({ isQuiet: () => isQuiet }, collect);
  vi.advanceTimersByTime(60_000);
  expect(collect).toHaveBeenCalledTimes(1);
  isQuiet = false;
  vi.advanceTimersByTime(10_000);
  isQuiet = true;
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(collect).toHaveBeenCalledTimes(2);
  end();
});

test('a young generation that has grown shrinks', () => {
  const youngBytes = () =>
    getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.physical_space_size ?? 0;
  let kept: string[][] = [];
  for (let at = 0; at < 3_000_000; at += 1) {
    kept.push([String(at)]);
    if (kept.length > 200_000) kept = [];
  }
  kept = [];
  const grown = youngBytes();
  expect(grown).toBeGreaterThan(8 * 2 ** 20);
  collectAll();
  expect(youngBytes()).toBeLessThan(grown / 4);
});
