import type { Pool } from '../../sql/database/pool.ts';
import { type PendingWork, pendingWork } from '../../sql/event-log/pending-work.ts';

/**
 * Whether work of a kind waits. Clocks that ask while the answer is on its way share it: those of one rhythm start
 * together, and stay together for as long as none has anything to do.
 */
export type Waiting = (kind: keyof PendingWork) => Promise<boolean>;

export function createWaiting(pool: Pool): Waiting {
  let asked: Promise<PendingWork> | null = null;
  return async function waits(kind) {
    asked ??= pendingWork(pool).finally(() => {
      asked = null;
    });
    return (await asked)[kind];
  };
}
