import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../sql/database/pool.ts';
import { type ListedReplica, listReplicas } from '../sql/event-log/replica-marks.ts';

/**
 * Exposes how far each replica of ClickHouse is and whether it may be read, at each scrape. Exposes nothing while
 * PostgreSQL does not respond.
 */
export function exposeReplicas(pool: Pool, registry: Registry): void {
  /** Both gauges of a scrape share one query. */
  let reading: Promise<ListedReplica[]> | null = null;
  const read = () => {
    reading ??= listReplicas(pool)
      .catch(() => [])
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const expose = (name: string, help: string, of: (replica: ListedReplica) => number | null) => {
    new Gauge({
      name,
      help,
      labelNames: ['replica'],
      registers: [registry],
      async collect() {
        const replicas = await read();
        this.reset();
        for (const replica of replicas) {
          const value = of(replica);
          if (value !== null) this.set({ replica: replica.name }, value);
        }
      },
    });
  };
  expose(
    'hoplog_replica_watermark_age_seconds',
    'Age of the watermark of a replica of ClickHouse, which has every click that is older.',
    ({ watermark }) => (watermark === null ? null : Math.max(0, Date.now() / 1_000 - watermark / 1_000_000)),
  );
  expose(
    'hoplog_replica_readable',
    '1: the replica of ClickHouse may be read; 0: it is being filled, or repaired.',
    ({ isReadable }) => Number(isReadable),
  );
}
