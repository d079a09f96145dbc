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
 * Does a step of the start as soon as the stores answer: redirects need not wait for them, so a start with a store
 * down is no failed start. Any other error is one. The step may be done anew, also after its answer was lost.
 */
export async function patiently<Result>(
  step: () => Promise<Result>,
  log: Logger,
  stopping: AbortSignal,
): Promise<Result> {
  const pauseAfter = createBackoff();
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (stopping.aborted || !isUnreachable(error)) throw error;
      log.warn({ err: error }, 'a store does not answer yet: trying again');
      await delay(pauseAfter(0), undefined, { signal: stopping });
    }
  }
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && UNREACHABLE.has(code)) return true;
  return /timeout|Connection terminated|socket hang up/i.test(error.message) || isUnreachable(error.cause);
}
