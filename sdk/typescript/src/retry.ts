import { HoplogError } from './errors.ts';
import type { Operation } from './operation.ts';

const FIRST_MS = 500;
const LONGEST_MS = 8_000;
/** A longer `Retry-After` is left to the caller. Seconds. */
const LONGEST_RETRY_AFTER = 60;
/** The service, or a proxy in front of it, did not do the call: now it may. */
const OUTAGES = [502, 503, 504];

/** Whether an attempt failed for a reason that may pass: no response, too many calls, or an outage. */
export const mayPass = (error: unknown): error is HoplogError =>
  error instanceof HoplogError &&
  (error.status === 0 || error.status === 429 || OUTAGES.includes(error.status));

/** Whether a failed attempt may be repeated without doing twice what it asked for. */
export function mayRepeat(operation: Operation, error: unknown): boolean {
  if (!(error instanceof HoplogError)) return false;
  if ((error.retryAfter ?? 0) > LONGEST_RETRY_AFTER) return false;
  // A 429 did nothing. An earlier attempt of the same create may still run.
  if (error.status === 429 || error.code === 'idempotency_in_progress') return true;
  return mayPass(error) && (operation.repeatable === true || operation.idempotent === true);
}

/**
 * Returns how long to wait before a retry, in milliseconds: longer each time, with jitter, and at least what
 * `Retry-After` says.
 *
 * @param attempt number of failed attempts so far, minus one
 */
export function pauseOf(attempt: number, retryAfter: number | null): number {
  const longest = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
  return (retryAfter ?? 0) * 1_000 + longest * (0.5 + Math.random() / 2);
}

/** Waits. @throws the reason of the signal when it is aborted */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
