import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../../cli/embedded/clickhouse.ts';
import { startEmbeddedPostgres } from '../../cli/embedded/postgres.ts';
import type { EmbeddedStore } from '../../cli/embedded/store.ts';
import { createLogger } from '../../core/tier/log.ts';
import { migrate } from '../../sql/database/migrate.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import type { Bench } from './bench.ts';

const log = createLogger('bench', 'error');
/** Longer than for a request, to fill tables. */
const STATEMENT_MS = 3_600_000;

/** Starts the embedded PostgreSQL in the benchmark's directory, or in `dataDir`, durable as in production. */
export async function startPostgres(
  bench: Bench,
  dataDir = join(bench.directory, 'postgres-data'),
): Promise<EmbeddedStore> {
  const store = await startEmbeddedPostgres({ dataDir, log });
  bench.defer(() => store.stop());
  return store;
}

/** Starts the embedded ClickHouse in the benchmark's directory, or in `dataDir`. */
export async function startClickHouse(
  bench: Bench,
  dataDir = join(bench.directory, 'clickhouse-data'),
): Promise<EmbeddedStore> {
  const store = await startEmbeddedClickHouse({ dataDir, log });
  bench.defer(() => store.stop());
  return store;
}

/** Creates a migrated database on the server, and a pool for it. */
export async function makeDatabase(
  bench: Bench,
  serverUrl: string,
  name: string,
): Promise<{ url: string; pool: Pool }> {
  const server = createPool(serverUrl, { max: 1, statementTimeoutMs: STATEMENT_MS });
  await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await server.query(`CREATE DATABASE ${name}`);
  await server.end();
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const pool = createPool(address.href, { statementTimeoutMs: STATEMENT_MS });
  bench.defer(() => pool.end());
  await migrate(pool);
  return { url: address.href, pool };
}
