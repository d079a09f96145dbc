import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import { DISABLE_AFTER } from '../../core/webhooks/retry-schedule.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { type Attempted, releaseClaims, WEBHOOK_DELIVERIES } from '../../sql/deliveries/queue.ts';
import {
  type DeliveryOutcome,
  type FailedDelivery,
  failDeliveries,
  saveOutcomes,
} from '../../sql/webhooks/delivery-queue.ts';
import { disableWebhooks, recordFailures, recordSuccesses } from '../../sql/webhooks/webhook-health.ts';
import type { WebhookMetrics } from './metrics.ts';
import { GONE, type Outcome, stateAfter } from './outcome.ts';

export type OutcomeWriter = {
  /** Records what an attempt shows about its webhook. */
  note(webhookId: string, outcome: Outcome): void;
  /** Records the outcome of an attempt on a queued delivery. */
  settle(webhookId: string, delivery: Attempted, outcome: Outcome): void;
  /** Ends a queued delivery without an attempt. */
  giveUp(delivery: Attempted, error: string): void;
  /** Writes what is recorded and stops. */
  stop(): Promise<void>;
};

const EVERY_MS = 50;
const AT_ONCE = 1_000;
/** Interval of recording that a webhook works. Only a webhook that had failed costs a write. */
const NOTE_WORKING_EVERY_MS = 5_000;
const REST_MS = 500;

/** Writes the outcomes of attempts in batches. Outcomes in memory when the process dies are delivered again. */
export function createOutcomeWriter(dependencies: {
  pool: Pool;
  log: Logger;
  metrics: WebhookMetrics;
  now: () => number;
  random: () => number;
}): OutcomeWriter {
  const { pool, log, metrics, now, random } = dependencies;
  const end = new AbortController();
  let settled: DeliveryOutcome[] = [];
  let released: Attempted[] = [];
  let ended: FailedDelivery[] = [];
  let failing = new Set<string>();
  /** Webhooks whose receiver responded with 410. */
  let gone = new Set<string>();
  const working = new Set<string>();
  /** Ends the wait for the first outcome. */
  let wake: () => void = () => undefined;
  let workingNotedAt = Number.NEGATIVE_INFINITY;

  async function write(): Promise<void> {
    const batch = settled.splice(0, AT_ONCE);
    const given = released;
    released = [];
    const over = ended;
    ended = [];
    const failed = failing;
    failing = new Set();
    const departed = gone;
    gone = new Set();
    const due = end.signal.aborted || performance.now() - workingNotedAt >= NOTE_WORKING_EVERY_MS;
    const worked = due ? [...working] : [...failed].filter((id) => working.has(id));
    const stored = batch.length + given.length + over.length;
    if (stored === 0 && failed.size === 0 && departed.size === 0 && worked.length === 0) return;
    try {
      const disabled = await inTransaction(pool, async (tx) => {
        await saveOutcomes(tx, batch);
        await releaseClaims(tx, WEBHOOK_DELIVERIES, given, now());
        await failDeliveries(tx, over);
        // First: a webhook that accepted anything since its last failure is not disabled.
        await recordSuccesses(tx, worked);
        return {
          gone: await disableWebhooks(tx, [...departed], now()),
          failing: await recordFailures(tx, [...failed], now(), DISABLE_AFTER),
        };
      });
      if (due) workingNotedAt = performance.now();
      for (const id of worked) working.delete(id);
      metrics.disabled.inc(disabled.gone.length + disabled.failing.length);
      for (const webhook of disabled.gone) log.warn({ webhook }, 'disabled a webhook: it responded with 410');
      for (const webhook of disabled.failing)
        log.warn({ webhook }, 'disabled a webhook: every attempt failed for five days');
    } catch (error) {
      settled = [...batch, ...settled];
      released = [...given, ...released];
      ended = [...over, ...ended];
      for (const id of failed) failing.add(id);
      for (const id of departed) gone.add(id);
      throw error;
    }
  }

  const isEmpty = () =>
    settled.length + released.length + ended.length + failing.size + gone.size + working.size === 0;

  async function run(): Promise<void> {
    let fails = false;
    while (!end.signal.aborted) {
      try {
        await write();
        fails = false;
      } catch (error) {
        if (!fails) log.warn({ err: error }, 'failed to write the outcomes of deliveries; will retry');
        fails = true;
      }
      if (isEmpty() && !end.signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const wait = fails ? REST_MS : settled.length >= AT_ONCE ? 0 : EVERY_MS;
      await sleep(wait, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }
  const running = run();

  function note(webhookId: string, outcome: Outcome): void {
    wake();
    if (outcome.kind === 'delivered') working.add(webhookId);
    else if (outcome.kind === 'final' && outcome.status === GONE) gone.add(webhookId);
    else if (outcome.kind !== 'interrupted') failing.add(webhookId);
  }

  return {
    note,
    settle(webhookId, { id, before }, outcome) {
      note(webhookId, outcome);
      if (outcome.kind === 'interrupted') {
        released.push({ id, before });
        return;
      }
      const state = stateAfter(outcome, before, now(), random());
      if (state.status !== 'pending') metrics.deliveries.inc({ outcome: state.status });
      settled.push({ id, before, state });
    },
    giveUp({ id, before }, error) {
      wake();
      metrics.deliveries.inc({ outcome: 'inactive' });
      ended.push({ id, before, error });
    },
    async stop() {
      end.abort();
      wake();
      await running;
      try {
        while (!isEmpty()) await write();
      } catch (error) {
        log.warn({ err: error }, 'lost outcomes of deliveries; they will be delivered again');
      }
    },
  };
}
