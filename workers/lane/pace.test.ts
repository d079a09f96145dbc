import { expect, it } from 'vitest';
import { intervalFor, lingerFor } from './pace.ts';

it('inserts the less often the more parts there are to merge', () => {
  const intervals = [0, 79, 80, 150, 250, 3_000].map(intervalFor);
  expect(intervals).toEqual([240, 240, 500, 1_000, 2_000, 2_000]);
});

it('waits for the rest of the interval after an insert, and shortly after a pause', () => {
  const waits = [0, 10, 200, 300, Number.POSITIVE_INFINITY].map((since) => lingerFor(300, since));
  expect(waits).toEqual([300, 290, 100, 100, 100]);
});
