import type { Pool } from '../../sql/database/pool.ts';
import { type PendingWork, pendingWork } from '../../sql/event-log/pending-work.ts';
import type { IdlePause } from '../idle-pause.ts';

/** Returns whether work of a kind waits. Concurrent calls share one query: idle jobs of one interval run together. */
export type Waiting = (kind: keyof PendingWork) => Promise<boolean>;

export function createWaiting(given: {
  pool: Pool;
  /** The pause of the polling loops. It ends when there is work of any kind. */
  pause: IdlePause;
  /** The clock of deliveries, milliseconds. */
  now: () => number;
  /** Called when there is work that waits for the watermark. */
  onWatermarkAwaited?: () => void;
}): Waiting {
  const { pool, pause, now, onWatermarkAwaited = () => undefined } = given;
  let pending: Promise<PendingWork> | null = null;
  return async function waits(kind) {
    pending ??= pendingWork(pool, now()).finally(() => {
      pending = null;
    });
    const found = await pending;
    // Excludes deliveries of webhooks, which may wait for hours.
    const { webhookDeliveries: _, ...due } = found;
    if (Object.values(due).includes(true)) pause.found();
    if (found.waitingReports || found.attribution || found.leads || found.pendingSignups)
      onWatermarkAwaited();
    return found[kind];
  };
}
