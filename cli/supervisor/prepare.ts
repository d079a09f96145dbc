import { createClickHouse } from '../../clickhouse/client.ts';
import { migrate as migrateClickHouse } from '../../clickhouse/migrate.ts';
import type { Config } from '../../core/config.ts';
import { migrate as migratePostgres } from '../../sql/migrate.ts';
import { createPool } from '../../sql/pool.ts';

const MIGRATION_MS = 600_000;

/**
 * Brings both stores to the newest migration.
 *
 * @throws when a store does not answer or a migration fails
 */
export async function prepareStores(config: Config): Promise<void> {
  const pool = createPool(config.databaseUrl, { max: 2, name: 'hoplog-start' });
  // Not connected to the database itself: the first migration makes it.
  const clickhouse = createClickHouse({
    url: config.clickhouseUrl,
    database: 'default',
    timeoutMs: MIGRATION_MS,
  });
  try {
    await migratePostgres(pool);
    await migrateClickHouse(clickhouse, {
      database: config.clickhouseDatabase,
      cluster: config.clickhouseCluster,
    });
  } finally {
    await Promise.all([pool.end(), clickhouse.close()]);
  }
}
