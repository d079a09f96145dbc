import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { createLogger } from '../../core/tier/log.ts';
import { type RegisteredStream, registerStream } from '../../sql/event-log/streams.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { createLogWriter, type LogWriter } from '../../workers/test-support/log-writer.ts';
import { PATIENCE_MS } from '../../workers/test-support/patience.ts';
import { createWorkers, type Workers, type WorkersDependencies } from '../../workers/workers.ts';
import { type TestStores, testStores } from './stores.ts';
import { until } from './until.ts';

export type Rig = {
  stores: TestStores;
  dataDir: string;
  addressKey: Buffer;
  reader: EventLogReader;
  /** An existing workspace. */
  workspace: string;
  /** Registers a stream and creates its journal in a directory with the given name. */
  stream(name: string): Promise<LogWriter & RegisteredStream>;
  /** Starts workers; `close` stops those that still run. */
  work(changes?: Partial<WorkersDependencies>): Workers & { registry: Registry };
  /** Waits until every event of the writer is processed. */
  settled(writer: LogWriter & RegisteredStream): Promise<void>;
  /** Waits until ClickHouse has every order in the state of PostgreSQL. */
  published(): Promise<void>;
  /** Returns one row of ClickHouse. */
  ask<Row>(query: string): Promise<Row>;
  /** Returns the numbers of rows and of distinct sequences of a table: they are equal without duplicates. */
  stored(table?: 'clicks' | 'identifies'): Promise<{ rows: number; distinct: number }>;
  close(): Promise<void>;
};

/**
 * Databases, a journal and workers for one test file.
 *
 * @param options see {@link testStores}
 */
export async function createRig(options: { isPooled?: boolean } = {}): Promise<Rig> {
  const stores = await testStores(options);
  const { pool, clickhouse } = stores;
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-workers-'));
  const addressKey = randomBytes(32);
  const sealer = createAddressSealer(addressKey);
  const workspace = (await createWorkspace(pool, { name: 'Rig', plan: 'pro' })).id;
  const reader = new JournalReader(dataDir);
  const running = new Set<Workers>();

  async function ask<Row>(query: string): Promise<Row> {
    const result = await clickhouse.query({ query, format: 'JSONEachRow' });
    return (await result.json<Row>())[0] as Row;
  }

  return {
    stores,
    dataDir,
    addressKey,
    reader,
    workspace,
    async stream(name) {
      const identity = await registerStream(pool, name);
      return { ...createLogWriter(dataDir, name, identity, sealer), ...identity };
    },
    work(changes = {}) {
      const registry = new Registry();
      const workers = createWorkers({
        pool,
        clickhouse,
        reader,
        decode: (batch) => decodeEvents(batch, sealer),
        enricher: createEnricher({ geo: emptyGeo() }),
        log: createLogger('workers', 'silent'),
        registry,
        patienceMs: PATIENCE_MS,
        ...changes,
      });
      running.add(workers);
      return {
        registry,
        stop(drainMs) {
          running.delete(workers);
          return workers.stop(drainMs);
        },
      };
    },
    async settled(writer) {
      const highWater = async () => {
        const { rows } = await pool.query<{ high_water: string }>(
          'SELECT high_water FROM ingest_streams WHERE stream_id = $1',
          [writer.streamId],
        );
        return BigInt(rows[0]?.high_water ?? -1);
      };
      await until('every event of the stream processed', highWater, (seen) => seen >= writer.next() - 1n);
    },
    async published() {
      const queued = async () => (await pool.query('SELECT FROM order_publications')).rowCount;
      await expect.poll(queued).toBe(0);
    },
    ask,
    async stored(table = 'clicks') {
      const row = await ask<{ rows: string; distinct: string }>(
        `SELECT count() AS rows, uniqExact(toUnixTimestamp64Nano(ts) % 1000, sequence) AS distinct FROM ${table}`,
      );
      return { rows: Number(row.rows), distinct: Number(row.distinct) };
    },
    async close() {
      await Promise.all([...running].map((workers) => workers.stop(0)));
      await reader.close();
      rmSync(dataDir, { recursive: true, force: true });
      await stores.close();
    },
  };
}

/** Tests with `rig`, a new one for each test. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures that this one needs from the pattern
export const rigTest = test.extend('rig', async ({}, { onCleanup }) => {
  const rig = await createRig();
  onCleanup(() => rig.close());
  return rig;
});

/** Returns the value of one metric, summed over all labels or the matching ones. */
export async function metric(
  registry: Registry,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const found = (await registry.getMetricsAsJSON()).find((known) => known.name === name);
  const values = (found?.values ?? []) as { value: number; labels: Record<string, string> }[];
  return values
    .filter((value) => Object.entries(labels).every(([key, text]) => value.labels[key] === text))
    .reduce((sum, { value }) => sum + value, 0);
}
