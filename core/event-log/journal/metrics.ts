import { statfs } from 'node:fs/promises';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * Why an event was lost.
 *
 * - `budget`: the journal's disk budget is used up.
 * - `disk_full`, `disk_error`: the disk rejected the write.
 * - `sync`: written, but the requested sync failed; readers may see it all the same.
 * - `too_large`: it exceeds the limit of one batch.
 * - `invalid`: it does not match its type.
 * - `closed`: it was appended after the close.
 */
export type LossCause = (typeof LOSS_CAUSES)[number];

const LOSS_CAUSES = ['budget', 'disk_full', 'disk_error', 'sync', 'too_large', 'invalid', 'closed'] as const;

const SECONDS = [0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1];

export type JournalMetrics = ReturnType<typeof createJournalMetrics>;

/**
 * Registers the writer's metrics.
 *
 * @param fill returns the fraction of the disk budget in use
 * @param ahead returns how far the stream's time is ahead of the wall clock, in microseconds
 * @param directory the journal's directory, whose volume is measured; left out: no volume is measured
 */
export function createJournalMetrics(
  registry: Registry,
  fill: () => number,
  ahead: () => number,
  directory?: string,
) {
  const registers = [registry];
  new Gauge({
    name: 'hoplog_journal_fill_ratio',
    help: 'Fraction of the disk budget used by events that are not stored yet.',
    registers,
    collect() {
      this.set(fill());
    },
  });
  new Gauge({
    name: 'hoplog_journal_clock_ahead_seconds',
    help: "Seconds by which the stream's time is ahead of the wall clock.",
    registers,
    collect() {
      this.set(ahead() / 1_000_000);
    },
  });
  const free = new Gauge({
    name: 'hoplog_journal_disk_free_ratio',
    help: "Free fraction of the journal's volume, by resource (bytes, inodes).",
    labelNames: ['resource'] as const,
    registers,
    async collect() {
      const volume = directory === undefined ? null : await statfs(directory).catch(() => null);
      if (volume === null) return;
      free.set({ resource: 'bytes' }, volume.bavail / volume.blocks);
      // File systems without inodes have 0 of 0.
      if (volume.files > 0) free.set({ resource: 'inodes' }, volume.ffree / volume.files);
    },
  });
  const lost = new Counter({
    name: 'hoplog_journal_lost_total',
    help: 'Events that were lost, by cause.',
    labelNames: ['cause'] as const,
    registers,
  });
  // Initialized to 0: `increase()` does not see a series that begins at 1.
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
      help: 'Time to write one batch into the page cache.',
      buckets: SECONDS,
      registers,
    }),
    syncSeconds: new Histogram({
      name: 'hoplog_journal_sync_seconds',
      help: 'Time of one fdatasync.',
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
