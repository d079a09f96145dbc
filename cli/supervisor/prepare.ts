import type { Config } from '../../core/settings/config.ts';
import type { Logger } from '../../core/tier/log.ts';
import { migrate } from '../../sql/database/migrate.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { serviceRoleIn } from '../../sql/database/service-role.ts';
import { migrateStores } from '../migrate-stores.ts';

/**
 * Migrates only PostgreSQL to the newest version, which is enough to start the API.
 *
 * @throws when it is unreachable or a migration fails
 */
export function preparePostgres(config: Config): Promise<void> {
  return withPool(config, async (pool) => {
    await migrate(pool, { service: serviceRoleIn(config.databaseUrl, config.databaseOwnerUrl) });
  });
}

/**
 * Migrates both databases to the newest version, and warns if one is newer.
 *
 * @throws when a database is unreachable or a migration fails
 */
export function prepareStores(config: Config, log: Logger): Promise<void> {
  return withPool(config, async (pool) => {
    const { warnings } = await migrateStores(pool, config);
    for (const warning of warnings) log.warn(warning);
  });
}

async function withPool(config: Config, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = createPool(config.databaseOwnerUrl, { max: 2, name: 'hoplog-start' });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}
