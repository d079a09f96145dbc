import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  type ClaimedDelivery,
  claimDueDeliveries,
  webhooksWithDueDeliveries,
} from '../../sql/webhooks/delivery-queue.ts';
import type { Attempt } from './attempt.ts';
import type { Settling } from './settling.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { Turns } from './turns.ts';

export type Running = {
  /** Looks at once instead of at its next time. */
  wake(): void;
  /** Begins nothing any more, and resolves when what was begun is over. */
  stop(): Promise<void>;
};

export const STORED = {
  /**
   * How long a claim holds: the longest wait for a turn and the longest attempt after it. A worker that dies leaves its
   * claims to the others after that.
   */
  leaseMs: 90_000,
  idleMs: 200,
  busyMs: 50,
  restMs: 1_000,
  /** Deliveries claimed at once. */
  claim: 2_000,
  /** For deliveries that need no turn, because their webhook is not active. */
  roomToGiveUp: 100,
} as const;

/** Attempts stored deliveries when they are due: of every webhook as many as it can take, so none waits for another. */
export function startStored(dependencies: {
  pool: Pool;
  log: Logger;
  subscriptions: () => Promise<Subscriptions>;
  turns: Turns;
  attempt: Attempt;
  settling: Settling;
  now: () => number;
}): Running {
  const { pool, log, subscriptions, turns, attempt, settling, now } = dependencies;
  let isStopped = false;
  let alarm = new AbortController();
  const underWay = new Set<Promise<void>>();

  /** @returns whether more may be due at once */
  async function round(): Promise<boolean> {
    const found = await webhooksWithDueDeliveries(pool, now());
    if (found.length === 0) return false;
    const snapshot = await subscriptions();
    // What is still to be delivered waits with a webhook whose plan has lapsed, and goes on when that is renewed.
    const due = found.filter((webhookId) => !snapshot.asleep.has(webhookId));
    if (due.length === 0) return false;
    const rooms: { webhookId: string; room: number }[] = [];
    // With very many webhooks each still gets a place.
    const most = Math.max(1, Math.floor(STORED.claim / due.length));
    let left: number = STORED.claim;
    const roomFor = turns.roomForStored();
    for (const webhookId of due) {
      const webhook = snapshot.byId.get(webhookId);
      const share = Math.min(most, left);
      const room = webhook ? roomFor(webhook, share) : Math.min(STORED.roomToGiveUp, share);
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
    while (!isStopped) {
      let wait: number = STORED.idleMs;
      try {
        if (await round()) wait = STORED.busyMs;
        fails = false;
      } catch (error) {
        if (!fails) log.warn({ err: error }, 'could not look for due deliveries, goes on trying');
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
