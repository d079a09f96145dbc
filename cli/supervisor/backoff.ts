export type BackoffOptions = {
  /** Pause before the first restart, milliseconds. */
  firstMs: number;
  /** Longest pause, milliseconds. */
  longestMs: number;
  /** A child that ran this long was stable: the next pause is the first one again. */
  stableMs: number;
};

export const RESTART: BackoffOptions = { firstMs: 100, longestMs: 10_000, stableMs: 30_000 };

/**
 * How long to wait before a dead child is started again: doubling from one death to the next.
 *
 * @returns a function that takes how long the child ran, and gives the pause, both in milliseconds
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
