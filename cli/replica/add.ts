import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { COMPARED_TABLES } from '../../clickhouse/copies/compared-tables.ts';
import { migrate } from '../../clickhouse/migrate.ts';
import { runQuery } from '../../clickhouse/queries/run-query.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { replicaDetails } from '../../sql/event-log/replica-details.ts';
import { addUnfilledReplica } from '../../sql/event-log/replica-fills.ts';
import { CommandFailed } from '../output.ts';

export type Added = { added: string; isNew: boolean };

/**
 * Creates the tables of a new replica, and lets the log feed it from now on.
 *
 * @param server connected to any database of its server
 * @throws {CommandFailed} when its tables have rows
 */
export async function addToReplicas(
  pool: Pool,
  { name, clickhouse }: Replica,
  server: ClickHouseClient,
  database: string,
): Promise<Added> {
  if ((await replicaDetails(pool)).some((replica) => replica.name === name))
    return { added: name, isNew: false };
  await migrate(server, { database });
  for (const table of COMPARED_TABLES) {
    const [found] = await runQuery<{ rows: string }>(clickhouse, {
      sql: `SELECT count() AS rows FROM ${table.name}`,
      params: {},
      seconds: 30,
    });
    if (found?.rows === '0') continue;
    throw new CommandFailed(
      `table ${table.name} of ${name} has rows: a replica must begin empty. Run "DROP DATABASE ${database} SYNC" on its server, and then this command again`,
    );
  }
  return { added: name, isNew: await addUnfilledReplica(pool, name) };
}
