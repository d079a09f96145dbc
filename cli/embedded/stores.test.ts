import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { killed, temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { startOf, stillRuns } from '../processes/identity.ts';
import { readRecord } from '../processes/record-file.ts';
import { superviseStore } from '../supervisor/supervised-store.ts';
import { clickhouseLibrary, embeddedClickHouse, startEmbeddedClickHouse } from './clickhouse.ts';
import { unmodifiedMappings } from './mappings.ts';
import { embeddedPostgres, startEmbeddedPostgres } from './postgres.ts';

const MIB = 2 ** 20;
const log = silentLogger();
let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => directory.remove());

const dataDir = () => join(directory.path, 'data');
const recordFile = {
  postgres: () => join(dataDir(), 'postgres.server.json'),
  clickhouse: () => join(dataDir(), 'clickhouse', 'server.json'),
};
const postgres = (port?: number) =>
  startEmbeddedPostgres({ dataDir: dataDir(), log, ...(port !== undefined && { port }) });
const clickhouse = (port?: number) =>
  startEmbeddedClickHouse({ dataDir: dataDir(), log, ...(port !== undefined && { port }) });

async function sql(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function ask(url: string, query: string): Promise<unknown[]> {
  const client = createClickHouse({ url, database: 'default' });
  try {
    return await (await client.query({ query, format: 'JSONEachRow' })).json();
  } finally {
    await client.close();
  }
}

async function command(url: string, query: string): Promise<void> {
  const client = createClickHouse({ url, database: 'default' });
  try {
    await client.command({ query });
  } finally {
    await client.close();
  }
}

/** Starts a database in a child process and kills that parent, as a supervisor may be killed. */
async function killedParent(name: string, module: string): Promise<void> {
  const source = `const { ${name} } = await import(${JSON.stringify(new URL(module, import.meta.url).href)});
    const { silentLogger } = await import(${JSON.stringify(new URL('../../core/tier/log.ts', import.meta.url).href)});
    await ${name}({ dataDir: ${JSON.stringify(dataDir())}, log: silentLogger() });
    console.log('up');`;
  const parent = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(parent.stdout, 'data');
  const gone = once(parent, 'exit');
  parent.kill('SIGKILL');
  await gone;
}

test('a clock that is set while they start does not end the wait for them', async () => {
  const exact = Date.now;
  let hours = 0;
  // The clock is an hour later at each reading, as when NTP sets the clock of a booted machine.
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => exact() + hours++ * 3_600_000);
  onTestFinished(() => clock.mockRestore());
  const stores = [await postgres(), await clickhouse()];
  await Promise.all(stores.map((store) => store.stop()));
});

test('PostgreSQL preserves data across a restart', async () => {
  const first = await postgres();
  await sql(first.url, 'CREATE TABLE kept (a int); INSERT INTO kept VALUES (7)');
  await first.stop();
  const second = await postgres();
  expect(await sql(second.url, 'SELECT a FROM kept')).toEqual([{ a: 7 }]);
  await second.stop();
});

