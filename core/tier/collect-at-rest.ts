import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_MS = 600_000;
/** Largest share of the time that the event loop of a thread at rest works. */
const AT_REST = 0.02;
/** Largest heap that is collected. Bytes. A larger one would delay a visitor who comes at that moment. */
const LARGEST_HEAP = 64 * 2 ** 20;

/**
 * Collects garbage of this thread after each ten minutes in which it had almost nothing to do, and returns the memory
 * to the system. V8 alone waits for many allocations: at rest its young generation grows for hours.
 *
 * @param everyMs for tests
 */
export function collectAtRest(everyMs = EVERY_MS): void {
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    if (utilization < AT_REST && process.memoryUsage().heapUsed < LARGEST_HEAP) collect();
    // Excludes the time of the collection.
    before = performance.eventLoopUtilization();
  }, everyMs).unref();
}

/**
 * Hazard: a process that starts with `--expose-gc` cannot use the compiled code of Node's own modules, and a start
 * takes a tenth more.
 */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc: NonNullable<typeof globalThis.gc> = runInNewContext('gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
