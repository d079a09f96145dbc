import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;

/** Creates the metrics of webhook delivery, all named `hoplog_webhook_*`. */
export function createWebhookMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    deliveries: new Counter({
      name: 'hoplog_webhook_deliveries_total',
      help: 'Finished deliveries, by outcome: delivered, failed, inactive (webhook disabled), or dropped (too many pending).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    attempts: new Counter({
      name: 'hoplog_webhook_attempts_total',
      help: 'Delivery attempts, by outcome: delivered, retry (will be retried), final (will not), or interrupted.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'hoplog_webhook_attempt_seconds',
      help: 'Time of one attempt, from the connection to the end of the response.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers,
    }),
    pending: new Gauge({
      name: 'hoplog_webhook_pending',
      help: 'Stored deliveries that wait for an attempt, counted up to 100000.',
      registers,
    }),
    inFlight: new Gauge({
      name: 'hoplog_webhook_attempts_in_flight',
      help: 'Attempts in progress in this process.',
      registers,
    }),
    waiting: new Gauge({
      name: 'hoplog_webhook_attempts_waiting',
      help: 'Deliveries queued in the memory of this process.',
      registers,
    }),
    disabled: new Counter({
      name: 'hoplog_webhook_disabled_total',
      help: 'Webhooks disabled by a 410 or after five days of failures only.',
      registers,
    }),
    lagOffsets: new Gauge({
      name: 'hoplog_webhook_lag_offsets',
      help: 'Offsets of a partition with clicks not delivered or stored yet: bytes with the journal, records with Kafka.',
      labelNames: ['partition'] as const,
      registers,
    }),
  };
  // The series start at 0: a rate does not see one that begins at 1.
  for (const outcome of ['delivered', 'failed', 'inactive', 'dropped'])
    metrics.deliveries.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'retry', 'final', 'interrupted']) metrics.attempts.inc({ outcome }, 0);
  return metrics;
}
