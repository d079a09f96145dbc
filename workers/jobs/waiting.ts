import type { Pool } from '../../sql/database/pool.ts';
import { type WaitingWork, waitingWork } from '../../sql/event-log/waiting-work.ts';

/**
 * Whether work of a kind waits. Clocks that ask while the answer is on its way share it: those of one rhythm start
 * together, and stay together for as long as none has anything to do.
 */
export type Waiting = (kind: keyof WaitingWork) => Promise<boolean>;

export function createWaiting(pool: Pool): Waiting {
  let asked: Promise<WaitingWork> | null = null;
  return async function waits(kind) {
    asked ??= waitingWork(pool).finally(() => {
      asked = null;
    });
    return (await asked)[kind];
  };
}
