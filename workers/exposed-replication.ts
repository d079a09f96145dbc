import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../sql/database/pool.ts';
import { type Replication, replicationState } from '../sql/database/replication.ts';

/**
 * Exposes the replication state that PostgreSQL's primary reports, read at each scrape. Exposes nothing while
 * PostgreSQL does not respond or does not report it.
 */
export function exposeReplication(pool: Pool, registry: Registry): void {
  const registers = [registry];
  /** Both gauges of a scrape share one query. */
  let reading: Promise<Replication | null> | null = null;
  const read = () => {
    reading ??= replicationState(pool)
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const expose = (name: string, help: string, of: (state: Replication) => number | null) => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const state = await read();
        const value = state && of(state);
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  };
  expose(
    'hoplog_postgres_standbys',
    "Standbys that are connected to PostgreSQL's primary.",
    ({ standbys }) => standbys,
  );
  expose(
    'hoplog_postgres_slot_retained_bytes',
    'Bytes of the write-ahead log that PostgreSQL keeps for its slowest replication slot; absent without a slot.',
    ({ slotBytes }) => slotBytes,
  );
}
