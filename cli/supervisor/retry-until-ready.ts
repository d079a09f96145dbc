import { setTimeout as delay } from 'node:timers/promises';
import { adviceOn } from '../../core/databases/advice.ts';
import { databaseFault } from '../../core/databases/faults.ts';
import type { Logger } from '../../core/tier/log.ts';
import { createBackoff } from './backoff.ts';

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
      const { message = 'a database is not ready yet', ...more } = adviceOn(error) ?? {};
      log.warn({ err: error, pauseMs, ...more }, `${message}; will retry`);
      await delay(pauseMs, undefined, { signal: stopping });
    }
  }
}

/** Whether the database is down or still starts. A wrong setting ends the retries. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return databaseFault(error)?.kind === 'unavailable' || isUnreachable(error.cause);
}
