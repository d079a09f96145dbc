export type BackoffOptions = {
  /** Delay before the first restart, milliseconds. */
  firstMs: number;
  /** Longest delay, milliseconds. */
  longestMs: number;
  /** Run time after which the delay is reset, milliseconds. */
  stableMs: number;
};

const RESTART: BackoffOptions = { firstMs: 100, longestMs: 10_000, stableMs: 30_000 };

/**
 * Returns a function from the run time of a child to the delay before its restart, both in milliseconds. The delay
 * doubles with each restart.
 */
export function createBackoff(options: BackoffOptions = RESTART): (ranMs: number) => number {
  let next = options.firstMs;
  return (ranMs) => {
    if (ranMs >= options.stableMs) next = options.firstMs;
    const pause = next;
    next = Math.min(next * 2, options.longestMs);
    return pause;
  };
}
