import { DELIVER_CREDIT } from '../../core/referrals/fulfilment.ts';
import type { Logger } from '../../core/tier/log.ts';
import { deliveryBody } from '../../core/webhooks/delivery.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { countPending, GRANT_DELIVERIES, releaseClaims } from '../../sql/deliveries/queue.ts';
import {
  type ClaimedGrantDelivery,
  type DueFulfilment,
  fulfilmentsWithDueDeliveries,
  type GrantDeliveryState,
} from '../../sql/fulfilments/delivery-queue.ts';
import { type Grant, grantRecord, grantsById } from '../../sql/referrals/grants.ts';
import { createDeliverer } from '../deliveries/deliver-due.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createRetry } from '../retry.ts';
import { type Attempt, hookOf } from '../webhooks/attempt.ts';
import type { ConcurrencyLimit, Hook } from '../webhooks/concurrency-limit.ts';
import { QUEUED } from '../webhooks/queued-deliveries.ts';
import type { FulfilmentMetrics } from './metrics.ts';
import { type FulfilmentOutcome, grantStateAfter } from './outcome.ts';
import { settleGrantDelivery, stateWithoutAttempt } from './settle.ts';
import { type StripeAttempt, stripeHook } from './stripe.ts';

export type FulfilmentsDependencies = {
  pool: Pool;
  log: Logger;
  metrics: FulfilmentMetrics;
  workerMetrics: WorkerMetrics;
  waits: Waiting;
  /** The pause of the loops that `waits` serves. */
  pause: IdlePause;
  limit: ConcurrencyLimit;
  /** Calls a webhook. */
  attempt: Attempt;
  attemptStripe: StripeAttempt;
  now: () => number;
  random: () => number;
  /** For tests: called at each step of each delivery. */
  onStep?: ((step: FulfilmentStep) => void) | undefined;
};

/** `saving`: the outcome is written and not committed. */
export type FulfilmentStep = 'claimed' | 'answered' | 'saving' | 'saved';

const EVERY_MS = 500;
const COUNT_EVERY_MS = 15_000;
const COUNTED = 100_000;
/** Deliveries claimed at once. */
const CLAIM = 500;

type Work = { fulfilment: DueFulfilment; claimed: ClaimedGrantDelivery; grant: Grant };

/**
 * Delivers earned credits, each in five steps. A worker that ends after one of them leaves the delivery to the next
 * worker when its claim expires:
 *
 * | ended after | what the next worker does                                                               |
 * | ----------- | --------------------------------------------------------------------------------------- |
 * | claim       | calls                                                                                   |
 * | call        | a webhook is called again with its `webhook-id`; Stripe is searched, then called again   |
 * | response    | the same                                                                                |
 * | mark        | mark and outcome are one transaction: nothing, or all of it again                       |
 */
export function startFulfilments(dependencies: FulfilmentsDependencies): { stop(): Promise<void> } {
  const {
    pool,
    log,
    metrics,
    workerMetrics,
    waits,
    pause,
    limit,
    now,
    random,
    onStep = () => undefined,
  } = dependencies;
  const end = new AbortController();
  const retry = createRetry({ log, metrics: workerMetrics, signal: end.signal, isFinal: () => false });

  function attemptOnce({ fulfilment, claimed, grant }: Work): Promise<FulfilmentOutcome> {
    if (fulfilment.provider === 'stripe_balance')
      return dependencies.attemptStripe(fulfilment, claimed, grant);
    const { id, workspaceId, url, secret } = fulfilment;
    const body = deliveryBody({
      id: claimed.id,
      type: DELIVER_CREDIT,
      created_at: grant.created_at.toISOString(),
      data: grantRecord(grant),
    });
    const webhook = { id, workspaceId, url, format: 'json' as const, secrets: [{ secret, expiresAt: null }] };
    return dependencies.attempt(webhook, { eventId: claimed.id, body });
  }

  async function save(work: Work, state: GrantDeliveryState): Promise<void> {
    const settle = () =>
      inTransaction(pool, async (tx) => {
        const saved = await settleGrantDelivery(tx, work, state, now());
        onStep('saving');
        return saved;
      });
    // Runs once even during a stop, else until it succeeds: a lost outcome would be attempted again.
    const status = await settle().catch(() => retry('settle_fulfilment', settle));
    onStep('saved');
    if (status !== null && status !== 'pending') {
      metrics.deliveries.inc({ provider: work.fulfilment.provider, outcome: status });
    }
  }

  async function deliver(work: Work): Promise<void> {
    const { claimed } = work;
    onStep('claimed');
    const ended = stateWithoutAttempt(claimed, work.grant);
    if (ended) return save(work, ended);
    const outcome = await attemptOnce(work);
    onStep('answered');
    if (outcome.kind === 'interrupted') {
      return releaseClaims(pool, GRANT_DELIVERIES, [{ id: claimed.id, before: claimed.attempts }], now());
    }
    return save(work, grantStateAfter(outcome, claimed.attempts, now(), random()));
  }

  const deliverer = createDeliverer<ClaimedGrantDelivery, DueFulfilment>(dependencies, {
    queue: GRANT_DELIVERIES,
    most: CLAIM,
    leaseMs: QUEUED.leaseMs,
    async due() {
      const roomFor = limit.roomForStored();
      return (await fulfilmentsWithDueDeliveries(pool, now())).map((to) => ({
        id: to.id,
        to,
        room: (most: number) => roomFor(hook(to), most),
      }));
    },
    async begin(all) {
      // Read after the claim: a grant that is revoked from now on finds a delivery that may have been attempted.
      const found = await grantsById(
        pool,
        all.map(({ delivery }) => delivery.grantId),
      );
      const grants = new Map(found.map((grant) => [grant.id, grant]));
      return all.flatMap(({ delivery: claimed, to: fulfilment }) => {
        const grant = grants.get(claimed.grantId);
        if (!grant) return [];
        return deliver({ fulfilment, claimed, grant }).catch((error: unknown) => {
          log.warn(
            { err: error, delivery: claimed.id },
            'lost the outcome of a delivery; it is attempted again',
          );
        });
      });
    },
  });

  const jobs: Job[] = [
    startJob({
      name: 'fulfilments',
      everyMs: () => pause.ms(EVERY_MS),
      log,
      metrics: workerMetrics,
      work: async () => (await waits('fulfilments')) && deliverer.attemptDue(),
    }),
    startJob({
      name: 'fulfilments_pending',
      everyMs: COUNT_EVERY_MS,
      log,
      metrics: workerMetrics,
      async work() {
        metrics.pending.set(await countPending(pool, GRANT_DELIVERIES, COUNTED));
        return false;
      },
    }),
  ];
  return {
    async stop() {
      end.abort();
      await Promise.all(jobs.map((job) => job.stop()));
      await deliverer.settled();
    },
  };
}

function hook(fulfilment: DueFulfilment): Hook {
  return fulfilment.provider === 'webhook' ? hookOf(fulfilment) : stripeHook(fulfilment);
}
