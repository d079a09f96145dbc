import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type Claimed, targetsDue, WEBHOOK_DELIVERIES } from '../../sql/deliveries/queue.ts';
import type { Subscription } from '../../sql/webhooks/subscriptions.ts';
import { createDeliverer } from '../deliveries/deliver-due.ts';
import { createIdlePause } from '../idle-pause.ts';
import type { Waiting } from '../jobs/waiting.ts';
import { untilNextTick } from '../next-tick.ts';
import { type Attempt, hookOf } from './attempt.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import type { Subscriptions } from './subscriptions.ts';

export type Running = {
  /** Looks for due deliveries at once. */
  wake(): void;
  /** Begins no more attempts, and resolves when those under way are over. */
  stop(): Promise<void>;
};

/** A queued delivery. */
type QueuedDelivery = { eventId: string; body: string; attempts: number };

export const QUEUED = {
  /**
   * Duration of a claim: the longest wait for the concurrency limit plus the longest attempt. After it other workers
   * take the claims of a dead worker.
   */
  leaseMs: 90_000,
  /** Poll interval while nothing is due; the longer one after ten seconds without a delivery. */
  waitMs: 200,
  idleMs: 2_000,
  busyMs: 50,
  restMs: 1_000,
  /** Deliveries claimed at once. */
  claim: 2_000,
  /** Limit of deliveries that end without an attempt because their webhook is inactive. */
  roomToGiveUp: 100,
} as const;

/** Attempts queued deliveries when they are due. */
export function startQueuedDeliveries(dependencies: {
  pool: Pool;
  log: Logger;
  subscriptions: () => Promise<Subscriptions>;
  limit: ConcurrencyLimit;
  attempt: Attempt;
  outcomes: OutcomeWriter;
  waits: Waiting;
  now: () => number;
}): Running {
  const { pool, log, subscriptions, limit, attempt, outcomes, waits, now } = dependencies;
  let isStopped = false;
  let alarm = new AbortController();
  const deliverer = createDeliverer<QueuedDelivery, Subscription | undefined>(dependencies, {
    queue: WEBHOOK_DELIVERIES,
    most: QUEUED.claim,
    leaseMs: QUEUED.leaseMs,
    async due() {
      const found = await targetsDue(pool, WEBHOOK_DELIVERIES, now());
      if (found.length === 0) return [];
      const { byId, asleep } = await subscriptions();
      const roomFor = limit.roomForStored();
      // Deliveries of a webhook whose plan has lapsed wait until it is renewed.
      return found
        .filter((id) => !asleep.has(id))
        .map((id) => {
          const to = byId.get(id);
          const room = (most: number) =>
            to ? roomFor(hookOf(to), most) : Math.min(QUEUED.roomToGiveUp, most);
          return { id, to, room };
        });
    },
    begin: async (claimed) => claimed.map(({ delivery, to }) => deliver(delivery, to)),
  });

  async function deliver(
    delivery: Claimed<QueuedDelivery>,
    webhook: Subscription | undefined,
  ): Promise<void> {
    const { id, attempts: before } = delivery;
    if (!webhook) return outcomes.giveUp({ id, before }, 'the webhook is not active');
    outcomes.settle(webhook.id, { id, before }, await attempt(webhook, delivery));
  }

  async function run(): Promise<void> {
    let fails = false;
    const pause = createIdlePause(QUEUED.idleMs);
    while (!isStopped) {
      const isIdle = pause.isIdle();
      // Ticks with the jobs of the process, whose query tells whether any delivery is stored.
      let wait = isIdle ? untilNextTick(QUEUED.idleMs) : QUEUED.waitMs;
      try {
        if ((!isIdle || (await waits('webhookDeliveries'))) && (await deliverer.attemptDue())) {
          pause.found();
          wait = QUEUED.busyMs;
        }
        fails = false;
      } catch (error) {
        if (!fails) log.warn({ err: error }, 'failed to look for due deliveries; will retry');
        fails = true;
        wait = QUEUED.restMs;
      }
      await sleep(wait, undefined, { signal: alarm.signal }).catch(() => undefined);
      if (alarm.signal.aborted) alarm = new AbortController();
    }
  }
  const running = run();

  return {
    wake: () => alarm.abort(),
    async stop() {
      isStopped = true;
      alarm.abort();
      await running;
      await deliverer.settled();
    },
  };
}
