import { renewAnalystViews } from '../clickhouse/analysts/index.ts';
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
import { serviceRoleIn } from '../sql/database/service-role.ts';

const MIGRATION_MS = 600_000;

export type Migrated = {
  /** Names of the migrations applied now, in order. */
  applied: { postgres: string[]; clickhouse: string[] };
  /** Warning when the databases have migrations of a later release; otherwise null. */
  warning: string | null;
};

/**
 * Migrates both databases to the newest version. One process runs at a time, under PostgreSQL's lock, because
 * ClickHouse has none.
 *
 * @param owner connects to PostgreSQL as the owner of the tables
 * @throws when a database is unreachable or a migration fails
 */
export async function migrateStores(owner: Pool, config: Config): Promise<Migrated> {
  // The first migration creates the configured database.
  const clickhouse = createClickHouse({
    url: config.clickhouseUrl,
    database: 'default',
    timeoutMs: MIGRATION_MS,
  });
  const options = { database: config.clickhouseDatabase };
  try {
    return await withMigrationLock(owner, async (client) => {
      const applied = {
        postgres: await applyPendingMigrations(client, {
          service: serviceRoleIn(config.databaseUrl, config.databaseOwnerUrl),
        }),
        clickhouse: await migrateClickHouse(clickhouse, options),
      };
      await renewAnalystViews(clickhouse, options.database);
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
  return `the databases were migrated by a later release of Hoplog and may not work with this one: run the later release, or restore an earlier backup (unknown migrations: ${later.join(', ')})`;
}
