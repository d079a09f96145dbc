import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import { createBackoff } from './backoff.ts';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  // PostgreSQL: shutting down, crashed, still starting up.
  '57P01',
  '57P02',
  '57P03',
]);

/**
 * Repeats a step of the start until the stores answer: redirects do not wait for them, so a start with a store
 * down does not fail. The step must be safe to repeat, also when it has succeeded and its answer was lost.
 *
 * @param persist retries every error; otherwise only those of a store that cannot be reached
 */
export async function patiently<Result>(
  step: () => Promise<Result>,
  { log, stopping, persist }: { log: Logger; stopping: AbortSignal; persist: boolean },
): Promise<Result> {
  const pauseAfter = createBackoff();
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (stopping.aborted || !(persist || isUnreachable(error))) throw error;
      const pauseMs = pauseAfter(0);
      log.warn({ err: error, pauseMs }, 'a store is not ready yet; will retry');
      await delay(pauseMs, undefined, { signal: stopping });
    }
  }
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && UNREACHABLE.has(code)) return true;
  return /timeout|Connection terminated|socket hang up/i.test(error.message) || isUnreachable(error.cause);
}
