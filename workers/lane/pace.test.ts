import { expect, it } from 'vitest';
import { lingerFor } from './pace.ts';

it('waits longer for more the more parts there are to merge', () => {
  const waits = [0, 39, 40, 80, 150, 250, 3_000].map(lingerFor);
  expect(waits).toEqual([100, 100, 250, 500, 1_000, 2_000, 2_000]);
});
