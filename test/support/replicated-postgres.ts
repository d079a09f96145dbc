import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../cli/embedded/postgres.ts';
import type { EmbeddedStore } from '../../cli/embedded/store.ts';
import { createLogger } from '../../core/tier/log.ts';
import { bindRunning } from './bound-process.ts';
import { descendantsOf } from './descendants.ts';

export type ReplicatedPostgres = {
  /** URL of the owner, and of the tiers' role, with both hosts, the primary first. */
  urlOf(ownUrl: (url: string) => string): string;
  /** Kills all processes of the primary at once, as a lost host does. */
  killPrimary(): void;
  /** Makes the standby the primary, as Patroni or CloudNativePG do when the primary is lost. */
  promote(): Promise<void>;
  /** Runs a statement as superuser at the standby, even after its promotion. */
  onStandby<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]>;
  stop(): Promise<void>;
};

const STANDBY = 'second';

/**
 * Starts two servers, a primary and a standby. A commit is confirmed only after the standby has applied it
 * (`remote_apply`).
 */
export async function startReplicatedPostgres(directory: string): Promise<ReplicatedPostgres> {
  const log = createLogger('test-replicated-postgres', 'error');
  const [first, second] = [join(directory, 'first'), join(directory, 'second')];
  const created = await startEmbeddedPostgres({ dataDir: first, log });
  await created.stop();
  mkdirSync(second);
  await copyAsStandby(first, second, created.url);
  const { port } = created;
  const primary = await startEmbeddedPostgres({ dataDir: first, log, port });
  const releases = [bindRunning(primary.pid)];
  let standby: EmbeddedStore | null = null;
  try {
    standby = await startEmbeddedPostgres({ dataDir: second, log });
    releases.push(bindRunning(standby.pid));
    await run(primary.url, [
      `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`,
      `ALTER DATABASE hoplog SET synchronous_commit = 'remote_apply'`,
      'SELECT pg_reload_conf()',
    ]);
  } catch (error) {
    await Promise.all([standby?.stop(), primary.stop()]);
    throw error;
  }
  const { url: standbyUrl, stop: stopStandby } = standby;
  return {
    urlOf(ownUrl) {
      const { host } = new URL(standbyUrl);
      return ownUrl(primary.url).replace(/(@[^/]+)/, `$1,${host}`);
    },
    killPrimary() {
      for (const pid of [primary.pid, ...descendantsOf(primary.pid)]) process.kill(pid, 'SIGKILL');
    },
    async promote() {
      await run(standbyUrl, ['SELECT pg_promote()']);
    },
    async onStandby<Row>(statement: string) {
      return (await run(standbyUrl, [statement])) as Row[];
    },
    async stop() {
      await Promise.all([primary.stop(), stopStandby()]);
      for (const release of releases) release();
    },
  };
}

async function copyAsStandby(first: string, second: string, primaryUrl: string): Promise<void> {
  // Preserves owners and modes, because PostgreSQL refuses others.
  execFileSync('cp', ['-a', join(first, 'postgres'), join(first, 'postgres.password'), second]);
  const data = join(second, 'postgres');
  const { uid, gid } = statSync(data);
  const signal = join(data, 'standby.signal');
  await writeFile(signal, '');
  await chown(signal, uid, gid);
  const { hostname, port, username, password } = new URL(primaryUrl);
  const connection = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`;
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
}

async function run(url: string, statements: string[]): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
