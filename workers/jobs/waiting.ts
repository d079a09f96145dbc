import type { Pool } from '../../sql/database/pool.ts';
import { type PendingWork, pendingWork } from '../../sql/event-log/pending-work.ts';
import type { IdlePause } from '../idle-pause.ts';

/** Returns whether work of a kind waits. Concurrent calls share one query: idle jobs of one interval run together. */
export type Waiting = (kind: keyof PendingWork) => Promise<boolean>;

/**
 * @param pause of the loops that ask: it ends when there is work of any kind
 * @param onWatermarkAwaited called when there is work that waits for the watermark
 */
export function createWaiting(
  pool: Pool,
  pause: IdlePause,
  onWatermarkAwaited: () => void = () => undefined,
): Waiting {
  let pending: Promise<PendingWork> | null = null;
  return async function waits(kind) {
    pending ??= pendingWork(pool).finally(() => {
      pending = null;
    });
    const found = await pending;
    if (Object.values(found).includes(true)) pause.found();
    if (found.waitingReports || found.attribution || found.leads || found.pendingSignups)
      onWatermarkAwaited();
    return found[kind];
  };
}
