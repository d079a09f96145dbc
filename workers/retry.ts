import { AssertionError } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaultNotice } from '../core/databases/fault-notice.ts';
import type { Logger } from '../core/tier/log.ts';
import type { WorkerMetrics } from './metrics.ts';

/** Runs one step until it succeeds. Rejects with a final error, a broken invariant, or the signal's reason. */
export type Retry = <T>(step: string, work: () => Promise<T>) => Promise<T>;

export type RetryDependencies = {
  log: Logger;
  metrics: WorkerMetrics;
  /** Ends the retries: at shutdown, or when the lane is lost. */
  signal: AbortSignal;
  /** Whether no further attempt can help. */
  isFinal: (error: unknown) => boolean;
};

// A database that returns is noticed within a second.
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/**
 * Creates a retry for single steps that call a database: waits 50 ms, then twice as long each time, up to a second,
 * with 10 % jitter. It never gives up: events wait in the log. A wrong setting is logged once a minute, anything else
 * at each attempt.
 */
export function createRetry(dependencies: RetryDependencies): Retry {
  const { log, metrics, signal, isFinal } = dependencies;
  const noteFault = createFaultNotice(log);

  return async function retry(step, work) {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AssertionError || isFinal(error)) throw error;
        const cause = causeOf(error);
        metrics.retries.inc({ step, cause });
        if (!noteFault(error)) log.warn({ step, cause, err: error, wait }, 'step failed; will retry');
      }
      await sleep(wait * (0.9 + Math.random() * 0.2), undefined, { signal });
    }
  };
}

/**
 * Returns a short name of an error: its code, else that of its cause (`ECONNREFUSED`, an SQLSTATE, ClickHouse's
 * number).
 */
export function causeOf(error: unknown): string {
  if (error instanceof Error) {
    if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code;
    return error.cause instanceof Error ? causeOf(error.cause) : error.name;
  }
  return 'unknown';
}
