import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { fanOutEvents, hasOutboxEvents } from '../../sql/webhooks/outbox-fan-out.ts';
import { type Clock, startClock } from '../jobs/clock.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Subscriptions } from './subscriptions.ts';

const EVERY_MS = 100;
/** Events in one transaction. Few, because each may go to very many webhooks. */
const AT_ONCE = 50;

/** Turns the events of the records into deliveries, as they come. Safe in several processes at once. */
export function startOutbox(dependencies: {
  pool: Pool;
  log: Logger;
  metrics: WorkerMetrics;
  subscriptions: () => Promise<Subscriptions>;
  now: () => number;
  /** See `fanOutEvents`. */
  createdAt: () => number;
  /** Called when there are new deliveries. */
  made: () => void;
}): Clock {
  const { pool, log, metrics, subscriptions, now, createdAt, made } = dependencies;
  return startClock({
    name: 'webhook-outbox',
    everyMs: EVERY_MS,
    log,
    metrics,
    async work() {
      // Ten times a second there is none: that is no work for a transaction.
      if (!(await hasOutboxEvents(pool))) return false;
      const { events, deliveries } = await inTransaction(pool, (tx) =>
        fanOutEvents(tx, AT_ONCE, now(), async () => (await subscriptions()).subscribers, createdAt),
      );
      if (deliveries > 0) made();
      return events === AT_ONCE;
    },
  });
}
