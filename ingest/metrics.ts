// Imported: the global `performance` is a getter, which each use would call.
import { performance } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { MissResult } from './link-table/resolver.ts';

/** Outcome of a request to a short link. */
export type RedirectOutcome =
  | 'redirected'
  | 'interstitial'
  | 'preview'
  | 'form'
  | 'expired'
  | 'not_found'
  | 'unavailable'
  | 'no_lease'
  | 'not_recorded'
  | 'wrong_password'
  | 'too_many_attempts'
  | 'page'
  | 'blocked';

export type IngestMetrics = {
  countOutcome(outcome: RedirectOutcome): void;
  /** Counts an event that the journal refused; the visitor was redirected. */
  countLost(kind: 'click' | 'identify' | 'order'): void;
  countCollected(status: number): void;
  countLeaseWait(result: string): void;
  /** Returns `performance.now()` for one in {@link SAMPLE} requests, null for the others. */
  startTiming(): number | null;
  /** @param startedAt the value of {@link startTiming} at the request's arrival */
  observeRedirect(startedAt: number | null): void;
};

/** One request in this many is timed: an observation costs a tenth of a redirect. */
const SAMPLE = 16;

const OUTCOMES = [
  'redirected',
  'interstitial',
  'preview',
  'form',
  'expired',
  'not_found',
  'unavailable',
  'no_lease',
  'not_recorded',
  'wrong_password',
  'too_many_attempts',
  'page',
  'blocked',
] as const satisfies readonly RedirectOutcome[];

/**
 * Registers the tier's metrics, all named `hoplog_ingest_*`.
 *
 * @param sources values that gauges read at each scrape
 */
export function createIngestMetrics(
  registry: Registry,
  sources: {
    links(): number;
    tableBytes(): number;
    misses(): Readonly<Record<MissResult, number>>;
    diskReads(): number;
    tableFailures(): number;
    tableAgeSeconds(): number;
  },
): IngestMetrics {
  const registers = [registry];
  // All outcomes start at 0, so that an alert sees the first increase. Counted here and exported at a scrape: the
  // library's counters cost more than a lookup of a link.
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
