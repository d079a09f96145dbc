import { TEST_OWNER } from './database-url.ts';
import { onClickHouse, onPostgres } from './shared-servers.ts';
import type { StoreAddresses } from './stores.ts';

/** A backup of a PostgreSQL and a ClickHouse database. */
export type Backup = {
  /** Restores both databases in place. No client may be connected. */
  restore(): Promise<void>;
  /** Removes the copy of PostgreSQL. */
  remove(): Promise<void>;
};

/**
 * Backs up both databases. ClickHouse's backup is a `BACKUP`. PostgreSQL's is a copy on the same server, because
 * the embedded one comes without `pg_dump`; a restored database continues with higher transaction ids in either case.
 * Disconnects all clients of PostgreSQL meanwhile.
 */
export async function backUp({ databaseUrl, clickhouseDatabase: database }: StoreAddresses): Promise<Backup> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `${name}_backup`;
  await onClickHouse(`BACKUP DATABASE ${database} TO File('${database}')`);
  await onPostgres(
    `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    `CREATE DATABASE ${copy} TEMPLATE ${name}`,
    `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`,
  );
  return {
    async restore() {
      await onPostgres(
        `DROP DATABASE ${name}`,
        `CREATE DATABASE ${name} TEMPLATE ${copy} OWNER ${TEST_OWNER}`,
      );
      await onClickHouse(
        `DROP DATABASE ${database} SYNC`,
        `RESTORE DATABASE ${database} FROM File('${database}')`,
      );
    },
    remove: () => onPostgres(`DROP DATABASE ${copy}`),
  };
}
