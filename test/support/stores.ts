import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openReaders } from '../../analytics/replicas/open-readers.ts';
import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/migrate.ts';
import type { Readers } from '../../clickhouse/readers/readers.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import { type Logger, silentLogger } from '../../core/tier/log.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { databaseUrlOf, databaseUrlsOf, TEST_OWNER } from './database-url.ts';
import { onClickHouse, onPostgres } from './shared-servers.ts';
import { LIMIT_MS } from './until.ts';

/** Two databases on the servers that the whole run shares. `databaseUrl` is of the role of the tiers. */
export type StoreAddresses = {
  databaseUrl: string;
  /** Past PgBouncer. Default: `databaseUrl`. */
  databaseDirectUrl?: string;
  databaseOwnerUrl: string;
  clickhouseUrl: string;
  clickhouseDatabase: string;
};

/** One test file's own databases, migrated and empty. */
export type TestStores = StoreAddresses & {
  /** The pool of the tiers' role, so that a missing right fails every test that needs it. */
  pool: Pool;
  /** The pool of the superuser, for actions of tests alone. */
  admin: Pool;
  /** Creates the tables before its first request, because a third of the files never send one. */
  clickhouse: ClickHouseClient;
  /** Reads `clickhouse`. */
  readers: Readers;
  /** `clickhouse` as the only replica. */
  replicas: readonly [Replica];
  /** Writes nothing. */
  log: Logger;
  /**
   * Creates the tables now, for files whose other processes or clients use ClickHouse. Until then its database does not
   * exist.
   */
  createTables(): Promise<void>;
  /** Closes pool and client and drops both databases. */
  close(): Promise<void>;
};

/**
 * Creates the databases. Call it in `beforeAll`, and `close()` in `afterAll`.
 *
 * @param options.isPooled the tiers' role connects through PgBouncer where it is installed, as all of them do with
 *   `TEST_PGBOUNCER=true`
 * @param options.bySocket `pool` uses PostgreSQL's Unix socket if it has one, for tests of a hundred thousand queries
 */
export async function testStores({ isPooled = false, bySocket = false } = {}): Promise<TestStores> {
  const name = `hoplog_test_${randomBytes(8).toString('hex')}`;
  const serverUrl = inject('databaseUrl');
  const clickhouseUrl = inject('clickhouseUrl');
  // Copies files, because the default strategy writes each page of the template to the log.
  await onPostgres(
    `CREATE DATABASE ${name} TEMPLATE ${inject('templateDatabase')} OWNER ${TEST_OWNER} STRATEGY FILE_COPY`,
  );
  const direct = databaseUrlsOf(serverUrl, name);
  const pooledUrl = inject('pooledDatabaseUrl');
  const throughPooler = pooledUrl !== '' && (isPooled || process.env.TEST_PGBOUNCER === 'true');
  const urls = {
    ...direct,
    databaseUrl: throughPooler ? databaseUrlsOf(pooledUrl, name).databaseUrl : direct.databaseUrl,
    databaseDirectUrl: direct.databaseUrl,
  };
  // On a busy machine a burst of calls may wait longer for one of the pool's connections than callers would.
  const pool = createPool(bySocket ? onSocket(urls.databaseUrl) : urls.databaseUrl, {
    connectTimeoutMs: LIMIT_MS,
  });
  const admin = createPool(databaseUrlOf(serverUrl, name), { max: 2, connectTimeoutMs: LIMIT_MS });
  let creating: Promise<void> | undefined;
  const create = () => {
    creating ??= createTables(clickhouseUrl, name);
    return creating;
  };
  const clickhouse = afterFirst(create, createClickHouse({ url: clickhouseUrl, database: name }));
  return {
    ...urls,
    clickhouseUrl,
    clickhouseDatabase: name,
    pool,
    admin,
    clickhouse,
    readers: openReaders(pool, [{ name: MAIN_REPLICA, clickhouse }], silentLogger()),
    replicas: [{ name: MAIN_REPLICA, clickhouse }],
    log: silentLogger(),
    createTables: create,
    async close() {
      await Promise.all([pool.end(), admin.end(), clickhouse.close()]);
      await Promise.all([
        creating?.then(() => onClickHouse(`DROP DATABASE IF EXISTS ${name} SYNC`)),
        onPostgres(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      ]);
    },
  };
}

/** Returns the address with the Unix socket instead of the host, if the server has one. */
function onSocket(databaseUrl: string): string {
  const directory = inject('databaseSocket');
  const url = new URL(databaseUrl);
  if (directory !== '') url.searchParams.set('host', directory);
  return url.href;
}

/** Makes every request of a client wait for `first`. */
function afterFirst(first: () => Promise<void>, client: ClickHouseClient): ClickHouseClient {
  const after =
    <Given, Result>(request: (given: Given) => Promise<Result>) =>
    async (given: Given) => {
      await first();
      return request(given);
    };
  const { rows, lines, close } = client.queries;
  return Object.assign(client, {
    query: after(client.query.bind(client)),
    insert: after(client.insert.bind(client)),
    command: after(client.command.bind(client)),
    exec: after(client.exec.bind(client)),
    queries: { rows: after(rows), lines: after(lines), close },
  });
}

async function createTables(url: string, database: string): Promise<void> {
  const server = createClickHouse({ url, database: 'default' });
  await migrate(server, { database });
  await server.close();
}
