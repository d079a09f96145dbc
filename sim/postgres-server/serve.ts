/**
 * Prepares a PostgreSQL for simulations, in a process of its own, whose clocks and disk are real: prints the
 * superuser's address of a migrated database, and serves it until its standard input ends. With `TEST_DATABASE_URL` the
 * database is on that server.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../cli/embedded/postgres.ts';
import { createLogger } from '../../core/tier/log.ts';
import { migrate } from '../../sql/database/migrate.ts';
import { createPool } from '../../sql/database/pool.ts';
import { bindRunning } from '../../test/support/bound-process.ts';
import { databaseUrlOf } from '../../test/support/database-url.ts';
import { SIMULATED_TIME, SNAPSHOT_OF_EMPTY, STANDBY } from './simulated-time.ts';

/** A wait for a lock looks for a deadlock after this. The simulator waits longer before it goes on. */
const DEADLOCK = '4ms';

const given = process.env.TEST_DATABASE_URL ?? '';
const server = given === '' ? await startOwn() : { url: given, stop: async () => undefined };
const database = `hoplog_sim_${randomBytes(6).toString('hex')}`;
const url = databaseUrlOf(server.url, database);
// On a busy machine the end of a database takes a while.
const admin = createPool(server.url, { max: 1, statementTimeoutMs: 300_000 });
await admin.query(`CREATE DATABASE ${database}`);
// Before `pg_catalog`, so that `now()` is the simulated one, also in the defaults of columns.
await admin.query(`ALTER DATABASE ${database} SET search_path = public, pg_catalog`);
await admin.query(`ALTER DATABASE ${database} SET deadlock_timeout = '${DEADLOCK}'`);
const owner = createPool(url);
await owner.query(SIMULATED_TIME);
await migrate(owner);
await owner.query(SNAPSHOT_OF_EMPTY);
await owner.query(STANDBY);
await owner.end();
process.stdout.write(`${url}\n`);
process.stdin.resume();
process.stdin.once('end', () => void stop());
process.once('SIGTERM', () => void stop());

async function startOwn(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-sim-'));
  const log = createLogger('sim', 'error');
  const postgres = await startEmbeddedPostgres({ dataDir, log, durable: false, hasSocket: true });
  const release = bindRunning(postgres.pid);
  const url = new URL(postgres.url);
  // A query takes half of the CPU time on it.
  url.searchParams.set('host', join(dataDir, 'postgres'));
  return {
    url: url.href,
    async stop() {
      await postgres.stop();
      release();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let isStopping = false;
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  await admin.end();
  await server.stop();
  process.exit(0);
}
