import { DELIVER_CREDIT } from '../../core/referrals/fulfilment.ts';
import type { Logger } from '../../core/tier/log.ts';
import { deliveryBody } from '../../core/webhooks/delivery.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import {
  type ClaimedGrantDelivery,
  claimGrantDeliveries,
  countPendingGrants,
  type DueFulfilment,
  fulfilmentsWithDueDeliveries,
  type GrantDeliveryState,
  releaseGrantDelivery,
} from '../../sql/fulfilments/delivery-queue.ts';
import { type Grant, grantRecord, grantsById } from '../../sql/referrals/grants.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createRetry } from '../retry.ts';
import { type Attempt, hookOf } from '../webhooks/attempt.ts';
import type { ConcurrencyLimit, Hook } from '../webhooks/concurrency-limit.ts';
import { STORED } from '../webhooks/stored.ts';
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
  /** Of the loops that `waits` serves. */
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
  const underWay = new Set<Promise<void>>();

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
    const webhook = { id, workspaceId, url, secrets: [{ secret, expiresAt: null }] };
    return dependencies.attempt(webhook, { eventId: claimed.id, body });
  }

  async function save(work: Work, state: GrantDeliveryState): Promise<void> {
    const settle = () =>
      inTransaction(pool, async (tx) => {
        const saved = await settleGrantDelivery(tx, work, state, now());
        onStep('saving');
        return saved;
      });
    // Once also during a stop, then as often as it takes: an outcome that is lost is attempted again.
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
    if (outcome.kind === 'interrupted') return releaseGrantDelivery(pool, claimed, now());
    return save(work, grantStateAfter(outcome, claimed.attempts, now(), random()));
  }

  function begin(work: Work): void {
    const run = deliver(work).catch((error: unknown) => {
      log.warn(
        { err: error, delivery: work.claimed.id },
        'lost the outcome of a delivery; it is attempted again',
      );
    });
    underWay.add(run);
    void run.finally(() => underWay.delete(run));
  }

  /** @returns whether more may be due at once */
  async function attemptDue(): Promise<boolean> {
    const due = await fulfilmentsWithDueDeliveries(pool, now());
    if (due.length === 0) return false;
    const byId = new Map(due.map((fulfilment) => [fulfilment.id, fulfilment]));
    // At least one for each fulfilment.
    const most = Math.max(1, Math.floor(CLAIM / Math.max(1, due.length)));
    const roomFor = limit.roomForStored();
    const rooms = due
      .map((fulfilment) => ({ fulfilmentId: fulfilment.id, room: roomFor(hook(fulfilment), most) }))
      .filter(({ room }) => room > 0);
    const claimed = await claimGrantDeliveries(pool, rooms, now(), STORED.leaseMs);
    // Read after the claim: a grant that is revoked from now on finds a delivery that may have been attempted.
    const grants = new Map(
      (
        await grantsById(
          pool,
          claimed.map(({ grantId }) => grantId),
        )
      ).map((grant) => [grant.id, grant]),
    );
    for (const one of claimed) {
      const fulfilment = byId.get(one.fulfilmentId);
      const grant = grants.get(one.grantId);
      if (fulfilment && grant) begin({ fulfilment, claimed: one, grant });
    }
    return false;
  }

  const jobs: Job[] = [
    startJob({
      name: 'fulfilments',
      everyMs: () => pause.ms(EVERY_MS),
      log,
      metrics: workerMetrics,
      work: async () => (await waits('fulfilments')) && attemptDue(),
    }),
    startJob({
      name: 'fulfilments_pending',
      everyMs: COUNT_EVERY_MS,
      log,
      metrics: workerMetrics,
      async work() {
        metrics.pending.set(await countPendingGrants(pool, COUNTED));
        return false;
      },
    }),
  ];
  return {
    async stop() {
      end.abort();
      await Promise.all(jobs.map((job) => job.stop()));
      await Promise.all(underWay);
    },
  };
}

function hook(fulfilment: DueFulfilment): Hook {
  return fulfilment.provider === 'webhook' ? hookOf(fulfilment) : stripeHook(fulfilment);
}
