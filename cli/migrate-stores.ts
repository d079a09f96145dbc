import { renewAnalystViews } from '../clickhouse/analysts/index.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import {
  migrationsOfLater as laterInClickHouse,
  migrate as migrateClickHouse,
} from '../clickhouse/migrate.ts';
import { adviceOn } from '../core/databases/advice.ts';
import type { Config } from '../core/settings/config.ts';
import type { Address } from '../core/settings/credentials.ts';
import { MAIN_REPLICA } from '../core/settings/replicas.ts';
import {
  applyPendingMigrations,
  migrationsOfLater as laterInPostgres,
  withMigrationLock,
} from '../sql/database/migrate.ts';
import type { Pool } from '../sql/database/pool.ts';
import { serviceRoleIn } from '../sql/database/service-role.ts';
import { replicaNames } from '../sql/event-log/replica-lanes.ts';
import { addressesOfReplicas } from './stores.ts';

const MIGRATION_MS = 600_000;

export type Migrated = {
  /** Names of the migrations applied now, in order, by database: `clickhouse` is the replica `main`. */
  applied: { postgres: string[]; clickhouse: string[] } & Record<`clickhouse ${string}`, string[]>;
  /** Databases that have migrations of a later release, and replicas of ClickHouse that these settings do not name. */
  warnings: string[];
};

/**
 * Migrates both databases to the newest version: PostgreSQL, then every replica of ClickHouse that was added. One
 * process runs at a time, under PostgreSQL's lock, because ClickHouse has none.
 *
 * @param owner connects to PostgreSQL as the owner of the tables
 * @throws when a database is unreachable or a migration fails; of several replicas the others are migrated first
 */
export async function migrateStores(owner: Pool, config: Config): Promise<Migrated> {
  return withMigrationLock(owner, async (client) => {
    const postgres = await applyPendingMigrations(client, {
      service: serviceRoleIn(config.databaseUrl, config.databaseOwnerUrl),
    });
    const applied: Migrated['applied'] = { postgres, clickhouse: [] };
    const later = (await laterInPostgres(client)).map((name) => `${name} of PostgreSQL`);
    const added = await replicaNames(client);
    const addresses = addressesOfReplicas(config).filter(({ name }) => added.includes(name));
    const failures: { name: string; error: unknown }[] = [];
    for (const { name, url } of addresses) {
      try {
        const one = await migrateReplica(url, config.clickhouseDatabase);
        if (name === MAIN_REPLICA) applied.clickhouse = one.applied;
        else applied[`clickhouse ${name}`] = one.applied;
        later.push(...one.later.map((of) => `${of} of ClickHouse${addresses.length > 1 ? ` ${name}` : ''}`));
      } catch (error) {
        failures.push({ name, error });
      }
    }
    const [first] = failures;
    if (first) throw addresses.length > 1 ? failureOf(failures) : first.error;
    const unknown = added.filter((name) => !addresses.some((one) => one.name === name));
    return {
      applied,
      warnings: [...(later.length > 0 ? [warningOf(later)] : []), ...unknown.map(warningOfUnknown)],
    };
  });
}

async function migrateReplica(
  url: Address,
  database: string,
): Promise<{ applied: string[]; later: string[] }> {
  // The first migration creates the configured database.
  const clickhouse = createClickHouse({ url, database: 'default', timeoutMs: MIGRATION_MS });
  try {
    const applied = await migrateClickHouse(clickhouse, { database });
    await renewAnalystViews(clickhouse, database);
    return { applied, later: await laterInClickHouse(clickhouse, { database }) };
  } finally {
    await clickhouse.close();
  }
}

/** @param failures at least one */
function failureOf(failures: readonly { name: string; error: unknown }[]): Error {
  const named = failures.map(({ name, error }) => {
    const advice = adviceOn(error)?.message;
    const message = error instanceof Error ? error.message : String(error);
    return `${name} (${advice === undefined ? '' : `${advice}: `}${message})`;
  });
  return new Error(
    `failed to migrate ${named.join(' and ')} of CLICKHOUSE_REPLICAS; PostgreSQL and the other replicas are migrated: bring it back and run "hoplog migrate" again, or run "hoplog replica drop"`,
    { cause: failures[0]?.error },
  );
}

const warningOf = (later: string[]) =>
  `the databases were migrated by a later release of Hoplog and may not work with this one: run the later release, or restore an earlier backup (unknown migrations: ${later.join(', ')})`;

const warningOfUnknown = (name: string) =>
  `the replica ${name} is not in CLICKHOUSE_REPLICAS and was not migrated: add it to the settings, or run "hoplog replica drop ${name}"`;
