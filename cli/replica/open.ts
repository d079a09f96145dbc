import { openReplicas, type Replica } from '../../clickhouse/replicas.ts';
import type { Config } from '../../core/settings/config.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { withStores } from '../stores.ts';

export type OpenReplicas = { config: Config; pool: Pool; replicas: readonly Replica[] };

/** Runs a command with PostgreSQL and all replicas of the settings open, and closes them afterwards. */
export function withReplicas<T>(work: (opened: OpenReplicas) => Promise<T>): Promise<T> {
  return withStores(async ({ config, pool }) => {
    // Beside `npm start`, the address of `main` is that of the running service.
    const addresses = config.clickhouseReplicas.map(({ name, url }) => ({
      name,
      url: name === MAIN_REPLICA ? config.clickhouseUrl : url,
    }));
    const replicas = openReplicas(addresses, config.clickhouseDatabase);
    try {
      return await work({ config, pool, replicas });
    } finally {
      await Promise.all(replicas.map(({ clickhouse }) => clickhouse.close()));
    }
  });
}
