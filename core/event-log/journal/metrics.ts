import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * Why an event was lost. `budget`: the journal's disk budget is used up. `disk_full`, `disk_error`: the disk
 * refused the write. `sync`: written, but not synced while that was asked for, so it may be read all the same.
 * `too_large`: more than one batch can hold. `invalid`: not what its type promises. `closed`: appended after the close.
 */
export type LossCause = (typeof LOSS_CAUSES)[number];

const LOSS_CAUSES = ['budget', 'disk_full', 'disk_error', 'sync', 'too_large', 'invalid', 'closed'] as const;

const SECONDS = [0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1];

export type JournalMetrics = ReturnType<typeof createJournalMetrics>;

/**
 * The writer's figures.
 *
 * @param fill fraction of the disk budget in use, asked at each scrape
 * @param ahead microseconds by which the stream's time is ahead of the wall clock, asked at each scrape
 */
export function createJournalMetrics(registry: Registry, fill: () => number, ahead: () => number) {
  const registers = [registry];
  new Gauge({
    name: 'hoplog_journal_fill_ratio',
    help: 'Fraction of the disk budget that events use, from 0 to 1.',
    registers,
    collect() {
      this.set(fill());
    },
  });
  new Gauge({
    name: 'hoplog_journal_clock_ahead_seconds',
    help: "Lead of the stream's time over the wall clock; over 5, events get wrong times.",
    registers,
    collect() {
      this.set(ahead() / 1_000_000);
    },
  });
  const lost = new Counter({
    name: 'hoplog_journal_lost_total',
    help: 'Events lost, by cause.',
    labelNames: ['cause'] as const,
    registers,
  });
  // An alarm on any sees a series that goes from 0 to 1, and does not see one that begins at 1.
  for (const cause of LOSS_CAUSES) lost.inc({ cause }, 0);
  return {
    lost,
    events: new Counter({
      name: 'hoplog_journal_events_total',
      help: 'Events written to the journal, without heartbeats.',
      registers,
    }),
    batches: new Counter({
      name: 'hoplog_journal_batches_total',
      help: 'Batches written to the journal.',
      registers,
    }),
    bytes: new Counter({
      name: 'hoplog_journal_bytes_total',
      help: 'Bytes written to the journal.',
      registers,
    }),
    writeSeconds: new Histogram({
      name: 'hoplog_journal_write_seconds',
      help: 'Time to write one batch to the page cache.',
      buckets: SECONDS,
      registers,
    }),
    syncSeconds: new Histogram({
      name: 'hoplog_journal_sync_seconds',
      help: 'Time of one fdatasync call, which covers a group of batches.',
      buckets: SECONDS,
      registers,
    }),
    syncFailures: new Counter({
      name: 'hoplog_journal_sync_failures_total',
      help: 'Failed fdatasync calls.',
      registers,
    }),
    damagedBytes: new Counter({
      name: 'hoplog_journal_damaged_bytes_total',
      help: 'Damaged or torn bytes found when the journal was opened.',
      registers,
    }),
  };
}
