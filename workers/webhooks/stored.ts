import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  type ClaimedDelivery,
  claimDueDeliveries,
  webhooksWithDueDeliveries,
} from '../../sql/webhooks/delivery-queue.ts';
import { createIdlePause } from '../idle-pause.ts';
import type { Waiting } from '../jobs/waiting.ts';
import { untilNextTick } from '../next-tick.ts';
import { type Attempt, hookOf } from './attempt.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { Settling } from './settling.ts';
import type { Subscriptions } from './subscriptions.ts';

export type Running = {
  /** Looks for due deliveries at once. */
  wake(): void;
  /** Begins no more attempts, and resolves when those under way are over. */
  stop(): Promise<void>;
};

export const STORED = {
  /**
   * Duration of a claim: the longest wait for the concurrency limit and the longest attempt. After that other workers take the
   * claims of a dead one.
   */
  leaseMs: 90_000,
  /** Poll interval while nothing is due; the longer one after ten seconds without a delivery. */
  waitMs: 200,
  idleMs: 2_000,
  busyMs: 50,
  restMs: 1_000,
  /** Deliveries claimed at once. */
  claim: 2_000,
  /** Limit of deliveries without an attempt, because their webhook is inactive. */
  roomToGiveUp: 100,
} as const;

/** Attempts stored deliveries when they are due: for every webhook as many as it can take, so none waits for another. */
export function startStored(dependencies: {
  pool: Pool;
  log: Logger;
  subscriptions: () => Promise<Subscriptions>;
  limit: ConcurrencyLimit;
  attempt: Attempt;
  settling: Settling;
  waits: Waiting;
  now: () => number;
}): Running {
  const { pool, log, subscriptions, limit, attempt, settling, waits, now } = dependencies;
  let isStopped = false;
  let alarm = new AbortController();
  const underWay = new Set<Promise<void>>();

  /** @returns whether more may be due at once */
  async function attemptDue(): Promise<boolean> {
    const found = await webhooksWithDueDeliveries(pool, now());
    if (found.length === 0) return false;
    const snapshot = await subscriptions();
    // Deliveries of a webhook whose plan has lapsed wait until it is renewed.
    const due = found.filter((webhookId) => !snapshot.asleep.has(webhookId));
    if (due.length === 0) return false;
    const rooms: { webhookId: string; room: number }[] = [];
    // At least one for each webhook.
    const most = Math.max(1, Math.floor(STORED.claim / due.length));
    let left: number = STORED.claim;
    const roomFor = limit.roomForStored();
    for (const webhookId of due) {
      const webhook = snapshot.byId.get(webhookId);
      const share = Math.min(most, left);
      const room = webhook ? roomFor(hookOf(webhook), share) : Math.min(STORED.roomToGiveUp, share);
      left -= room;
      if (room > 0) rooms.push({ webhookId, room });
    }
    const claimed = await claimDueDeliveries(pool, rooms, now(), STORED.leaseMs);
    for (const delivery of claimed) begin(delivery, snapshot);
    return claimed.length > 0;
  }

  function begin(delivery: ClaimedDelivery, { byId }: Subscriptions): void {
    const { id, webhookId, attempts: before } = delivery;
    const webhook = byId.get(webhookId);
    if (!webhook) {
      settling.giveUp({ id, before }, 'the webhook is not active');
      return;
    }
    const run = attempt(webhook, delivery).then((outcome) =>
      settling.settle(webhookId, { id, before }, outcome),
    );
    underWay.add(run);
    void run.finally(() => underWay.delete(run));
  }

  async function run(): Promise<void> {
    let fails = false;
    const pause = createIdlePause(STORED.idleMs);
    while (!isStopped) {
      const isIdle = pause.isIdle();
      // With the jobs of the process, whose query tells whether any delivery is stored.
      let wait = isIdle ? untilNextTick(STORED.idleMs) : STORED.waitMs;
      try {
        if ((!isIdle || (await waits('webhookDeliveries'))) && (await attemptDue())) {
          pause.found();
          wait = STORED.busyMs;
        }
        fails = false;
      } catch (error) {
        if (!fails) log.warn({ err: error }, 'failed to look for due deliveries; will retry');
        fails = true;
        wait = STORED.restMs;
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
      await Promise.all(underWay);
    },
  };
}
