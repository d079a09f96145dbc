import { setTimeout as sleep } from 'node:timers/promises';
import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { addDeliveries, type DeliveryState, type NewDelivery } from '../../sql/webhooks/delivery-queue.ts';
import type { Attempt } from './attempt.ts';
import type { Backlogs } from './backlogs.ts';
import type { ClickDelivery } from './clicks.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { WebhookMetrics } from './metrics.ts';
import { type Outcome, pendingState, stateAfter } from './outcome.ts';
import type { Settling } from './settling.ts';
import { STORED } from './stored.ts';

export const HANDOVER = {
  /** What has not been answered after this long is stored, and its lane goes on. */
  patienceMs: 1_000,
  /** Deliveries of one webhook that are kept with all there is to know, of each handover. */
  keptInFull: 20,
  /** Of the answers beyond those. */
  shortBody: 1_024,
} as const;

/** Deliveries of clicks that were handed over together. */
export type Handover = {
  /** Resolves when all are answered, or patience is over. */
  over: Promise<void>;
  /**
   * Stores what is not delivered, and the newest of what is. In the transaction that moves the lane on: before it
   * commits nothing is stored and the clicks are delivered again, after it nothing is lost. May be repeated.
   */
  store(tx: Queryable): Promise<void>;
  /** Call it once that transaction has committed. Attempts still under way write their outcomes from then on. */
  stored(): void;
};

type Handed = { delivery: ClickDelivery; outcome: Outcome | null; settled: Promise<Outcome> | null };

/**
 * Delivers clicks straight from the log, so that one that is taken at once costs no row. A webhook that has no room,
 * as it is slow or gets more than it takes, gets its clicks from the store instead.
 */
export function createHandover(dependencies: {
  attempt: Attempt;
  limit: ConcurrencyLimit;
  settling: Settling;
  backlogs: Backlogs;
  metrics: WebhookMetrics;
  now: () => number;
  random: () => number;
  createdAt: () => number;
}) {
  const { attempt, limit, settling, backlogs, metrics, now, random, createdAt } = dependencies;

  return async function handOver(deliveries: readonly ClickDelivery[]): Promise<Handover> {
    const handed: Handed[] = [];
    const refused = await backlogs.full(deliveries.map(({ webhook }) => webhook.id));
    for (const delivery of deliveries) {
      const { webhook } = delivery;
      const one: Handed = { delivery, outcome: null, settled: null };
      if (limit.roomForNew(webhook) > 0) {
        one.settled = attempt(webhook, delivery).then((outcome) => {
          one.outcome = outcome;
          return outcome;
        });
      } else if (refused.has(webhook.id)) {
        metrics.deliveries.inc({ outcome: 'dropped' });
        continue;
      }
      handed.push(one);
    }
    const answered = Promise.all(handed.flatMap(({ settled }) => settled ?? []));
    const patience = new AbortController();
    const over = Promise.race([
      answered,
      sleep(HANDOVER.patienceMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]).then(() => patience.abort());
    let cut: { one: Handed; state: DeliveryState; outcome: Outcome | null }[] | null = null;

    return {
      over,
      async store(tx) {
        // Taken down once: an outcome that comes later is written to the row.
        cut ??= handed.map((one) => ({ one, state: stateOf(one), outcome: one.outcome }));
        await addDeliveries(tx, rowsOf(cut));
      },
      stored() {
        for (const { one, outcome, state } of cut ?? []) {
          const { id, webhook } = one.delivery;
          if (outcome) {
            settling.note(webhook.id, outcome);
            if (state.status !== 'pending') metrics.deliveries.inc({ outcome: state.status });
          } else {
            void one.settled?.then((late) => settling.settle(webhook.id, { id, before: 0 }, late));
          }
          backlogs.wrote(webhook.id);
        }
      },
    };
  };

  function stateOf({ outcome, settled }: Handed): DeliveryState {
    if (outcome) return stateAfter(outcome, 0, now(), random());
    return pendingState(0, now() + (settled ? STORED.leaseMs : 0));
  }

  /** Rows for all but the older ones of many successes. */
  function rowsOf(cut: readonly { one: Handed; state: DeliveryState }[]): NewDelivery[] {
    const rows: NewDelivery[] = [];
    const kept = new Map<string, number>();
    for (const { one, state } of cut.toReversed()) {
      const { id, webhook, eventId, body } = one.delivery;
      const already = kept.get(webhook.id) ?? 0;
      kept.set(webhook.id, already + 1);
      if (already >= HANDOVER.keptInFull) {
        if (state.status === 'delivered') continue;
        state.responseBody = state.responseBody?.slice(0, HANDOVER.shortBody) ?? null;
      }
      rows.push({
        id,
        workspaceId: webhook.workspaceId,
        webhookId: webhook.id,
        eventId,
        type: CLICK_EVENT,
        body,
        createdAt: 0,
        state,
      });
    }
    rows.reverse();
    for (const row of rows) row.createdAt = createdAt();
    return rows;
  }
}
