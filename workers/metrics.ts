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
      help: 'Events read from the log by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    insertedRows: new Counter({
      name: 'hoplog_worker_inserted_rows_total',
      help: 'Rows inserted into ClickHouse by table',
      labelNames: ['table'] as const,
      registers,
    }),
    duplicates: new Counter({
      name: 'hoplog_worker_duplicates_dropped_total',
      help: 'Duplicate events, found by the high-water mark of their stream (sequence) or in ClickHouse during a replay (store)',
      labelNames: ['found'] as const,
      registers,
    }),
    gaps: new Counter({
      name: 'hoplog_worker_sequence_gaps_total',
      help: 'Gaps in the sequences of a stream: events were lost before the workers. Alert on any.',
      registers,
    }),
    lostRanges: new Counter({
      name: 'hoplog_worker_log_lost_total',
      help: 'Times the log no longer held the offset of a lane. Alert on any.',
      labelNames: ['cause'] as const,
      registers,
    }),
    deadLetters: new Counter({
      name: 'hoplog_worker_dead_letters_total',
      help: 'Dead letters stored by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
    lagOffsets: new Gauge({
      name: 'hoplog_worker_lag_offsets',
      help: 'Offsets of a partition that are not stored yet: bytes of a journal, records of Kafka',
      labelNames: ['partition'] as const,
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'hoplog_worker_lag_seconds',
      help: 'Age of the newest visible event of a partition, heartbeats included',
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
      help: 'Duration of one insert into ClickHouse',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    retries: new Counter({
      name: 'hoplog_worker_retries_total',
      help: 'Failed attempts that are repeated, by step and cause',
      labelNames: ['step', 'cause'] as const,
      registers,
    }),
    lanes: new Gauge({
      name: 'hoplog_worker_lanes',
      help: 'Lanes that this process holds',
      labelNames: ['consumer'] as const,
      registers,
    }),
    lanesLost: new Counter({
      name: 'hoplog_worker_lanes_ended_total',
      help: 'Lanes that ended early: taken by another worker (lost) or failed (error)',
      labelNames: ['cause'] as const,
      registers,
    }),
    attributedOrders: new Counter({
      name: 'hoplog_worker_attributed_orders_total',
      help: 'Orders attributed, by whether a click led to them',
      labelNames: ['outcome'] as const,
      registers,
    }),
    ordersWithoutRate: new Counter({
      name: 'hoplog_worker_orders_without_rate_total',
      help: 'Orders counted without revenue because no rate is set for their currency',
      labelNames: ['currency'] as const,
      registers,
    }),
    refusedOrders: new Counter({
      name: 'hoplog_worker_refused_orders_total',
      help: 'Attempts to write an order that ClickHouse refused. Journeys lack the order until one succeeds.',
      registers,
    }),
    damagedParts: new Gauge({
      name: 'hoplog_worker_damaged_parts',
      help: 'Damaged parts of ClickHouse by table. Alert on any.',
      labelNames: ['table'] as const,
      registers,
    }),
    cleaned: new Counter({
      name: 'hoplog_worker_cleaned_rows_total',
      help: 'Rows deleted by pruning and erasures, by kind',
      labelNames: ['what'] as const,
      registers,
    }),
  };
  // An alert on any does not see a series that begins at 1.
  for (const cause of ['freed', 'cut']) metrics.lostRanges.inc({ cause }, 0);
  for (const cause of ['lost', 'error']) metrics.lanesLost.inc({ cause }, 0);
  return metrics;
}
