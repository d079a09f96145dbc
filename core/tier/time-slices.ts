/** Longest time that work in steps holds the event loop. Milliseconds. */
const SLICE_MS = 8;

/**
 * Waits, when the current slice is used up, until the event loop has served other work. Await it between two short
 * steps of long work.
 */
export type Slice = () => Promise<void>;

/**
 * Divides long work of one process into slices, so that it never holds the event loop for long. One slice runs in each
 * iteration of the loop for all pieces of work, which take turns in order.
 *
 * @returns a function that begins a piece of work
 */
export function createTimeSlices(): () => Slice {
  const waiting: (() => void)[] = [];
  function runNext(): void {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(runNext);
  }
  return () => {
    let began = performance.now();
    return async () => {
      if (performance.now() - began < SLICE_MS) return;
      await new Promise<void>((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(runNext);
      });
      began = performance.now();
    };
  };
}
