import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IdleLanes } from './lane/idle-lanes.ts';

const LOOK_EVERY_MS = 10_000;
/** Time without an event after which memory is given back. Milliseconds. */
const QUIET_FOR_MS = 20_000;

/**
 * Gives the memory of the young generation back to the system, once after each time with events. V8 keeps what it grew
 * to under load, three times 64 MiB, for as long as the process rests: a process at rest makes no garbage that would
 * let it shrink. The collection stops the process for about a tenth of a second, while nothing happens.
 *
 * @param collect for tests
 * @returns a function that ends it
 */
export function giveBackWhenQuiet(quiet: Pick<IdleLanes, 'isQuiet'>, collect = collectAll): () => void {
  let isDue = true;
  let quietLooks = 0;
  const timer = setInterval(() => {
    if (!quiet.isQuiet()) {
      isDue = true;
      quietLooks = 0;
      return;
    }
    quietLooks += 1;
    if (!isDue || quietLooks * LOOK_EVERY_MS < QUIET_FOR_MS) return;
    isDue = false;
    collect();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Collects all garbage, and shrinks the heap to what is in use. */
export function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('globalThis.gc');
  if (typeof gc === 'function') gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
