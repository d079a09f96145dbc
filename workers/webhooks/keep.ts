import type { Pool } from '../../sql/database/pool.ts';
import {
  capNextAttempts,
  deleteOldClickDeliveries,
  deleteOldDeliveries,
  deletePausedClicks,
  purgeDeletedWebhooks,
} from '../../sql/webhooks/delivery-pruning.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Backlogs } from './backlogs.ts';

const CHUNK = 5_000;
/** How long deliveries that are over stay, but for those of clicks, and clicks that wait for a plan. Milliseconds. */
const KEPT_MS = 30 * 86_400_000;
/** No delivery waits for longer: one that would was put off while the clock was ahead. Milliseconds. */
const LONGEST_PAUSE_MS = 7 * 86_400_000;
/** Deliveries of clicks that stay, of each webhook. */
const KEPT_CLICKS = { delivered: 1_000, failed: 10_000 } as const;

/** One round of dropping deliveries that nobody needs any more. @returns whether more may be there */
export async function dropUnneeded(dependencies: {
  pool: Pool;
  metrics: WorkerMetrics;
  backlogs: Backlogs;
  now: () => number;
}): Promise<boolean> {
  const { pool, metrics, backlogs, now } = dependencies;
  await capNextAttempts(pool, now(), LONGEST_PAUSE_MS);
  const old = await deleteOldDeliveries(pool, now() - KEPT_MS, CHUNK);
  const deleted = await purgeDeletedWebhooks(pool, CHUNK);
  const slept = await deletePausedClicks(pool, now() - KEPT_MS, CHUNK);
  const written = backlogs.takeWritten();
  let clicks = 0;
  for (const status of ['delivered', 'failed'] as const) {
    clicks += await deleteOldClickDeliveries(pool, written, status, KEPT_CLICKS[status]);
  }
  metrics.cleaned.inc({ what: 'webhook_deliveries' }, old + deleted + slept + clicks);
  return old === CHUNK || deleted === CHUNK || slept === CHUNK;
}
