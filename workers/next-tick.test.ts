import { expect, test } from 'vitest';
import { untilNextTick } from './next-tick.ts';

test('loops of one interval, and of its multiples, wake at the same moment', () => {
  for (const now of [0, 3, 499.5, 500, 1_234.25]) {
    expect((now + untilNextTick(500, now)) % 500).toBe(0);
    expect((now + untilNextTick(1_000, now)) % 500).toBe(0);
    expect(untilNextTick(500, now)).toBeGreaterThan(0);
  }
});
