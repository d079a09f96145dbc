import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import {
  capNextAttempts,
  deleteOldClickDeliveries,
  deleteOldDeliveries,
  deletePausedClicks,
  purgeDeletedWebhooks,
} from '../../sql/webhooks/delivery-pruning.ts';
import { deleteOldMoves } from '../../sql/webhooks/link-folders.ts';
import { deleteGoneListeners } from '../../sql/webhooks/listeners.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { PendingCounts } from './pending-counts.ts';

const CHUNK = 5_000;
/** Retention of finished deliveries, and of clicks that wait for a plan. Milliseconds. */
const KEPT_MS = 30 * 86_400_000;
/** Longest wait of a delivery. A delivery with a longer wait was scheduled while the clock was ahead. Milliseconds. */
const LONGEST_PAUSE_MS = 7 * 86_400_000;
/** Finished deliveries of clicks that stay, for each webhook. A batch may have a thousand clicks. */
const KEPT_CLICKS = {
  [CLICK_EVENT]: { delivered: 1_000, failed: 10_000 },
  [CLICK_BATCH]: { delivered: 20, failed: 200 },
} as const;

/** Deletes a chunk of deliveries past their retention. @returns whether there may be more */
export async function pruneDeliveries(dependencies: {
  pool: Pool;
  metrics: WorkerMetrics;
  pendingCounts: PendingCounts;
  now: () => number;
}): Promise<boolean> {
  const { pool, metrics, pendingCounts, now } = dependencies;
  await capNextAttempts(pool, now(), LONGEST_PAUSE_MS);
  const old = await deleteOldDeliveries(pool, now() - KEPT_MS, CHUNK);
  const deleted = await purgeDeletedWebhooks(pool, CHUNK);
  const slept = await deletePausedClicks(pool, now() - KEPT_MS, CHUNK);
  const written = pendingCounts.takeWritten();
  let clicks = 0;
  for (const type of [CLICK_EVENT, CLICK_BATCH] as const) {
    for (const status of ['delivered', 'failed'] as const)
      clicks += await deleteOldClickDeliveries(pool, written, type, status, KEPT_CLICKS[type][status]);
  }
  await deleteOldMoves(pool, now() - KEPT_MS);
  await inTransaction(pool, deleteGoneListeners);
  metrics.cleaned.inc({ what: 'webhook_deliveries' }, old + deleted + slept + clicks);
  return old === CHUNK || deleted === CHUNK || slept === CHUNK;
}
