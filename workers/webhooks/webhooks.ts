import type { Registry } from 'prom-client';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import { NO_TRACING, type Tracing } from '../../core/tier/tracing.ts';
import { createHostResolver, type ResolveHost } from '../../core/webhooks/resolve-host.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { countPending, WEBHOOK_DELIVERIES } from '../../sql/deliveries/queue.ts';
import { type FulfilmentStep, startFulfilments } from '../fulfilments/fulfilments.ts';
import { createFulfilmentMetrics } from '../fulfilments/metrics.ts';
import { createStripeAttempt } from '../fulfilments/stripe.ts';
import type { IdlePause } from '../idle-pause.ts';
import { startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { IdleLanes } from '../lane/idle-lanes.ts';
import { startLanes } from '../lane/lanes.ts';
import type { Leases } from '../lane/leases.ts';
import type { Decode } from '../lane/prepare.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createAttempt } from './attempt.ts';
import { startBatches } from './batches.ts';
import { runClickLane, WEBHOOK_CONSUMER } from './click-lane.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { createDirectDelivery } from './direct-deliveries.ts';
import { createWebhookMetrics } from './metrics.ts';
import { startOutbox } from './outbox.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { createPendingCounts } from './pending-counts.ts';
import { pruneDeliveries } from './prune.ts';
import { startQueuedDeliveries } from './queued-deliveries.ts';
import { createSender } from './send.ts';
import { createSubscriptions } from './subscriptions.ts';

export type WebhookOptions = {
  /** For tests: deliver to private addresses too. */
  allowPrivate: boolean;
  /** Origin of short links without a domain. */
  shortUrl: string;
  /** Origin of Stripe's API. */
  stripeApiBase: string;
  /** For tests: how long a receiver may take to respond, in milliseconds. */
  responseMs?: number;
  /** For tests: other name servers. */
  resolve?: ResolveHost;
  /** For tests: another clock, in milliseconds since the epoch. */
  now?: () => number;
  /** For tests: from 0 to 1. */
  random?: () => number;
  /** For tests: called at each step of each delivery of a credit. */
  onFulfilmentStep?: (step: FulfilmentStep) => void;
};

export type WebhooksDependencies = {
  pool: Pool;
  leases: Leases;
  reader: EventLogReader;
  decode: Decode;
  enricher: Enricher;
  quiet: IdleLanes;
  log: Logger;
  registry: Registry;
  /** Left out: nothing is traced. */
  tracing?: Tracing;
  workerMetrics: WorkerMetrics;
  waits: Waiting;
  /** The pause of the loops that `waits` serves. */
  pause: IdlePause;
  options: WebhookOptions;
  patienceMs?: number | undefined;
};

export type Webhooks = {
  /** Drains within `withinMs`. Attempts that still run then are aborted, and the next worker repeats them. */
  stop(withinMs: number): Promise<void>;
};

const DROP_EVERY_MS = 60_000;
const COUNT_EVERY_MS = 15_000;
const COUNTED = 100_000;
/** Time reserved within the stop for writing what was aborted. */
const WRITE_MS = 500;

/**
 * Starts webhook delivery:
 *
 *   outbox ──▶ webhook_deliveries ──due──▶ attempt ──▶ outcome ──▶ webhook_deliveries
 *                  ▲ what isn't accepted at once ▲
 *   event log ─────┼── clicks of a lane ────────┘
 *                  └── webhook_batched_clicks ──▶ batches of clicks
 */
export function startWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const {
    pool,
    log: parentLog,
    registry,
    workerMetrics,
    waits,
    pause,
    options,
    tracing = NO_TRACING,
  } = dependencies;
  const { now = Date.now, random = Math.random } = options;
  const log = parentLog.child({ part: 'webhooks' });
  const metrics = createWebhookMetrics(registry);
  const cutOff = new AbortController();
  const subscriptions = createSubscriptions(pool);
  const limit = createConcurrencyLimit();
  const sender = createSender({
    resolve: options.resolve ?? createHostResolver(),
    allowPrivate: options.allowPrivate,
    responseMs: options.responseMs,
  });
  const attempt = createAttempt({ send: sender.send, limit, metrics, tracing, now, signal: cutOff.signal });
  const outcomes = createOutcomeWriter({ pool, log, metrics, now, random });
  const pendingCounts = createPendingCounts(pool);
  const createdAt = createMicroClock(now);
  const deliverDirectly = createDirectDelivery({
    attempt,
    limit,
    outcomes,
    pendingCounts,
    metrics,
    now,
    random,
    createdAt,
  });
  const stored = startQueuedDeliveries({ pool, log, subscriptions, limit, attempt, outcomes, waits, now });
  const outbox = startOutbox({
    pool,
    log,
    metrics: workerMetrics,
    waits,
    pause,
    subscriptions,
    shortUrl: options.shortUrl,
    now,
    createdAt,
    made: stored.wake,
  });
  const batches = startBatches({
    pool,
    log,
    metrics: workerMetrics,
    webhookMetrics: metrics,
    pendingCounts,
    waits,
    pause,
    now,
    createdAt,
    made: stored.wake,
  });
  const fulfilments = startFulfilments({
    pool,
    log,
    metrics: createFulfilmentMetrics(registry),
    workerMetrics,
    waits,
    pause,
    limit,
    attempt,
    attemptStripe: createStripeAttempt({
      pool,
      apiBase: options.stripeApiBase,
      limit,
      now,
      signal: cutOff.signal,
    }),
    now,
    random,
    onStep: options.onFulfilmentStep,
  });
  const laneDependencies = { ...dependencies, metrics, subscriptions, deliverDirectly, now };
  const lanes = startLanes({
    ...dependencies,
    log,
    metrics: workerMetrics,
    consumer: WEBHOOK_CONSUMER,
    run: (lane, control, laneLog) => runClickLane({ ...laneDependencies, log: laneLog }, lane, control),
  });
  const jobs = [
    startJob({
      name: 'webhook-pruning',
      everyMs: DROP_EVERY_MS,
      log,
      metrics: workerMetrics,
      work: () => pruneDeliveries({ pool, metrics: workerMetrics, pendingCounts, now }),
    }),
    startJob({
      name: 'webhook-pending',
      everyMs: COUNT_EVERY_MS,
      log,
      metrics: workerMetrics,
      async work() {
        metrics.pending.set(await countPending(pool, WEBHOOK_DELIVERIES, COUNTED));
        metrics.inFlight.set(limit.inFlight());
        metrics.waiting.set(limit.waiting());
        return false;
      },
    }),
  ];

  return {
    async stop(withinMs) {
      const late = setTimeout(() => cutOff.abort(), Math.max(0, withinMs - WRITE_MS));
      await Promise.all([
        outbox.stop(),
        batches.stop(),
        lanes.stop(withinMs),
        stored.stop(),
        fulfilments.stop(),
        ...jobs.map((job) => job.stop()),
      ]);
      clearTimeout(late);
      cutOff.abort();
      await outcomes.stop();
      sender.close();
    },
  };
}

const FAR_AHEAD_MICROS = 5_000_000;

/** Creates a clock of unique microseconds, so that times can be cursors. */
function createMicroClock(now: () => number): () => number {
  let last = 0;
  return () => {
    const at = now() * 1_000;
    // A time far ahead of now came from a wrong clock, so later times may go back: they do not collide with it soon.
    last = at > last || last - at > FAR_AHEAD_MICROS ? at : last + 1;
    return last;
  };
}
