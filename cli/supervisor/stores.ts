import type { Config } from '../../core/settings/config.ts';
import type { Logger } from '../../core/tier/log.ts';
import { embeddedClickHouse } from '../embedded/clickhouse.ts';
import { type EmbeddedPostgres, embeddedPostgres } from '../embedded/postgres.ts';
import type { StartableStore } from '../embedded/store.ts';
import { type SupervisedStore, superviseStore } from './supervised-store.ts';

export type StoreName = 'postgres' | 'clickhouse';

/** Addresses of both databases, assigned before either runs. */
export type StoreAddresses = {
  databaseUrl: string;
  databaseDirectUrl: string;
  databaseOwnerUrl: string;
  clickhouseUrl: string;
};

export type Stores = {
  addresses: StoreAddresses;
  /** Runs the embedded databases, with restarts. */
  keep(deps: Parameters<typeof superviseStore>[2]): Partial<Record<StoreName, SupervisedStore>>;
};

/**
 * Returns the databases of a start: the configured ones, and embedded ones for the rest.
 *
 * @throws Error when the disk has no space for the password file of a first start
 */
export async function settleStores(
  config: Config,
  { log, onProgress }: { log: Logger; onProgress: (step: string) => void },
): Promise<Stores> {
  const { dataDir } = config;
  const embedded: { postgres?: EmbeddedPostgres; clickhouse?: StartableStore } = {};
  if (!config.databaseUrl) embedded.postgres = await embeddedPostgres({ dataDir, log, onProgress });
  if (!config.clickhouseUrl) embedded.clickhouse = await embeddedClickHouse({ dataDir, log });
  return {
    addresses: {
      databaseUrl: embedded.postgres?.serviceUrl ?? config.databaseUrl,
      databaseDirectUrl: embedded.postgres?.serviceUrl ?? config.databaseDirectUrl,
      databaseOwnerUrl: embedded.postgres?.url ?? config.databaseOwnerUrl,
      clickhouseUrl: embedded.clickhouse?.url ?? config.clickhouseUrl,
    },
    keep(deps) {
      const { postgres, clickhouse } = embedded;
      if (postgres || clickhouse) onProgress('starting the embedded databases');
      return {
        ...(postgres && { postgres: superviseStore('postgres', postgres, deps) }),
        ...(clickhouse && { clickhouse: superviseStore('clickhouse', clickhouse, deps) }),
      };
    },
  };
}
