import { describe, expect, test } from 'vitest';
import { createStreamClock, createWallClock } from './stream-clock.ts';

describe('the clock of a stream', () => {
  test('gives whole microseconds that only grow, whatever its source says', () => {
    const source = [5.7, 5.9, 6.2, 3, 3, 7, 6.99, 100.5];
    const clock = createStreamClock(() => source.shift() ?? 0, 0);
    expect(Array.from({ length: 8 }, clock)).toEqual([5, 6, 7, 8, 9, 10, 11, 100]);
  });

  test('goes on behind the last time that the stream has given', () => {
    const clock = createStreamClock(() => 50, 1000);
    expect([clock(), clock()]).toEqual([1001, 1002]);
  });
});

describe('the wall clock', () => {
  test('lies within two milliseconds of the system’s', () => {
    const clock = createWallClock();
    clock.check();
    const before = Date.now() * 1000;
    const now = clock.now();
    const after = Date.now() * 1000;
    expect(now).toBeGreaterThan(before - 2000);
    expect(now).toBeLessThan(after + 2000);
  });
});
