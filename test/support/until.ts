import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

/**
 * Far below the `testTimeout` of vitest.config.ts, because this error has the last value, and a timeout of the test
 * does not.
 */
export const LIMIT_MS = 60_000;

/** Pauses between two reads: the first, and the longest after a long wait. Milliseconds. */
const PAUSE_MS = { first: 50, longest: 500 };

export type UntilOptions = {
  timeoutMs?: number;
  /** Default: a twentieth of the time waited so far, because each read takes CPU from the awaited work. */
  intervalMs?: number;
};

/**
 * Reads repeatedly until the value satisfies the condition, and returns it. If the value is not needed, use
 * `expect.poll`.
 * @param what the awaited condition, for the error: "a delivery of each click".
 * @throws with the last value, after `timeoutMs`
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
  { timeoutMs = LIMIT_MS, intervalMs }: UntilOptions = {},
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    const waited = performance.now() - began;
    if (waited > timeoutMs) {
      throw new Error(`not seen within ${timeoutMs} ms: ${what}; last seen: ${inspect(value, { depth: 4 })}`);
    }
    await delay(intervalMs ?? Math.min(Math.max(PAUSE_MS.first, waited / 20), PAUSE_MS.longest));
  }
}
