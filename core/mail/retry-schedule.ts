const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long a mail is tried. Milliseconds. */
export const TRIED_FOR = 24 * HOUR;

/** Waits after the first attempt, the second and so on; the last one repeats. A server that greylists wants some minutes. */
const WAITS = [10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR] as const;

/** Largest share added to each wait. */
const JITTER = 0.2;

/**
 * Returns the wait before the next attempt. Milliseconds.
 *
 * @param attempts made so far, at least 1
 * @param random from 0 to 1
 */
export function mailRetryWait(attempts: number, random: number): number {
  const wait = WAITS[Math.min(attempts, WAITS.length) - 1] ?? HOUR;
  return Math.round(wait * (1 + JITTER * random));
}
