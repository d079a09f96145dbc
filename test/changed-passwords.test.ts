import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { clickhouseLibrary } from '../cli/embedded/clickhouse.ts';
import { CLICKHOUSE_USER, configXml, usersXml } from '../cli/embedded/clickhouse-config.ts';
import { freePort } from '../cli/embedded/free-port.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { insertBlock } from '../clickhouse/inserts/insert-block.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { readConfig } from '../core/settings/config.ts';
import { type CredentialSource, openCredentials } from '../core/settings/credentials.ts';
import { createPool } from '../sql/database/pool.ts';
import { type TestWorkspace, testApi } from './support/api.ts';
import { TEST_SERVICE } from './support/database-url.ts';
import { onPostgres } from './support/shared-servers.ts';
import { type TestStores, testStores } from './support/stores.ts';
import { LIMIT_MS, until } from './support/until.ts';

/** Passwords that change at real servers while a process runs, as docs/operations/passwords.md says. */

const PAGE = new URL('../docs/operations/passwords.md', import.meta.url);
/** The page's statement with these words. */
function statement(words: string): string {
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/```(?:sql|sh)\n(.*?)\n```/gs)].map(
    ([, text]) => text,
  );
  const found = blocks.find((text) => text?.includes(words));
  if (found === undefined) throw new Error(`the page has no block with ${words}`);
  return found;
}

const directory = mkdtempSync(join(tmpdir(), 'hoplog-passwords-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Line = { level: number; msg: string; settings?: string[]; setting?: string };

/** Credentials of a database in a file, and the lines that a process logs. */
function given(source: CredentialSource, env: NodeJS.ProcessEnv) {
  const lines: Line[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Line) });
  const credentials = openCredentials(source, readConfig(env)[source], { log, env });
  return { lines, log, credentials };
}

/** Writes as the page does. */
const write = (path: string, password: string) => writeFileSync(path, `${password}\n`);

const statusOf = async (shop: TestWorkspace, path: string) => {
  const { status, headers } = await shop.get(path);
  return [status, headers['retry-after']];
};

describe('PostgreSQL', () => {
  const role = `hoplog_test_rotated_${process.pid}`;
  const file = join(directory, 'postgres-service-password');
  /** The API's database, apart from the one of its workspaces: a key that it reads there is unknown. */
  let stores: TestStores;
  const READ = [401, undefined];
  beforeAll(async () => {
    stores = await testStores();
    await onPostgres(`CREATE ROLE ${role} LOGIN PASSWORD 'old-password' IN ROLE ${TEST_SERVICE}`);
    write(file, 'old-password');
  });
  afterAll(async () => {
    await stores?.close();
    await onPostgres(`DROP ROLE ${role}`);
  });

  async function start() {
    const url = new URL(stores.databaseUrl);
    url.username = role;
    url.password = '';
    const env = { DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: file };
    const { lines, log, credentials } = given('databaseUrl', env);
    const pool = createPool(credentials, { connectTimeoutMs: LIMIT_MS });
    const api = await testApi(() => ({ pool, log }));
    onTestFinished(async () => {
      await api.close();
      await pool.end();
    });
    const shop = await api.addWorkspace();
    return { lines, read: () => statusOf(shop, '/folders') };
  }

  /** Runs the page's statement, and closes the connections, as a restart would: the next request signs in. */
  async function change(password: string): Promise<void> {
    const sql = statement('ALTER ROLE').replace('hoplog_service', role).replace('new-password', password);
    await onPostgres(sql, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
  }

  test('changed at the server, then in the file: 503 and one line in between, no restart', async () => {
    const { lines, read } = await start();
    expect(await read()).toEqual(READ);
    await change('new-password');
    await expect.poll(read).toEqual([503, '10']);
    for (let call = 0; call < 5; call++) expect(await read()).toEqual([503, '10']);
    expect(lines.filter(({ level }) => level >= 50)).toMatchObject([
      { msg: expect.stringContaining('DATABASE_PASSWORD_FILE'), settings: ['DATABASE_PASSWORD_FILE'] },
    ]);
    write(file, 'new-password');
    await expect.poll(read).toEqual(READ);
    expect(lines.filter(({ setting }) => setting === 'DATABASE_PASSWORD_FILE')).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/(old|new)-password/);
  });

  test('changed in the file, then at the server: no request is refused', async () => {
    const { lines, read } = await start();
    expect(await read()).toEqual(READ);
    write(file, 'third-password');
    expect(await read()).toEqual(READ);
    await change('third-password');
    // The pool may hand out a connection before it knows that it was closed.
    await expect.poll(read).toEqual(READ);
    expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
  });
});

