// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AskedResult } from './link-table/resolver.ts';

/** How a request to a short link ended. */
export type RedirectOutcome =
  | 'redirected'
  | 'interstitial'
  | 'form'
  | 'expired'
  | 'not_found'
  | 'unavailable'
  | 'no_lease'
  | 'not_kept'
  | 'wrong_password'
  | 'too_many_attempts'
  | 'page';

export type IngestMetrics = {
  countOutcome(outcome: RedirectOutcome): void;
  /** An event that the journal refused: the visitor was redirected all the same. */
  countLost(kind: 'click' | 'identify' | 'order'): void;
  countCollected(status: number): void;
  countLeaseWait(result: string): void;
  /** `performance.now()` for one in {@link SAMPLE} requests, which is to be timed; null for the others. */
  startTiming(): number | null;
  /** @param startedAt what {@link startTiming} has answered at the request's arrival */
  observeRedirect(startedAt: number | null): void;
};

/** One in so many requests is timed: an observation costs as much as a tenth of a redirect. */
const SAMPLE = 16;

const OUTCOMES = [
  'redirected',
  'interstitial',
  'form',
  'expired',
  'not_found',
  'unavailable',
  'no_lease',
  'not_kept',
  'wrong_password',
  'too_many_attempts',
  'page',
] as const satisfies readonly RedirectOutcome[];

/**
 * Registers the tier's metrics, all named `hoplog_ingest_*`.
 *
 * @param sources what the gauges read at each scrape
 */
export function createIngestMetrics(
  registry: Registry,
  sources: {
    links(): number;
    tableBytes(): number;
    misses(): Readonly<Record<AskedResult, number>>;
    diskReads(): number;
    tableFailures(): number;
    tableAgeSeconds(): number;
    journalFill(): number;
  },
): IngestMetrics {
  const registers = [registry];
  // An alarm sees a series that goes from 0 to 1, and does not see one that begins at 1. Counted here and handed over
  // at a scrape: the library's own counting costs more than a look into the link table.
  const ended = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<
    RedirectOutcome,
    number
  >;
  new Counter({
    name: 'hoplog_ingest_redirects_total',
    help: 'Requests to short links, by outcome.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const outcome of OUTCOMES) this.inc({ outcome }, ended[outcome]);
    },
  });
  const lost = new Counter({
    name: 'hoplog_ingest_lost_total',
    help: 'Events acknowledged to the client but rejected by the journal, by kind.',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of ['click', 'identify', 'order']) lost.labels(kind).inc(0);
  new Counter({
    name: 'hoplog_ingest_misses_total',
    help: 'Link table misses looked up in PostgreSQL, by result.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(sources.misses())) this.inc({ result }, count);
    },
  });
  new Counter({
    name: 'hoplog_ingest_link_table_disk_reads_total',
    help: 'Slugs looked up on disk because memory did not have them.',
    registers,
    collect() {
      this.reset();
      this.inc(sources.diskReads());
    },
  });
  new Counter({
    name: 'hoplog_ingest_link_table_disk_failures_total',
    help: 'Failed attempts to save the link table to disk.',
    registers,
    collect() {
      this.reset();
      this.inc(sources.tableFailures());
    },
  });
  const collected = new Counter({
    name: 'hoplog_ingest_collected_total',
    help: 'Responses to /collect, by HTTP status.',
    labelNames: ['status'],
    registers,
  });
  const leaseWaits = new Counter({
    name: 'hoplog_ingest_lease_waits_total',
    help: 'Visitors of a link with max_clicks who waited for a lease, by result.',
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: 'hoplog_ingest_redirect_seconds',
    help: `Time from a request to its response, sampled from one in ${SAMPLE} redirects.`,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers,
  });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('hoplog_ingest_links', 'Slugs in the link table.', sources.links);
  gauge('hoplog_ingest_link_table_bytes', 'Size of the records in the link table.', sources.tableBytes);
  gauge(
    'hoplog_ingest_link_table_age_seconds',
    'Time since the link table was last confirmed up to date with PostgreSQL.',
    sources.tableAgeSeconds,
  );
  gauge(
    'hoplog_ingest_journal_fill_ratio',
    'Fraction of the disk budget of the journal in use, from 0 to 1.',
    sources.journalFill,
  );
  let arrived = 0;

  return {
    countOutcome(outcome) {
      ended[outcome] += 1;
    },
    countLost: (kind) => lost.labels(kind).inc(),
    countCollected: (status) => collected.labels(String(status)).inc(),
    countLeaseWait: (result) => leaseWaits.labels(result).inc(),
    startTiming: () => (arrived++ % SAMPLE === 0 ? performance.now() : null),
    observeRedirect(startedAt) {
      if (startedAt !== null) duration.observe((performance.now() - startedAt) / 1_000);
    },
  };
}
