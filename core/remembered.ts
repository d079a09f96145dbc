import { createBoundedCache } from './bounded-cache.ts';

/**
 * The same function, which remembers its newest answers.
 *
 * @param capacity most of them
 */
export function remembered<T extends object | boolean>(
  read: (text: string) => T,
  capacity: number,
): (text: string) => T {
  const cache = createBoundedCache<string, T>(capacity);
  return (text) => {
    const known = cache.get(text);
    if (known !== undefined) return known;
    const fresh = read(text);
    cache.set(text, fresh);
    return fresh;
  };
}
