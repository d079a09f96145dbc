import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Far below the `testTimeout` of vitest.config.ts: this error names the value, a timed-out test does not. */
export const LIMIT_MS = 60_000;

export type UntilOptions = { timeoutMs?: number; intervalMs?: number };

/**
 * Reads repeatedly until the value satisfies the condition, and returns it. Where no value is needed, `expect.poll`
 * does the same.
 * @param what the awaited condition, for the error: "a delivery of each click".
 * @throws with the value last seen, after `timeoutMs`
 */
export async function until<T, S extends T>(
  what: string,
  read: () => Promise<T> | T,
  holds: (value: T) => value is S,
  options?: UntilOptions,
): Promise<S>;
export async function until<T>(
  what: string,
  read: () => Promise<T> | T,
  holds?: (value: T) => boolean,
  options?: UntilOptions,
): Promise<T>;
export async function until<T>(
  what: string,
  read: () => Promise<T> | T,
  holds: (value: T) => boolean = Boolean,
  { timeoutMs = LIMIT_MS, intervalMs = 50 }: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(`not seen within ${timeoutMs} ms: ${what}; last seen: ${inspect(value, { depth: 4 })}`);
    }
    await delay(intervalMs);
  }
}
