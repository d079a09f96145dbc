import { expect, test } from 'vitest';
import { heightIn } from './height-message.ts';

test('reads a height from a height message only', () => {
  expect(heightIn({ type: 'service:embed:height', height: 512.2 })).toBe(513);
  for (const data of [
    null,
    'service:embed:height',
    { height: 500 },
    { type: 'other', height: 500 },
    { type: 'service:embed:height' },
    { type: 'service:embed:height', height: '500' },
  ]) {
    expect(heightIn(data)).toBeNull();
  }
});

test('ignores implausible heights', () => {
  for (const height of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e9]) {
    expect(heightIn({ type: 'service:embed:height', height })).toBeNull();
  }
});
