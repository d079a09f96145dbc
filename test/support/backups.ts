import { onClickHouse, onPostgres } from './shared-servers.ts';
import type { StoreAddresses } from './stores.ts';

/** A backup of a PostgreSQL and a ClickHouse database. */
export type Backup = {
  /** Puts both back as they were, in the place of what is there. Nobody may be connected. */
  restore(): Promise<void>;
  /** Removes what it holds of PostgreSQL. */
  remove(): Promise<void>;
};

/**
 * Backs both databases up, each as it stands. ClickHouse's is a `BACKUP`. PostgreSQL's is a copy on the same server, as
 * the embedded one comes without `pg_dump`: what restores it goes on with higher transaction ids in either case. Whoever
 * is connected to PostgreSQL is cut off meanwhile.
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
      await onPostgres(`DROP DATABASE ${name}`, `CREATE DATABASE ${name} TEMPLATE ${copy}`);
      await onClickHouse(
        `DROP DATABASE ${database} SYNC`,
        `RESTORE DATABASE ${database} FROM File('${database}')`,
      );
    },
    remove: () => onPostgres(`DROP DATABASE ${copy}`),
  };
}
