import { setTimeout as delay } from 'node:timers/promises';

/** Responses leave at multiples of this time. Milliseconds. */
const STEP_MS = 500;

/**
 * Returns the result of `work` at a multiple of {@link STEP_MS} after its start, also a failure: how long the work took
 * would tell whether an address is known.
 */
export async function inEvenTime<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    const took = performance.now() - start;
    await delay(Math.ceil(took / STEP_MS) * STEP_MS - took);
  }
}
