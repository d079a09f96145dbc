import { uuidv7 } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import { deliveryId } from '../../core/webhooks/delivery.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { countPending, WEBHOOK_DELIVERIES } from '../../sql/deliveries/queue.ts';
import {
  type BatchingWebhook,
  lockBatchingWebhook,
  takeBatches,
  webhooksWithBatchDue,
} from '../../sql/webhooks/batched-clicks.ts';
import { addDeliveries } from '../../sql/webhooks/delivery-queue.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { WebhookMetrics } from './metrics.ts';
import { pendingState } from './outcome.ts';
import { MAX_PENDING, type PendingCounts } from './pending-counts.ts';

const BATCHES = {
  /** A batch is due in whole seconds. */
  everyMs: 200,
  /** Clicks in one transaction, at least one batch. */
  clicks: 5_000,
  /** Clicks of a batch of a webhook that gets none any more. */
  lastMax: 1_000,
  countEveryMs: 10_000,
} as const;

/**
 * Starts the job that turns waiting clicks into deliveries, in one transaction: each click is in one batch, which is
 * attempted like any other delivery, whole and under one id. Safe in several processes at once.
 */
export function startBatches(dependencies: {
  pool: Pool;
  log: Logger;
  metrics: WorkerMetrics;
  webhookMetrics: WebhookMetrics;
  pendingCounts: PendingCounts;
  waits: Waiting;
  pause: IdlePause;
  now: () => number;
  /** See `fanOutEvents`. */
  createdAt: () => number;
  /** Called when there are new deliveries. */
  made: () => void;
}): Job {
  const { pool, log, metrics, webhookMetrics, pendingCounts, waits, pause, now, createdAt, made } =
    dependencies;
  /** Webhooks with too many pending clicks, until they are counted again. */
  const full = new Map<string, { isFull: boolean; until: number }>();

  /** Returns whether a webhook has too many pending clicks, so that new ones are dropped. */
  async function isFull(tx: Queryable, id: string, max: number): Promise<boolean> {
    const known = full.get(id);
    if (known && known.until > performance.now()) return known.isFull;
    const most = Math.ceil(MAX_PENDING / max);
    const found = { isFull: (await countPending(tx, WEBHOOK_DELIVERIES, most, id)) >= most };
    full.set(id, { ...found, until: performance.now() + BATCHES.countEveryMs });
    return found.isFull;
  }

  /** @returns whether the webhook may have more batches that are due */
  async function flush(id: string): Promise<boolean> {
    return inTransaction(pool, async (tx) => {
      const webhook = await lockBatchingWebhook(tx, id);
      if (!webhook) return false;
      const max = webhook.batch?.max ?? BATCHES.lastMax;
      const most = Math.max(1, Math.floor(BATCHES.clicks / max));
      const { batches, isLast } = await takeBatches(tx, id, { max, most, now: now() });
      if (!webhook.is_deleted) {
        if (await isFull(tx, id, max))
          webhookMetrics.deliveries.inc({ outcome: 'dropped' }, batches.flat().length);
        else
          await addDeliveries(
            tx,
            batches.map((clicks) => delivery(webhook, clicks)),
          );
      }
      return !isLast;
    });
  }

  function delivery(webhook: BatchingWebhook, clicks: readonly string[]) {
    const eventId = uuidv7();
    const created = JSON.stringify(new Date(now()).toISOString());
    return {
      id: deliveryId(webhook.id, eventId),
      workspaceId: webhook.workspace_id,
      webhookId: webhook.id,
      eventId,
      type: CLICK_BATCH,
      body: `{"id":"${eventId}","type":"${CLICK_BATCH}","created_at":${created},"data":[${clicks.join(',')}]}`,
      createdAt: createdAt(),
      state: pendingState(0, now()),
    };
  }

  return startJob({
    name: 'webhook-batches',
    everyMs: () => pause.ms(BATCHES.everyMs),
    log,
    metrics,
    async work() {
      if (!(await waits('webhookBatches'))) return false;
      let hasMore = false;
      for (const id of await webhooksWithBatchDue(pool, now())) {
        hasMore = (await flush(id)) || hasMore;
        pendingCounts.wrote(id);
        made();
      }
      return hasMore;
    },
  });
}
