import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { fanOutEvents } from '../../sql/webhooks/outbox-fan-out.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { ReadSubscriptions } from './subscriptions.ts';

const BUSY_MS = 100;
/** Events in one transaction. Few, because each may go to many webhooks. */
const AT_ONCE = 50;

/** Starts the job that turns outbox events into deliveries. Safe in several processes at once. */
export function startOutbox(dependencies: {
  pool: Pool;
  log: Logger;
  metrics: WorkerMetrics;
  waits: Waiting;
  pause: IdlePause;
  subscriptions: ReadSubscriptions;
  shortUrl: string;
  now: () => number;
  /** See `fanOutEvents`. */
  createdAt: () => number;
  /** Called when there are new deliveries. */
  made: () => void;
}): Job {
  const { pool, log, metrics, waits, pause, subscriptions, shortUrl, now, createdAt, made } = dependencies;
  return startJob({
    name: 'webhook-outbox',
    everyMs: () => pause.ms(BUSY_MS),
    log,
    metrics,
    async work() {
      if (!(await waits('webhookEvents'))) return false;
      const { events, deliveries } = await inTransaction(pool, (tx) =>
        fanOutEvents(
          tx,
          AT_ONCE,
          now(),
          async () => (await subscriptions(tx)).subscribers,
          shortUrl,
          createdAt,
        ),
      );
      if (deliveries > 0) made();
      return events === AT_ONCE;
    },
  });
}
