import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedClickHouse } from '../../cli/embedded/clickhouse.ts';
import type { EmbeddedStore } from '../../cli/embedded/store.ts';
import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/migrate.ts';
import { createLogger } from '../../core/tier/log.ts';

/** A ClickHouse server of one test file, which may kill it. */
export type OwnClickHouse = {
  clickhouse: ClickHouseClient;
  url: string;
  /** The directory of its files. */
  directory: string;
  /** Starts it, and creates the tables that it lacks. */
  start(): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Stops it with SIGSTOP: it accepts connections, and does not respond. */
  pause(): void;
  /** Ends a {@link OwnClickHouse.pause}. */
  resume(): void;
  /** Returns the number of rows of a table and a hash that does not depend on their order. */
  hash(table: string): Promise<{ rows: number; hash: string }>;
  close(): Promise<void>;
};

/**
 * Starts a ClickHouse server with all tables.
 *
 * @param database of the tables
 */
export async function ownClickHouse(database = 'hoplog'): Promise<OwnClickHouse> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-replica-'));
  const store = await embeddedClickHouse({ dataDir, log: createLogger('test-replica', 'silent') });
  const clickhouse = createClickHouse({ url: store.url, database });
  let server: EmbeddedStore | null = null;

  async function start(): Promise<void> {
    server = await store.start(new AbortController().signal);
    const any = createClickHouse({ url: store.url, database: 'default' });
    await migrate(any, { database });
    await any.close();
  }
  await start();
  function signal(name: NodeJS.Signals): void {
    if (!server) throw new Error('the server does not run');
    process.kill(server.pid, name);
  }

  return {
    clickhouse,
    url: store.url,
    directory: dataDir,
    start,
    async kill() {
      server?.kill();
      await server?.exited;
      server = null;
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async hash(table) {
      const result = await clickhouse.query({
        query: `SELECT count() AS rows, toString(sum(cityHash64(*))) AS hash FROM ${table}`,
        format: 'JSONEachRow',
      });
      const [found] = await result.json<{ rows: string; hash: string }>();
      return { rows: Number(found?.rows), hash: found?.hash ?? '' };
    },
    async close() {
      await clickhouse.close();
      if (server) signal('SIGCONT');
      await server?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
