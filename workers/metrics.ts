import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** Every figure of the workers, all named `hoplog_worker_*`. */
export function createWorkerMetrics(registry: Registry) {
  const registers = [registry];
  /** Per partition, how far its events are visible, in microseconds. */
  const visibleBefore = new Map<string, number>();
  const metrics = {
    visibleBefore,
    events: new Counter({
      name: 'hoplog_worker_events_total',
      help: 'Events taken from the log, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    insertedRows: new Counter({
      name: 'hoplog_worker_inserted_rows_total',
      help: 'Rows stored in ClickHouse, by table',
      labelNames: ['table'] as const,
      registers,
    }),
    duplicates: new Counter({
      name: 'hoplog_worker_duplicates_dropped_total',
      help: 'Events at or below the high-water mark of their stream (sequence), or found in the store when a range was replayed (store)',
      labelNames: ['found'] as const,
      registers,
    }),
    gaps: new Counter({
      name: 'hoplog_worker_sequence_gaps_total',
      help: 'Sequences missing inside an epoch of a stream: events were lost before the workers. Alarm on any.',
      registers,
    }),
    lostRanges: new Counter({
      name: 'hoplog_worker_log_lost_total',
      help: 'Times a lane stood where the log holds nothing any more. Alarm on any.',
      labelNames: ['cause'] as const,
      registers,
    }),
    deadLetters: new Counter({
      name: 'hoplog_worker_dead_letters_total',
      help: 'Events and damaged pieces of the log put into dead_letters, by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
    lagOffsets: new Gauge({
      name: 'hoplog_worker_lag_offsets',
      help: 'Bytes (or records) of a partition not worked off yet',
      labelNames: ['partition'] as const,
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'hoplog_worker_lag_seconds',
      help: 'Age of the newest event of a partition that is visible, heartbeats included',
      labelNames: ['partition'] as const,
      registers,
      // At the scrape: a lane that stands still must be seen to fall behind.
      collect() {
        this.reset();
        for (const [partition, micros] of visibleBefore) {
          this.set({ partition }, Math.max(0, Date.now() / 1000 - micros / 1_000_000));
        }
      },
    }),
    insertSeconds: new Histogram({
      name: 'hoplog_worker_insert_seconds',
      help: 'Time of one insert into ClickHouse',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    retries: new Counter({
      name: 'hoplog_worker_retries_total',
      help: 'Attempts that failed and are made again, by step and cause',
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
      help: 'Lanes that ended before they were let go: taken by another worker (lost) or failed (error)',
      labelNames: ['cause'] as const,
      registers,
    }),
    attributedOrders: new Counter({
      name: 'hoplog_worker_attributed_orders_total',
      help: 'Orders whose credits were written, by whether a click led to them',
      labelNames: ['outcome'] as const,
      registers,
    }),
    ordersWithoutRate: new Counter({
      name: 'hoplog_worker_orders_without_rate_total',
      help: 'Orders counted without revenue because the operator has set no rate for their currency',
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
      help: 'Damaged parts of ClickHouse tables, by table. Alarm on any.',
      labelNames: ['table'] as const,
      registers,
    }),
    cleaned: new Counter({
      name: 'hoplog_worker_cleaned_rows_total',
      help: 'Rows removed by the housekeeping clocks, by what they were',
      labelNames: ['what'] as const,
      registers,
    }),
  };
  // An alarm on any sees a series that goes from 0 to 1, and does not see one that begins at 1.
  for (const cause of ['freed', 'cut']) metrics.lostRanges.inc({ cause }, 0);
  for (const cause of ['lost', 'error']) metrics.lanesLost.inc({ cause }, 0);
  return metrics;
}
