import { expect, test } from 'vitest';
import { createAdmissionFilter } from './admission-filter.ts';

const MOST = 4_096;
const slugs = (count: number, name = 'slug') => Array.from({ length: count }, (_, n) => `${name}${n}`);
/** For how many it says that they repeat. */
const repeated = (admits: (slug: string) => boolean, asked: string[]) => asked.filter(admits).length;

test('slugs that come again and again in the same order are seen to repeat, as many as the cache holds', () => {
  const admits = createAdmissionFilter(MOST);
  const half = slugs(MOST / 2);
  expect(repeated(admits, half)).toBeLessThan(MOST / 200);
  expect(repeated(admits, half)).toBe(MOST / 2);
  expect(repeated(admits, half)).toBe(MOST / 2);
});

test('of those that come once few are taken for others', () => {
  expect(repeated(createAdmissionFilter(MOST), slugs(100 * MOST))).toBeLessThan(MOST);
});

test('a slug is forgotten when many others have come', () => {
  const admits = createAdmissionFilter(MOST);
  expect([admits('abc'), admits('abc'), admits('abc')]).toEqual([false, true, true]);
  repeated(admits, slugs(MOST + MOST / 50, 'other'));
  expect(admits('abc')).toBe(false);
});
