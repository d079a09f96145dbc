import { existsSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { temporaryDirectory } from '../../test/support/process-fixtures.ts';
import {
  nativeHello,
  strangerAttempts,
  strangerQueries,
  tryAll,
} from '../../test/support/stranger-attempts.ts';
import { startEmbeddedClickHouse } from './clickhouse.ts';
import { startEmbeddedPostgres } from './postgres.ts';

const log = silentLogger();
const SECRET = 'only the owner reads this';
let directory: ReturnType<typeof temporaryDirectory>;
let secret: string;
let written: string;

beforeEach(() => {
  directory = temporaryDirectory();
  secret = join(directory.path, 'secret.txt');
  written = join(directory.path, 'written.txt');
  writeFileSync(secret, SECRET, { mode: 0o600 });
});

afterEach(() => directory.remove());

const dataDir = () => join(directory.path, 'data');

async function rows(url: string, query: string): Promise<unknown[]> {
  const client = createClickHouse({ url, database: 'default' });
  try {
    return await client.queries.rows({ sql: query, params: {}, settings: {} });
  } finally {
    await client.close();
  }
}

test('ClickHouse rejects every request without the password', async () => {
  const store = await startEmbeddedClickHouse({ dataDir: dataDir(), log });
  const client = createClickHouse({ url: store.url, database: 'default' });
  await client.command({ query: 'CREATE DATABASE kept ENGINE = Atomic' });
  await client.command({ query: 'CREATE TABLE kept.rows (a Int32) ENGINE = MergeTree ORDER BY a' });

  const attempts = strangerAttempts('hoplog', strangerQueries(secret, written));
  const outcomes = await tryAll(store.port, attempts);
  const letIn = attempts.flatMap((attempt, at) =>
    outcomes[at]?.status === 404 ? [] : [attempt, outcomes[at]],
  );
  expect(letIn).toEqual([]);
  expect(JSON.stringify(outcomes)).not.toContain(SECRET);
  expect(existsSync(written)).toBe(false);
  expect((await nativeHello(store.port)).toString('latin1')).toMatch(/^(HTTP\/1\.[01] 4\d\d|$)/);

  expect((await client.ping()).success).toBe(true);
  expect(await rows(store.url, 'SELECT count() AS n FROM kept.rows')).toEqual([{ n: '0' }]);
  expect(await rows(store.url, "SELECT name FROM system.databases WHERE name IN ('kept', 'mine')")).toEqual([
    { name: 'kept' },
  ]);
  for (const file of ['password', 'users.xml', 'config.xml']) {
    expect(statSync(join(dataDir(), 'clickhouse', file)).mode & 0o777).toBe(0o600);
  }
  await client.close();
  await store.stop();
});

test("ClickHouse's default user has no second session, even behind the router", async () => {
  const store = await startEmbeddedClickHouse({ dataDir: dataDir(), log });
  const { username, password } = new URL(store.url);
  const Authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  for (const sql of strangerQueries(secret, written)) {
    const path = '/?user=default&password=&max_sessions_for_user=0';
    const [outcome] = await tryAll(store.port, [
      { method: 'POST', path, headers: { Authorization }, body: sql },
    ]);
    expect(outcome?.body).toContain('USER_SESSION_LIMIT_EXCEEDED');
  }
  await store.stop();
});

test('ClickHouse rejects requests without the password until it has stopped', async () => {
  const store = await startEmbeddedClickHouse({ dataDir: dataDir(), log });
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const statuses = new Set<number>();
  let refusals = 0;
  let ended = false;
  async function insist(): Promise<void> {
    while (!ended) {
      const status = await new Promise<number>((resolve) => {
        const sent = request({ agent, host: '127.0.0.1', port: store.port, method: 'POST' }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        });
        sent.on('error', () => resolve(0));
        sent.end(`SELECT file('${secret}')`);
      });
      statuses.add(status);
      refusals += status === 404 ? 1 : 0;
    }
  }
  const insisting = [insist(), insist(), insist(), insist()];
  await expect.poll(() => refusals).toBeGreaterThanOrEqual(100);
  await store.stop();
  ended = true;
  await Promise.all(insisting);
  agent.destroy();
  expect([...statuses].filter((status) => status !== 0)).toEqual([404]);
});

test('the next start secures a data directory with an open ClickHouse and preserves its rows', async () => {
  const first = await startEmbeddedClickHouse({ dataDir: dataDir(), log });
  const client = createClickHouse({ url: first.url, database: 'default' });
  await client.command({ query: 'CREATE DATABASE kept ENGINE = Atomic' });
  await client.command({ query: 'CREATE TABLE kept.rows (a Int32) ENGINE = MergeTree ORDER BY a' });
  await client.command({ query: 'INSERT INTO kept.rows VALUES (7)' });
  await client.close();
  await first.stop();
  const home = join(dataDir(), 'clickhouse');
  const open = '<users><default><password></password><profile>default</profile></default></users>';
  writeFileSync(join(home, 'users.xml'), `<clickhouse>${open}<profiles><default/></profiles></clickhouse>`);

  const second = await startEmbeddedClickHouse({ dataDir: dataDir(), log });
  expect(await rows(second.url, 'SELECT a FROM kept.rows')).toEqual([{ a: 7 }]);
  const [outcome] = await tryAll(second.port, strangerAttempts('hoplog', [`SELECT file('${secret}')`]));
  expect(outcome?.status).toBe(404);
  await second.stop();
});

test('PostgreSQL rejects every user without the password and listens on no socket file', async () => {
  const store = await startEmbeddedPostgres({ dataDir: dataDir(), log });
  const { password } = new URL(store.url);
  for (const user of ['hoplog', 'postgres', 'root', 'nobody']) {
    for (const database of ['hoplog', 'postgres', 'template1']) {
      for (const guess of ['', 'guessed', user, password.slice(1)]) {
        const client = new pg.Client({
          host: '127.0.0.1',
          port: store.port,
          user,
          password: guess,
          database,
        });
        await expect(client.connect()).rejects.toThrow(/password/);
        await client.end().catch(() => {});
      }
    }
  }
  const client = new pg.Client({ connectionString: store.url });
  await client.connect();
  const { rows: rules } = await client.query('SELECT DISTINCT auth_method FROM pg_hba_file_rules');
  expect(rules).toEqual([{ auth_method: 'scram-sha-256' }]);
  const { rows: sockets } = await client.query("SELECT current_setting('unix_socket_directories') AS path");
  expect(sockets).toEqual([{ path: '' }]);
  await client.end();
  await store.stop();
});
