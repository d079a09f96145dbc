import { Registry } from 'prom-client';
import { NO_TRACING } from '../../core/tier/tracing.ts';
import { createConnectionSealer } from '../../sql/connections/sealer.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { makePromotionCodes } from '../../workers/connections/make-promotion-codes.ts';
import { startFulfilments } from '../../workers/fulfilments/fulfilments.ts';
import { createFulfilmentMetrics } from '../../workers/fulfilments/metrics.ts';
import { createStripeAttempt } from '../../workers/fulfilments/stripe.ts';
import { createIdlePause } from '../../workers/idle-pause.ts';
import { startJob } from '../../workers/jobs/job.ts';
import { createWaiting } from '../../workers/jobs/waiting.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { createAttempt } from '../../workers/webhooks/attempt.ts';
import { createConcurrencyLimit } from '../../workers/webhooks/concurrency-limit.ts';
import { createWebhookMetrics } from '../../workers/webhooks/metrics.ts';
import { createSender } from '../webhooks/send.ts';
import { collectingLogger } from '../world/log.ts';
import type { Process, World } from '../world/world.ts';

/** As in `createWorkers`, and in the jobs of connections. */
const IDLE_POLL_MS = 1_000;
const PROMOTE_EVERY_MS = 500;
const STRIPE = 'https://stripe.example';

/** Starts a life of a worker process that delivers credits and makes promotion codes. */
export function startCreditWorker(world: World, name: string, given: { pid: number; pool: Pool }): Process {
  const process = world.start(name, { pid: given.pid });
  world.schedule(0, () => start(world, given.pool), process);
  return process;
}

/** As `createWorkers` and `startWebhooks` do. */
function start(world: World, pool: Pool): void {
  const registry = new Registry();
  const pause = createIdlePause(IDLE_POLL_MS);
  const waits = createWaiting({ pool, pause, now: Date.now });
  const log = collectingLogger(world);
  const workerMetrics = createWorkerMetrics(registry);
  const limit = createConcurrencyLimit();
  const { signal } = new AbortController();
  startFulfilments({
    pool,
    log,
    metrics: createFulfilmentMetrics(registry),
    workerMetrics,
    waits,
    pause,
    limit,
    attempt: createAttempt({
      send: createSender().send,
      limit,
      metrics: createWebhookMetrics(registry),
      tracing: NO_TRACING,
      now: Date.now,
      signal,
    }),
    attemptStripe: createStripeAttempt({ pool, apiBase: STRIPE, limit, now: Date.now, signal }),
    now: Date.now,
    random: Math.random,
  });
  const dependencies = {
    pool,
    // No event of a provider is processed here.
    readers: null as never,
    log,
    metrics: workerMetrics,
    sealer: createConnectionSealer(pool),
    stripeApiBase: STRIPE,
  };
  startJob({
    name: 'promotion-codes',
    everyMs: () => pause.ms(PROMOTE_EVERY_MS),
    log,
    metrics: workerMetrics,
    work: async () => (await waits('promotionCodes')) && makePromotionCodes(dependencies),
  });
}