test('PostgreSQL is UTF-8, durable, and rejects connections without the password', async () => {
  const store = await postgres();
  const [row] = (await sql(
    store.url,
    `SELECT current_setting('server_encoding') e, current_setting('fsync') f, current_setting('synchronous_commit') s,
      current_setting('listen_addresses') l`,
  )) as Record<string, string>[];
  expect(row).toEqual({ e: 'UTF8', f: 'on', s: 'on', l: '127.0.0.1' });
  const stranger = new URL(store.url);
  stranger.password = 'guessed';
  await expect(sql(stranger.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  expect(statSync(join(dataDir(), 'postgres.password')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir(), 'postgres')).mode & 0o777).toBe(0o700);
  await store.stop();
});

test('the start waits for PostgreSQL when one connection takes long', async () => {
  const first = await postgres();
  await first.stop();
  appendFileSync(join(dataDir(), 'postgres', 'postgresql.conf'), "\npre_auth_delay = '6s'\n");
  const second = await postgres();
  expect(await sql(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.stop();
});

test('a PostgreSQL of a killed parent is stopped and restarted', async () => {
  await killedParent('startEmbeddedPostgres', './postgres.ts');
  const store = await postgres();
  expect(await sql(store.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await store.stop();
});

test('ClickHouse preserves data across a restart', async () => {
  const first = await clickhouse();
  await command(first.url, 'CREATE DATABASE kept ENGINE = Atomic');
  await command(first.url, 'CREATE TABLE kept.rows (a Int32) ENGINE = MergeTree ORDER BY a');
  await command(first.url, 'INSERT INTO kept.rows VALUES (7)');
  await first.stop();
  const second = await clickhouse();
  expect(await ask(second.url, 'SELECT a FROM kept.rows')).toEqual([{ a: 7 }]);
  await second.stop();
});

test('ClickHouse does not keep pages in memory that only the dynamic loader has read', async () => {
  const store = await clickhouse();
  const smaps = readFileSync(`/proc/${store.pid}/smaps`, 'utf8');
  const mapped = unmodifiedMappings(clickhouseLibrary(), smaps);
  await store.stop();
  expect(mapped.length).toBeGreaterThanOrEqual(2);
  // Relocations and other tables have 46 MiB, 14 of which are used later.
  const tables = mapped.find(({ isCode }) => !isCode);
  expect(tables?.residentBytes).toBeLessThan(30 * MIB);
});

test('ClickHouse exits with its parent, and an immediate start succeeds', async () => {
  await killedParent('startEmbeddedClickHouse', './clickhouse.ts');
  const store = await clickhouse();
  expect(await ask(store.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await store.stop();
});

test.each([
  ['postgres', () => embeddedPostgres({ dataDir: dataDir(), log }), (url: string) => sql(url, 'SELECT 1')],
  [
    'clickhouse',
    () => embeddedClickHouse({ dataDir: dataDir(), log }),
    (url: string) => ask(url, 'SELECT 1'),
  ],
] as const)('a killed %s restarts at the same address', async (name, settle, query) => {
  let pid = 0;
  const store = await settle();
  const start = async (stopping: AbortSignal) => {
    const started = await store.start(stopping);
    pid = started.pid;
    return started;
  };
  const lines: string[] = [];
  const written = pino({}, { write: (line: string) => void lines.push(line) });
  const kept = superviseStore(name, { ...store, start }, { log: written });
  await kept.firstStart;
  const killedPid = pid;
  process.kill(killedPid, 'SIGKILL');
  await expect.poll(() => pid).not.toBe(killedPid);
  expect(lines.join('')).toContain('embedded database ended by SIGKILL (out of memory?); will restart');
  await query(store.url);
  await kept.stop();
  expect(startOf(pid)).toBeNull();
});

test.each([
  ['postgres', embeddedPostgres],
  ['clickhouse', embeddedClickHouse],
] as const)('a stop ends a %s during its start', async (name, settle) => {
  const store = await settle({ dataDir: dataDir(), log });
  const kept = superviseStore(name, store, { log });
  await expect.poll(() => existsSync(recordFile[name]()), { interval: 5 }).toBe(true);
  const record = readRecord(recordFile[name]());
  await kept.stop();
  expect(record.kind).toBe('own');
  expect(record.kind === 'own' && stillRuns(record.record)).toBe(false);
});

test('on an unsupported CPU, the ClickHouse error names CLICKHOUSE_URL', async () => {
  const kept = superviseStore('clickhouse', await embeddedClickHouse({ dataDir: dataDir(), log }), { log });
  await expect.poll(() => existsSync(recordFile.clickhouse()), { interval: 5 }).toBe(true);
  const record = readRecord(recordFile.clickhouse());
  if (record.kind === 'own') process.kill(record.record.pid, 'SIGILL');
  await expect(kept.firstStart).rejects.toThrow(
    /exited with SIGILL \(this CPU lacks instructions.*set CLICKHOUSE_URL/,
  );
  await kept.stop();
});

test('a process with the directory among its arguments is not taken for PostgreSQL', async () => {
  const first = await postgres();
  await first.stop();
  const directory = join(dataDir(), 'postgres');
  // A backup program, and another program named postgres.
  const strangers = ['/usr/bin/backup', '/usr/bin/postgres'].map((argv0) =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', '-D', directory], {
      argv0,
      cwd: '/',
      stdio: 'ignore',
    }),
  );
  for (const { pid } of strangers) {
    writeFileSync(join(directory, 'postmaster.pid'), `${pid}\n${directory}\n`);
    const next = await postgres();
    expect(await sql(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await next.stop();
  }
  for (const stranger of strangers) {
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    await killed(stranger);
  }
});
