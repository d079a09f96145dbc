import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { untilNextTick } from './next-tick.ts';

test('loops of one interval, and of its multiples, wake at the same moment', () => {
  for (const now of [0, 3, 499.5, 500, 1_234.25]) {
    for (const everyMs of [500, 1_000]) {
      const past = (now + untilNextTick(everyMs, now)) % 500;
      expect(past).toBeGreaterThanOrEqual(1);
      expect(past).toBeLessThan(2);
    }
  }
});

test('no wait ends before its tick, so a loop wakes once in each interval', async () => {
  for (let wakeUp = 0; wakeUp < 60; wakeUp += 1) {
    const now = performance.now();
    const tick = now - (now % 10) + 10;
    await sleep(untilNextTick(10, now));
    expect(performance.now()).toBeGreaterThanOrEqual(tick);
  }
});
