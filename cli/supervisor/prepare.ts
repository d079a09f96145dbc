import type { Config } from '../../core/settings/config.ts';
import type { Logger } from '../../core/tier/log.ts';
import { createPool } from '../../sql/database/pool.ts';
import { migrateStores } from '../migrate-stores.ts';

/**
 * Brings both stores to the newest migration, and warns where they are beyond it.
 *
 * @throws when a store does not answer or a migration fails
 */
export async function prepareStores(config: Config, log: Logger): Promise<void> {
  const pool = createPool(config.databaseUrl, { max: 1, name: 'hoplog-start' });
  try {
    const { warning } = await migrateStores(pool, config);
    if (warning !== null) log.warn(warning);
  } finally {
    await pool.end();
  }
}
