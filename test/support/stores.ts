import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/migrate.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { databaseUrlOf } from './database-url.ts';
import { onClickHouse, onPostgres } from './shared-servers.ts';

/** Two databases on the servers that the whole run shares. */
export type StoreAddresses = { databaseUrl: string; clickhouseUrl: string; clickhouseDatabase: string };

/** One test file's own databases, migrated and empty. */
export type TestStores = StoreAddresses & {
  pool: Pool;
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
    // Copies files: a fifth of the CPU time of the default, which writes each page to the WAL.
    onPostgres(`CREATE DATABASE ${name} TEMPLATE ${inject('templateDatabase')} STRATEGY FILE_COPY`),
    createTables(clickhouseUrl, name),
  ]);
  const databaseUrl = databaseUrlOf(serverUrl, name);
  const pool = createPool(databaseUrl);
  const clickhouse = createClickHouse({ url: clickhouseUrl, database: name });
  return {
    databaseUrl,
    clickhouseUrl,
    clickhouseDatabase: name,
    pool,
    clickhouse,
    async close() {
      await Promise.all([pool.end(), clickhouse.close()]);
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
