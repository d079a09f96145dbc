import { expect, test } from 'vitest';
import { createBoundedCache } from './bounded-cache.ts';

test('a value is found until enough newer keys were set', () => {
  const cache = createBoundedCache<number, string>(4);
  cache.set(1, 'one');
  expect(cache.get(1)).toBe('one');
  for (let key = 2; key < 10; key++) cache.set(key, 'x');
  expect(cache.get(1)).toBeUndefined();
});

test('the cache never holds more than its capacity', () => {
  const cache = createBoundedCache<number, number>(10);
  for (let key = 0; key < 1_000; key++) {
    cache.set(key, key);
    cache.get(key - 3);
    expect(cache.size()).toBeLessThanOrEqual(10);
  }
});

test('a key that is read repeatedly stays', () => {
  const cache = createBoundedCache<string, number>(10);
  cache.set('hot', 1);
  for (let key = 0; key < 100; key++) {
    cache.set(`cold ${key}`, key);
    expect(cache.get('hot')).toBe(1);
  }
});

test('a capacity below 2 is rejected', () => {
  expect(() => createBoundedCache(1)).toThrow(RangeError);
});

test('a deleted key is gone, whether it was set long ago or not', () => {
  const cache = createBoundedCache<number, string>(4);
  cache.set(1, 'one');
  cache.set(2, 'two');
  cache.set(3, 'three');
  for (const key of [1, 3]) cache.delete(key);
  expect([1, 2, 3].map((key) => cache.get(key))).toEqual([undefined, 'two', undefined]);
});
