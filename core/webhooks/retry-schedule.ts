const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Waits after the first attempt, the second and so on. Milliseconds. */
export const RETRY_WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
] as const;

/** Largest share added to each wait, which spreads receivers that failed together. */
const JITTER = 0.2;

/** The longest wait that a receiver may request. Milliseconds. */
const LONGEST_WAIT = 5 * DAY;

/** A webhook is disabled when all attempts of this time, on at least this many days, have failed. */
export const DISABLE_AFTER = { ms: 5 * DAY, days: 5 } as const;

/**
 * Returns the wait before the next attempt; null after the last one.
 *
 * @param attempts made so far, at least 1
 * @param retryAfterMs the receiver's request; used where it is longer, up to five days
 * @param random from 0 to 1
 */
export function retryWait(attempts: number, retryAfterMs: number | null, random: number): number | null {
  const wait = RETRY_WAITS[attempts - 1];
  if (wait === undefined) return null;
  const scheduled = Math.round(wait * (1 + JITTER * random));
  return Math.max(scheduled, Math.min(retryAfterMs ?? 0, LONGEST_WAIT));
}

/**
 * Parses a `Retry-After` header: seconds, or an HTTP date.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds from now, never negative; null when it is neither
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * SECOND;
  // A date begins with letters; `Date.parse` also accepts texts like "5-5".
  if (!/^[A-Za-z]{3}/.test(text)) return null;
  // The oldest of the three date forms has no zone and means UTC; `Date.parse` would take the machine's zone.
  const at = Date.parse(/ \d{4}$/.test(text) ? `${text} UTC` : text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
