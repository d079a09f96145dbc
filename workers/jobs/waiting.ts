import type { Pool } from '../../sql/database/pool.ts';
import { type WaitingWork, waitingWork } from '../../sql/event-log/waiting-work.ts';

/** Returns whether work of a kind waits. Concurrent calls share one query: idle jobs of one interval run together. */
export type Waiting = (kind: keyof WaitingWork) => Promise<boolean>;

export function createWaiting(pool: Pool): Waiting {
  let pending: Promise<WaitingWork> | null = null;
  return async function waits(kind) {
    pending ??= waitingWork(pool).finally(() => {
      pending = null;
    });
    return (await pending)[kind];
  };
}
