import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getContainerRuntimeClient } from 'testcontainers';
import type { TestProject } from 'vitest/node';
import { clickhouseLibrary } from '../../cli/embedded/clickhouse.ts';
import { postgresBinaries } from '../../cli/embedded/postgres-binaries.ts';
import { buildPrograms } from '../../cli/programs/build.ts';
import { migrate } from '../../sql/database/migrate.ts';
import { createPool } from '../../sql/database/pool.ts';
import { startContainers } from './containers.ts';
import { databaseUrlOf, TEST_OWNER, TEST_PASSWORD, TEST_SERVICE } from './database-url.ts';
import { NO_KAFKA_PROCESSES } from './kafka.ts';
import { offerService } from './offered-service.ts';
import { HAS_PGBOUNCER, startPgBouncer } from './pgbouncer.ts';
import { COMPILED } from './program.ts';
import { scratchInMemory } from './scratch.ts';
import { selectServers } from './selection.ts';
import { type Servers, startServers } from './servers.ts';
import { LIMIT_MS } from './until.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The superuser's address. */
    databaseUrl: string;
    /** Directory of its Unix socket; empty: it has none. */
    databaseSocket: string;
    clickhouseUrl: string;
    /** Address of the service that all test files share; see `offered-service.ts`. */
    sharedServiceUrl: string;
    /** The same, through PgBouncer in transaction mode; empty where it is not installed. */
    pooledDatabaseUrl: string;
    /** PostgreSQL database, migrated, from which each test file's own is copied. */
    templateDatabase: string;
  }
}

/**
 * Prepares a run: a directory for temporary files, the programs as one file each, servers chosen by `selection.ts`, one
 * migrated PostgreSQL database to copy, and a service that starts when a file requests it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!process.features.typescript) {
    throw new Error(`Node ${process.version} does not run .ts files: run the tests with npm test`);
  }
  const scratch = scratchInMemory(process.env);
  // Test processes, and all processes that they start, inherit it through the environment.
  if (scratch !== null) process.env.TMPDIR = scratch.directory;
  process.env.TEST_PREPARED_DATA = join(tmpdir(), `hoplog-prepared-${process.pid}`);
  await buildPrograms();
  // Services that root starts run as another user, who writes there too.
  mkdirSync(COMPILED, { recursive: true });
  chmodSync(COMPILED, 0o1777);
  const servers = await serversOf(process.env);
  const templateDatabase = `hoplog_template_${randomBytes(6).toString('hex')}`;
  const admin = createPool(servers.databaseUrl, {
    connectTimeoutMs: LIMIT_MS,
    statementTimeoutMs: LIMIT_MS,
  });
  try {
    await admin.query(
      `DO $$ BEGIN CREATE ROLE ${TEST_OWNER} LOGIN CREATEROLE PASSWORD '${TEST_PASSWORD}';
       EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
    );
    await admin.query(`CREATE DATABASE ${templateDatabase} OWNER ${TEST_OWNER}`);
    const template = createPool(databaseUrlOf(servers.databaseUrl, templateDatabase, TEST_OWNER));
    await migrate(template, { service: { name: TEST_SERVICE, password: TEST_PASSWORD } });
    await template.end();
  } catch (error) {
    await admin.end();
    await servers.stop();
    scratch?.remove();
    throw error;
  }
  const roles = [TEST_SERVICE, TEST_OWNER].map((role) =>
    databaseUrlOf(servers.databaseUrl, templateDatabase, role),
  );
  const pooler = HAS_PGBOUNCER ? await startPgBouncer({ urls: [servers.databaseUrl, ...roles] }) : null;
  const shared = await offerService();
  project.provide('sharedServiceUrl', shared.url);
  project.provide('databaseUrl', servers.databaseUrl);
  project.provide('databaseSocket', servers.databaseSocket);
  project.provide('pooledDatabaseUrl', pooler?.through(servers.databaseUrl) ?? '');
  project.provide('clickhouseUrl', servers.clickhouseUrl);
  project.provide('templateDatabase', templateDatabase);
  return async () => {
    await shared.close();
    await pooler?.stop();
    await admin.query(`DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`);
    await admin.end();
    await servers.stop();
    rmSync(process.env.TEST_PREPARED_DATA ?? '', { recursive: true, force: true });
    scratch?.remove();
  };
}

async function serversOf(env: NodeJS.ProcessEnv): Promise<Servers> {
  const { TEST_DATABASE_URL: databaseUrl = '', TEST_CLICKHOUSE_URL: clickhouseUrl = '' } = env;
  const { stores, kafka } = await selectServers(env, {
    embeddedStores: hasEmbeddedStores(),
    kafkaJars: NO_KAFKA_PROCESSES === false,
    containerEngine,
  });
  process.env.TEST_KAFKA = kafka;
  if (stores === 'given') return { databaseUrl, databaseSocket: '', clickhouseUrl, stop: async () => {} };
  return stores === 'containers' ? startContainers() : startServers();
}

function hasEmbeddedStores(): boolean {
  try {
    postgresBinaries();
    clickhouseLibrary();
    return true;
  } catch {
    return false;
  }
}

async function containerEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    return false;
  }
}
