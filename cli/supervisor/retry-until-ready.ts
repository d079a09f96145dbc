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
 * Retries a step of the start until the databases are ready. The step must be safe to repeat, even if it succeeded and
 * its response was lost.
 *
 * @param persist retries every error; otherwise only those of an unreachable database
 */
export async function retryUntilReady<Result>(
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
      log.warn({ err: error, pauseMs }, 'a database is not ready yet; will retry');
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
