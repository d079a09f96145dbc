import { expect, it } from 'vitest';
import { until } from './until.ts';

it('returns the first value that satisfies the condition', async () => {
  let count = 0;
  expect(
    await until(
      'three reads',
      () => ++count,
      (value) => value === 3,
      { intervalMs: 1 },
    ),
  ).toBe(3);
});

it('fails at the limit, naming the condition and the value last seen', async () => {
  const wait = until(
    'a row',
    () => ({ rows: [] as string[] }),
    ({ rows }) => rows.length > 0,
    { timeoutMs: 30, intervalMs: 5 },
  );
  await expect(wait).rejects.toThrow('not seen within 30 ms: a row; last seen: { rows: [] }');
});

it('passes on what the read throws', async () => {
  const wait = until('a row', () => Promise.reject(new Error('connection refused')));
  await expect(wait).rejects.toThrow('connection refused');
});
