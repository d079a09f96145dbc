import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, statSync } from 'node:fs';
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
  /** URL of the owner at the standby alone. Its port stays when it starts again. */
  standbyUrl: string;
  /** Ends the standby, and copies its data. Then it starts again. */
  copyStandby(): Promise<void>;
  /** Kills the standby and starts it from its copy, alone, as one that a provider has restored. */
  restoreStandby(): Promise<void>;
  killStandby(): void;
  /** Starts a killed standby. */
  startStandby(): Promise<void>;
  stop(): Promise<void>;
};

const STANDBY = 'second';

/**
 * Starts two servers, a primary and a standby. A commit is confirmed only after the standby has applied it
 * (`remote_apply`), unless `isSynchronous` is false.
 */
export async function startReplicatedPostgres(
  directory: string,
  { isSynchronous = true } = {},
): Promise<ReplicatedPostgres> {
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
    if (isSynchronous)
      await run(primary.url, [
        `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`,
        `ALTER DATABASE hoplog SET synchronous_commit = 'remote_apply'`,
        'SELECT pg_reload_conf()',
      ]);
  } catch (error) {
    await Promise.all([standby?.stop(), primary.stop()]);
    throw error;
  }
  let current = standby;
  const { url: standbyUrl, port: standbyPort } = standby;
  const copy = join(directory, 'copy');
  const startStandby = async () => {
    current = await startEmbeddedPostgres({ dataDir: second, log, port: standbyPort });
    releases.push(bindRunning(current.pid));
  };
  const killStandby = () => kill(current.pid);
  return {
    standbyUrl,
    killStandby,
    startStandby,
    async copyStandby() {
      await current.stop();
      execFileSync('cp', ['-a', second, copy]);
      await startStandby();
    },
    async restoreStandby() {
      killStandby();
      await current.stop();
      rmSync(second, { recursive: true, force: true });
      execFileSync('cp', ['-a', copy, second]);
      appendFileSync(
        join(second, 'postgres', 'postgresql.auto.conf'),
        `primary_conninfo = 'host=127.0.0.1 port=1'\n`,
      );
      await startStandby();
    },
    urlOf(ownUrl) {
      const { host } = new URL(standbyUrl);
      return ownUrl(primary.url).replace(/(@[^/]+)/, `$1,${host}`);
    },
    killPrimary() {
      kill(primary.pid);
    },
    async promote() {
      await run(standbyUrl, ['SELECT pg_promote()']);
    },
    async onStandby<Row>(statement: string) {
      return (await run(standbyUrl, [statement])) as Row[];
    },
    async stop() {
      await Promise.all([primary.stop(), current.stop()]);
      for (const release of releases) release();
    },
  };
}

function kill(server: number): void {
  for (const pid of [server, ...descendantsOf(server)]) process.kill(pid, 'SIGKILL');
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
