import type { Config } from '../../core/settings/config.ts';
import type { Logger } from '../../core/tier/log.ts';
import { embeddedClickHouse } from '../embedded/clickhouse.ts';
import { embeddedPostgres } from '../embedded/postgres.ts';
import type { StoreToKeep } from '../embedded/store.ts';
import { type KeptStore, keepStore } from './kept-store.ts';

export type StoreName = 'postgres' | 'clickhouse';

/** Addresses of both stores, settled before either runs. */
export type StoreAddresses = { databaseUrl: string; clickhouseUrl: string };

export type Stores = {
  addresses: StoreAddresses;
  /** Starts those that no setting names, and keeps them running. */
  keep(deps: Parameters<typeof keepStore>[2]): Partial<Record<StoreName, KeptStore>>;
};

/**
 * The stores of a start: those that the settings name, and embedded ones in place of the others.
 *
 * @throws Error when the disk has no room for the password of a first start
 */
export async function settleStores(
  config: Config,
  { log, onProgress }: { log: Logger; onProgress: (step: string) => void },
): Promise<Stores> {
  const { dataDir } = config;
  const embedded: Partial<Record<StoreName, StoreToKeep>> = {};
  if (!config.databaseUrl) embedded.postgres = await embeddedPostgres({ dataDir, log, onProgress });
  if (!config.clickhouseUrl) embedded.clickhouse = await embeddedClickHouse({ dataDir, log });
  return {
    addresses: {
      databaseUrl: embedded.postgres?.url ?? config.databaseUrl,
      clickhouseUrl: embedded.clickhouse?.url ?? config.clickhouseUrl,
    },
    keep(deps) {
      const { postgres, clickhouse } = embedded;
      if (postgres || clickhouse) onProgress('starting the embedded stores');
      return {
        ...(postgres && { postgres: keepStore('postgres', postgres, deps) }),
        ...(clickhouse && { clickhouse: keepStore('clickhouse', clickhouse, deps) }),
      };
    },
  };
}