describe('ClickHouse', () => {
  const file = join(directory, 'clickhouse-password');
  const home = join(directory, 'clickhouse');
  let port: number;
  let stop: () => Promise<void>;

  /** Starts a ClickHouse that lets any user sign in, as a server does, with this password in `users.xml`. */
  async function start(password: string): Promise<void> {
    const dataPath = join(home, 'data');
    mkdirSync(dataPath, { recursive: true });
    const config = configXml({ dataPath, port, password });
    writeFileSync(join(home, 'config.xml'), config.replace(/<headers><Authorization>.*?<\/headers>/g, ''));
    writeFileSync(join(home, 'users.xml'), usersXml(password));
    const program = new URL('../cli/embedded/clickhouse-child.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [program, clickhouseLibrary()], {
      cwd: home,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env.PATH, TZ: 'UTC' },
    });
    const exited = once(child, 'exit');
    stop = async () => {
      child.stdin.end();
      await exited;
    };
    await until('the response of ClickHouse', () =>
      fetch(`http://127.0.0.1:${port}/ping`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }
  beforeAll(async () => {
    port = await freePort();
    await start('old-password');
  });
  afterAll(() => stop?.());

  test('changed at the server, then in the file: 503 and one line in between, no restart', async () => {
    write(file, 'old-password');
    const { lines, log, credentials } = given('clickhouseUrl', {
      CLICKHOUSE_URL: `http://${CLICKHOUSE_USER}@127.0.0.1:${port}`,
      CLICKHOUSE_PASSWORD_FILE: file,
    });
    const server = createClickHouse({ url: credentials, database: 'default' });
    await migrate(server, { database: 'hoplog' });
    const clickhouse = createClickHouse({ url: credentials, database: 'hoplog' });
    const api = await testApi(() => ({ clickhouse, log }));
    onTestFinished(async () => {
      await api.close();
      await Promise.all([clickhouse.close(), server.close()]);
    });
    const shop = await api.addWorkspace();
    const ready = async () => (await api.app.inject('/health/ready')).json();
    expect(await statusOf(shop, '/channels')).toEqual([200, undefined]);
    await expect.poll(ready).toEqual({ status: 'ready' });

    expect(statement('ALTER USER')).toContain('IDENTIFIED BY');
    await stop();
    await start('new-password');
    await expect.poll(() => statusOf(shop, '/channels')).toEqual([503, '10']);
    for (let call = 0; call < 5; call++) expect(await statusOf(shop, '/channels')).toEqual([503, '10']);
    await expect.poll(ready).toEqual({ status: 'degraded' });
    expect(lines.filter(({ level }) => level >= 50)).toMatchObject([
      { msg: expect.stringContaining('CLICKHOUSE_PASSWORD_FILE'), settings: ['CLICKHOUSE_PASSWORD_FILE'] },
    ]);
    const rows = { table: 'clicks', block: [], token: 'a' } as const;
    await expect(insertBlock(clickhouse, rows)).rejects.toMatchObject({ kind: 'credentials' });
    await expect(server.command({ query: 'SELECT 1' })).rejects.toMatchObject({ kind: 'credentials' });

    write(file, 'new-password');
    await expect.poll(() => statusOf(shop, '/channels')).toEqual([200, undefined]);
    await expect.poll(ready).toEqual({ status: 'ready' });
    // Inserts and commands, of the other client, with the same credentials.
    await server.command({ query: 'SELECT 1' });
    expect(lines.filter(({ setting }) => setting === 'CLICKHOUSE_PASSWORD_FILE')).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/(old|new)-password/);
  });
});
