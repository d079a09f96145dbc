import { Registry } from 'prom-client';
import { createJournalMetrics } from '../../core/event-log/journal/metrics.ts';
import { createIngestMetrics } from '../../ingest/metrics.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { exposeBackupAge } from '../../workers/exposed-ages.ts';
import { exposeCounts } from '../../workers/exposed-counts.ts';
import { exposeReplication } from '../../workers/exposed-replication.ts';
import { exposeStreams } from '../../workers/exposed-streams.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { createWebhookMetrics } from '../../workers/webhooks/metrics.ts';

/** Exposed metrics: each one with its series, each by label; no series where nothing has been counted yet. */
export type Exposed = Map<string, Record<string, string>[]>;

/**
 * Adds the text of one `/metrics` response, with the labels that Prometheus gives each series.
 *
 * @param instance as `prometheus.yml` names the target
 */
export function addExposed(exposed: Exposed, text: string, instance: string): void {
  const target = { job: 'hoplog', release: 'hoplog', instance };
  for (const line of text.split('\n')) {
    const [, declared = '', type] = /^# TYPE (\S+) (\S+)/.exec(line) ?? [];
    if (declared) {
      const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const part of parts) if (!exposed.has(declared + part)) exposed.set(declared + part, []);
    }
    const [, name = '', labels = ''] = /^([a-z_]\w*)(?:\{(.*)\})? \S+$/i.exec(line) ?? [];
    if (!name) continue;
    const own = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value]);
    exposed.set(name, [...(exposed.get(name) ?? []), { ...Object.fromEntries(own), ...target }]);
  }
  exposed.set('up', [...(exposed.get('up') ?? []), target]); // Prometheus's own
}

/** Returns the labels that a metric declares, for metrics that have counted nothing yet. */
export function declaredLabels(): Map<string, string[]> {
  const registry = new Registry();
  createWorkerMetrics(registry);
  createWebhookMetrics(registry);
  createJournalMetrics(
    registry,
    () => 0,
    () => 0,
  );
  // These metrics have no series while there is nothing to name. They query PostgreSQL, which does not respond here.
  const pool = { query: () => Promise.reject(new Error('no database')) } as unknown as Pool;
  exposeStreams(pool, registry);
  exposeReplication(pool, registry);
  exposeCounts(pool, registry);
  void exposeBackupAge(pool, registry);
  const zero = () => 0;
  createIngestMetrics(registry, {
    links: zero,
    tableBytes: zero,
    misses: () => ({ found: 0, absent: 0, unavailable: 0 }),
    diskReads: zero,
    tableFailures: zero,
    tableAgeSeconds: zero,
  });
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const labels = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [];
      return [metric.name, [...labels.map(String), 'tier', 'job', 'release', 'instance']];
    }),
  );
}
