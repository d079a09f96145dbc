import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** Creates the metrics of the workers, all named `hoplog_worker_*`. */
export function createWorkerMetrics(registry: Registry) {
  const registers = [registry];
  /** By partition, the time before which its events are visible, microseconds. */
  const visibleBefore = new Map<string, number>();
  const metrics = {
    visibleBefore,
    events: new Counter({
      name: 'hoplog_worker_events_total',
      help: 'Events read from the log, by kind.',
      labelNames: ['kind'] as const,
      registers,
    }),
    insertedRows: new Counter({
      name: 'hoplog_worker_inserted_rows_total',
      help: 'Rows inserted into ClickHouse, by table.',
      labelNames: ['table'] as const,
      registers,
    }),
    duplicates: new Counter({
      name: 'hoplog_worker_duplicates_dropped_total',
      help: 'Duplicate events dropped, by where they were detected: sequence (high-water mark of the stream) or store (ClickHouse).',
      labelNames: ['found'] as const,
      registers,
    }),
    gaps: new Counter({
      name: 'hoplog_worker_sequence_gaps_total',
      help: 'Missing sequences within an epoch of a stream; each is an event lost before the workers.',
      registers,
    }),
    lostRanges: new Counter({
      name: 'hoplog_worker_log_lost_total',
      help: 'Times the offset of a lane was no longer in the log, by cause.',
      labelNames: ['cause'] as const,
      registers,
    }),
    deadLetters: new Counter({
      name: 'hoplog_worker_dead_letters_total',
      help: 'Malformed events and log records stored in dead_letters, by reason.',
      labelNames: ['reason'] as const,
      registers,
    }),
    lagOffsets: new Gauge({
      name: 'hoplog_worker_lag_offsets',
      help: 'Offsets of a partition not processed yet: bytes with the journal, records with Kafka.',
      labelNames: ['partition'] as const,
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'hoplog_worker_lag_seconds',
      help: 'Age of the newest visible event of a partition, heartbeats included.',
      labelNames: ['partition'] as const,
      registers,
      // At the scrape, so that the lag of a stopped lane grows.
      collect() {
        this.reset();
        for (const [partition, micros] of visibleBefore) {
          this.set({ partition }, Math.max(0, Date.now() / 1000 - micros / 1_000_000));
        }
      },
    }),
    insertSeconds: new Histogram({
      name: 'hoplog_worker_insert_seconds',
      help: 'Time of one insert into ClickHouse.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    retries: new Counter({
      name: 'hoplog_worker_retries_total',
      help: 'Failed attempts that are retried, by step and cause.',
      labelNames: ['step', 'cause'] as const,
      registers,
    }),
    lanes: new Gauge({
      name: 'hoplog_worker_lanes',
      help: 'Lanes that this process runs, by consumer.',
      labelNames: ['consumer'] as const,
      registers,
    }),
    lanesLost: new Counter({
      name: 'hoplog_worker_lanes_ended_total',
      help: 'Lanes that ended early, by cause: lost (taken over by another worker) or error.',
      labelNames: ['cause'] as const,
      registers,
    }),
    attributedOrders: new Counter({
      name: 'hoplog_worker_attributed_orders_total',
      help: 'Orders attributed, by whether a click led to them.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    attributedLeads: new Counter({
      name: 'hoplog_worker_attributed_leads_total',
      help: 'Leads attributed, by whether a click led to them.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    ordersWithoutRate: new Counter({
      name: 'hoplog_worker_orders_without_rate_total',
      help: 'Orders counted without revenue because their currency has no rate, by currency.',
      labelNames: ['currency'] as const,
      registers,
    }),
    refusedOrders: new Counter({
      name: 'hoplog_worker_refused_orders_total',
      help: 'Attempts to write an order that ClickHouse refused. Journeys lack the order until one succeeds.',
      registers,
    }),
    connectionEvents: new Counter({
      name: 'hoplog_worker_connection_events_total',
      help: 'Processed events of billing providers, by provider and outcome; retried: failed, and will be tried again.',
      labelNames: ['provider', 'status'] as const,
      registers,
    }),
    promotionCodes: new Counter({
      name: 'hoplog_worker_promotion_codes_total',
      help: 'Attempts to make or end the discount code of a coupon at a billing provider, by outcome.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    damagedParts: new Gauge({
      name: 'hoplog_worker_damaged_parts',
      help: 'Damaged parts of ClickHouse tables, by replica and table.',
      labelNames: ['replica', 'table'] as const,
      registers,
    }),
    cleaned: new Counter({
      name: 'hoplog_worker_cleaned_rows_total',
      help: 'Rows removed by the housekeeping jobs, by kind.',
      labelNames: ['what'] as const,
      registers,
    }),
  };
  // The series start at 0: an alert on an increase does not see one that begins at 1.
  for (const cause of ['freed', 'cut']) metrics.lostRanges.inc({ cause }, 0);
  for (const cause of ['lost', 'error']) metrics.lanesLost.inc({ cause }, 0);
  return metrics;
}

/** Creates the metrics of Kafka as the event log. */
export function createLogMetrics(registry: Registry) {
  const registers = [registry];
  return {
    retention: new Gauge({
      name: 'hoplog_log_retention_seconds',
      help: 'Time for which Kafka keeps the event log (KAFKA_RETENTION_HOURS).',
      registers,
    }),
    underReplicated: new Gauge({
      name: 'hoplog_log_under_replicated_partitions',
      help: 'Partitions of the event log that lack a replica in sync.',
      registers,
    }),
  };
}
