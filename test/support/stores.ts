import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/migrate.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { databaseUrlOf, databaseUrlsOf, TEST_OWNER } from './database-url.ts';
import { onClickHouse, onPostgres } from './shared-servers.ts';
import { LIMIT_MS } from './until.ts';

/** Two databases on the servers that the whole run shares. `databaseUrl` is of the role of the tiers. */
export type StoreAddresses = {
  databaseUrl: string;
  databaseOwnerUrl: string;
  clickhouseUrl: string;
  clickhouseDatabase: string;
};

/** One test file's own databases, migrated and empty. */
export type TestStores = StoreAddresses & {
  /** Of the tiers' role, so that a missing right fails every test that needs it. */
  pool: Pool;
  /** Of the superuser, for what only a test does. */
  admin: Pool;
  clickhouse: ClickHouseClient;
  /** Closes pool and client and drops both databases. */
  close(): Promise<void>;
};

/**
 * Creates the databases. Call it in `beforeAll`, and `close()` in `afterAll`.
 */
export async function testStores(): Promise<TestStores> {
  const name = `hoplog_test_${randomBytes(8).toString('hex')}`;
  const serverUrl = inject('databaseUrl');
  const clickhouseUrl = inject('clickhouseUrl');
  await Promise.all([
    // Copies files, where the default strategy writes each page of the template to the log.
    onPostgres(
      `CREATE DATABASE ${name} TEMPLATE ${inject('templateDatabase')} OWNER ${TEST_OWNER} STRATEGY FILE_COPY`,
    ),
    createTables(clickhouseUrl, name),
  ]);
  const urls = databaseUrlsOf(serverUrl, name);
  // On a busy machine a burst of calls waits longer for one of the pool's connections than callers would.
  const pool = createPool(urls.databaseUrl, { connectTimeoutMs: LIMIT_MS });
  const admin = createPool(databaseUrlOf(serverUrl, name), { max: 2, connectTimeoutMs: LIMIT_MS });
  const clickhouse = createClickHouse({ url: clickhouseUrl, database: name });
  return {
    ...urls,
    clickhouseUrl,
    clickhouseDatabase: name,
    pool,
    admin,
    clickhouse,
    async close() {
      await Promise.all([pool.end(), admin.end(), clickhouse.close()]);
      await Promise.all([
        onClickHouse(`DROP DATABASE IF EXISTS ${name} SYNC`),
        onPostgres(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      ]);
    },
  };
}

async function createTables(url: string, database: string): Promise<void> {
  const server = createClickHouse({ url, database: 'default' });
  await migrate(server, { database, cluster: '' });
  await server.close();
}
