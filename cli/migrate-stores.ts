import { createClickHouse } from '../clickhouse/client.ts';
import {
  migrationsOfLater as laterInClickHouse,
  migrate as migrateClickHouse,
} from '../clickhouse/migrate.ts';
import type { Config } from '../core/settings/config.ts';
import {
  applyPendingMigrations,
  migrationsOfLater as laterInPostgres,
  withMigrationLock,
} from '../sql/database/migrate.ts';
import type { Pool } from '../sql/database/pool.ts';

const MIGRATION_MS = 600_000;

export type Migrated = {
  /** Names of the migrations applied now, in order. */
  applied: { postgres: string[]; clickhouse: string[] };
  /** What to tell an operator who runs a release older than the one that the stores were brought to; null elsewhere. */
  warning: string | null;
};

/**
 * Brings both stores to the newest migration, one process at a time: ClickHouse has no lock for it, so PostgreSQL's is held for
 * both.
 *
 * @throws when a store does not answer or a migration fails
 */
export async function migrateStores(pool: Pool, config: Config): Promise<Migrated> {
  // Not connected to the database itself: the first migration makes it.
  const clickhouse = createClickHouse({
    url: config.clickhouseUrl,
    database: 'default',
    timeoutMs: MIGRATION_MS,
  });
  const options = { database: config.clickhouseDatabase, cluster: config.clickhouseCluster };
  try {
    return await withMigrationLock(pool, async (client) => {
      const applied = {
        postgres: await applyPendingMigrations(client),
        clickhouse: await migrateClickHouse(clickhouse, options),
      };
      const later = [
        ...(await laterInPostgres(client)).map((name) => `${name} of PostgreSQL`),
        ...(await laterInClickHouse(clickhouse, options)).map((name) => `${name} of ClickHouse`),
      ];
      return { applied, warning: later.length === 0 ? null : warningOf(later) };
    });
  } finally {
    await clickhouse.close();
  }
}

function warningOf(later: string[]): string {
  return `a later release of Hoplog has changed the stores, and what it changed may not work in this one: run the later release, or restore a backup from before it (migrations unknown here: ${later.join(', ')})`;
}
