import { expect, test } from 'vitest';
import type { Dimension } from '../../../core/analytics/dimensions.ts';
import { foldedLast, isFolded } from './folded-rows.ts';

const listOf = (dimension: Dimension, clicks: [value: string | null, clicks: number][]) => ({
  totals: { clicks: clicks.reduce((sum, [, count]) => sum + count, 0) },
  rows: clicks.map(([value, count]) => ({ dimensions: { [dimension]: value }, metrics: { clicks: count } })),
});

test.each([
  [
    'most have no city',
    'city',
    [
      [null, 60],
      ['Berlin', 30],
      ['Paris', 10],
    ],
    ['Berlin', 'Paris', null],
  ],
  [
    'half have none',
    'city',
    [
      [null, 50],
      ['Berlin', 50],
    ],
    [null, 'Berlin'],
  ],
  ['no other row', 'utm_term', [[null, 50]], [null]],
  [
    'none is a value',
    'referer_host',
    [
      [null, 60],
      ['t.co', 40],
    ],
    [null, 't.co'],
  ],
] as const)(
  'the row without a value is last where it is most of a list: %s',
  (_, dimension, clicks, order) => {
    const list = listOf(
      dimension,
      clicks.map(([value, count]) => [value, count]),
    );
    const rows = foldedLast(list, dimension, 'clicks');
    expect(rows.map(({ dimensions }) => dimensions[dimension])).toEqual(order);
    const folded = rows.filter((row) => isFolded(row, list, dimension, 'clicks'));
    expect(folded).toHaveLength(order.at(-1) === null && order.length > 1 ? 1 : 0);
  },
);
