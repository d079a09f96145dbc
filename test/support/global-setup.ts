import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../sql/migrate.ts';
import { createPool } from '../../sql/pool.ts';
import { startContainers } from './containers.ts';
import { databaseUrlOf } from './database-url.ts';
import { type Servers, startServers } from './servers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    clickhouseUrl: string;
    /** PostgreSQL database, migrated, that each test file's own is copied from. */
    templateDatabase: string;
  }
}

/**
 * Before the first test: servers, and one migrated PostgreSQL database to copy. The servers are those of
 * `TEST_DATABASE_URL` and `TEST_CLICKHOUSE_URL` (see `serve.ts`), containers with `TEST_STORES=containers`,
 * else embedded ones.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!process.features.typescript) {
    throw new Error(`Node ${process.version} does not run .ts files: run the tests with npm test`);
  }
  const servers = await serversOf(process.env);
  const templateDatabase = `hoplog_template_${randomBytes(6).toString('hex')}`;
  const admin = createPool(servers.databaseUrl, { statementTimeoutMs: 60_000 });
  try {
    await admin.query(`CREATE DATABASE ${templateDatabase}`);
    const template = createPool(databaseUrlOf(servers.databaseUrl, templateDatabase));
    await migrate(template);
    await template.end();
  } catch (error) {
    await admin.end();
    await servers.stop();
    throw error;
  }
  project.provide('databaseUrl', servers.databaseUrl);
  project.provide('clickhouseUrl', servers.clickhouseUrl);
  project.provide('templateDatabase', templateDatabase);
  return async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${templateDatabase} WITH (FORCE)`);
    await admin.end();
    await servers.stop();
  };
}

async function serversOf(env: NodeJS.ProcessEnv): Promise<Servers> {
  const { TEST_DATABASE_URL: databaseUrl, TEST_CLICKHOUSE_URL: clickhouseUrl } = env;
  if (databaseUrl && clickhouseUrl) return { databaseUrl, clickhouseUrl, stop: async () => {} };
  return env.TEST_STORES === 'containers' ? startContainers() : startServers();
}
