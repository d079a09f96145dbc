import { expect, test } from 'vitest';
import { createAdmissionFilter } from './admission-filter.ts';

const MOST = 4_096;
const slugs = (count: number, name = 'slug') => Array.from({ length: count }, (_, n) => `${name}${n}`);
/** Counts the slugs that are admitted. */
const admitted = (admits: (slug: string) => boolean, requested: string[]) => requested.filter(admits).length;

test('slugs requested in turn are admitted, as many as the cache holds', () => {
  const admits = createAdmissionFilter(MOST);
  const half = slugs(MOST / 2);
  expect(admitted(admits, half)).toBeLessThan(MOST / 200);
  expect(admitted(admits, half)).toBe(MOST / 2);
  expect(admitted(admits, half)).toBe(MOST / 2);
});

test('few slugs are admitted on their first request', () => {
  expect(admitted(createAdmissionFilter(MOST), slugs(100 * MOST))).toBeLessThan(MOST);
});

test('a slug needs two requests again after many others', () => {
  const admits = createAdmissionFilter(MOST);
  expect([admits('abc'), admits('abc'), admits('abc')]).toEqual([false, true, true]);
  admitted(admits, slugs(MOST + MOST / 50, 'other'));
  expect(admits('abc')).toBe(false);
});
