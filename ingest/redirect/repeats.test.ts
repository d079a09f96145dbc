import { expect, test } from 'vitest';
import { createRepeats } from './repeats.ts';

const MOST = 4_096;
const slugs = (count: number, name = 'slug') => Array.from({ length: count }, (_, n) => `${name}${n}`);
/** For how many it says that they repeat. */
const repeated = (isRepeated: (slug: string) => boolean, asked: string[]) => asked.filter(isRepeated).length;

test('slugs that come again and again in the same order are seen to repeat, as many as the cache holds', () => {
  const isRepeated = createRepeats(MOST);
  const half = slugs(MOST / 2);
  expect(repeated(isRepeated, half)).toBeLessThan(MOST / 200);
  expect(repeated(isRepeated, half)).toBe(MOST / 2);
  expect(repeated(isRepeated, half)).toBe(MOST / 2);
});

test('of those that come once few are taken for others', () => {
  expect(repeated(createRepeats(MOST), slugs(100 * MOST))).toBeLessThan(MOST);
});

test('a slug is forgotten when many others have come', () => {
  const isRepeated = createRepeats(MOST);
  expect([isRepeated('abc'), isRepeated('abc'), isRepeated('abc')]).toEqual([false, true, true]);
  repeated(isRepeated, slugs(MOST + MOST / 50, 'other'));
  expect(isRepeated('abc')).toBe(false);
});
