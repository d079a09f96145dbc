import { expect, test } from 'vitest';
import { createBackoff } from './backoff.ts';

const options = { firstMs: 100, longestMs: 1_000, stableMs: 30_000 };

test('the delay before a restart doubles up to its limit', () => {
  const pauseAfter = createBackoff(options);
  expect([0, 0, 0, 0, 0, 0].map(pauseAfter)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('a long run resets the delay', () => {
  const pauseAfter = createBackoff(options);
  pauseAfter(0);
  pauseAfter(29_999);
  expect(pauseAfter(30_000)).toBe(100);
  expect(pauseAfter(0)).toBe(200);
});
