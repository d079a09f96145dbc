import { setTimeout as sleep } from 'node:timers/promises';
import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { addDeliveries, type DeliveryState, type NewDelivery } from '../../sql/webhooks/delivery-queue.ts';
import { type Attempt, hookOf } from './attempt.ts';
import type { ClickDelivery } from './clicks.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { WebhookMetrics } from './metrics.ts';
import { type Outcome, pendingState, stateAfter } from './outcome.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import type { PendingCounts } from './pending-counts.ts';
import { QUEUED } from './queued-deliveries.ts';

const DIRECT = {
  /** A delivery without a response after this long is stored, and its lane continues. */
  patienceMs: 1_000,
  /** Deliveries of one webhook that are stored in full, for each range. */
  storedInFull: 20,
  /** Bytes of the response bodies beyond those. */
  shortBody: 1_024,
} as const;

/** Deliveries of clicks that started together. */
export type DirectDeliveries = {
  /** Resolves when all have a response, or after `patienceMs`. */
  over: Promise<void>;
  /**
   * Stores deliveries that are not delivered, and the newest that are, in the transaction that advances the lane. A
   * crash before its commit delivers the clicks again; after it nothing is lost. May be repeated.
   */
  store(tx: Queryable): Promise<void>;
  /** Call it when that transaction has committed. Running attempts then write their outcomes to the rows. */
  stored(): void;
};

type Begun = { delivery: ClickDelivery; outcome: Outcome | null; settled: Promise<Outcome> | null };

/**
 * Delivers clicks straight from the log, so that a click that is accepted at once costs no row. A webhook without room,
 * because it is slow or gets more than it accepts, gets its clicks from PostgreSQL instead.
 */
export function createDirectDelivery(dependencies: {
  attempt: Attempt;
  limit: ConcurrencyLimit;
  outcomes: OutcomeWriter;
  pendingCounts: PendingCounts;
  metrics: WebhookMetrics;
  now: () => number;
  random: () => number;
  createdAt: () => number;
}) {
  const { attempt, limit, outcomes, pendingCounts, metrics, now, random, createdAt } = dependencies;

  return async function deliverDirectly(deliveries: readonly ClickDelivery[]): Promise<DirectDeliveries> {
    const begun: Begun[] = [];
    const refused = await pendingCounts.full(deliveries.map(({ webhook }) => webhook.id));
    for (const delivery of deliveries) {
      const { webhook } = delivery;
      const one: Begun = { delivery, outcome: null, settled: null };
      if (limit.roomForNew(hookOf(webhook)) > 0) {
        one.settled = attempt(webhook, delivery).then((outcome) => {
          one.outcome = outcome;
          return outcome;
        });
      } else if (refused.has(webhook.id)) {
        metrics.deliveries.inc({ outcome: 'dropped' });
        continue;
      }
      begun.push(one);
    }
    const attempts = Promise.all(begun.flatMap(({ settled }) => settled ?? []));
    const patience = new AbortController();
    const over = Promise.race([
      attempts,
      sleep(DIRECT.patienceMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]).then(() => patience.abort());
    let cut: { one: Begun; state: DeliveryState; outcome: Outcome | null }[] | null = null;

    return {
      over,
      async store(tx) {
        // Evaluated once: later outcomes are written to the rows.
        cut ??= begun.map((one) => ({ one, state: stateOf(one), outcome: one.outcome }));
        await addDeliveries(tx, rowsOf(cut));
      },
      stored() {
        for (const { one, outcome, state } of cut ?? []) {
          const { id, webhook } = one.delivery;
          if (outcome) {
            outcomes.note(webhook.id, outcome);
            if (state.status !== 'pending') metrics.deliveries.inc({ outcome: state.status });
          } else {
            void one.settled?.then((late) => outcomes.settle(webhook.id, { id, before: 0 }, late));
          }
          pendingCounts.wrote(webhook.id);
        }
      },
    };
  };

  function stateOf({ outcome, settled }: Begun): DeliveryState {
    if (outcome) return stateAfter(outcome, 0, now(), random());
    return pendingState(0, now() + (settled ? QUEUED.leaseMs : 0));
  }

  /** Returns the rows of all deliveries; of many successes only the newest. */
  function rowsOf(cut: readonly { one: Begun; state: DeliveryState }[]): NewDelivery[] {
    const rows: NewDelivery[] = [];
    const counts = new Map<string, number>();
    for (const { one, state } of cut.toReversed()) {
      const { id, webhook, eventId, body } = one.delivery;
      const already = counts.get(webhook.id) ?? 0;
      counts.set(webhook.id, already + 1);
      if (already >= DIRECT.storedInFull) {
        if (state.status === 'delivered') continue;
        state.responseBody = state.responseBody?.slice(0, DIRECT.shortBody) ?? null;
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
