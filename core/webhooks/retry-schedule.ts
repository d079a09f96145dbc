const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The waits after the first attempt, the second and so on. Milliseconds. */
export const RETRY_WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
] as const;

/** Added to each wait, at most: receivers that failed together are not all asked again in one second. */
const JITTER = 0.2;

/** The longest wait that a receiver may ask for. Milliseconds. */
const LONGEST_WAIT = 5 * DAY;

/** A webhook whose attempts have only failed for this long, and on so many days, is disabled. */
export const DISABLE_AFTER = { ms: 5 * DAY, days: 5 } as const;

/**
 * How long to wait before the next attempt, or null when that was the last one.
 *
 * @param attempts made so far, at least 1
 * @param retryAfterMs what the receiver asked for; it wins where it is longer, up to five days
 * @param random from 0 to 1
 */
export function retryWait(attempts: number, retryAfterMs: number | null, random: number): number | null {
  const wait = RETRY_WAITS[attempts - 1];
  if (wait === undefined) return null;
  const scheduled = Math.round(wait * (1 + JITTER * random));
  return Math.max(scheduled, Math.min(retryAfterMs ?? 0, LONGEST_WAIT));
}

/**
 * Reads a `Retry-After` header: seconds, or an HTTP date.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds from now, never negative; null when it says nothing
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * SECOND;
  // A date has letters; Date.parse also takes things like "5-5" that mean nothing here.
  if (!/^[A-Za-z]{3}/.test(text)) return null;
  // The oldest of the three forms names no zone and means UTC; Date.parse takes the machine's.
  const at = Date.parse(/ \d{4}$/.test(text) ? `${text} UTC` : text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
