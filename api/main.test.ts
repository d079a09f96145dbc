import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { PROGRAM_ENV, programArguments } from '../test/support/program.ts';
import { createSlowGate } from '../test/support/slow-gate.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';

let stores: TestStores;
let dataDir: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
  dataDir = mkdtempSync(join(tmpdir(), 'hoplog-api-'));
});
afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await stores.close();
});

type Started = { process: ChildProcess; output: () => string; errors: () => string };

function start(env: Record<string, string>): Started {
  const started = spawn(process.execPath, programArguments('api'), {
    env: { ...PROGRAM_ENV, DATA_DIR: dataDir, METRICS_PORT: '0', ...env },
  });
  child = started;
  let output = '';
  let errors = '';
  started.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  started.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  return { process: started, output: () => output, errors: () => errors };
}

async function startReady(
  databaseUrl = stores.databaseUrl,
  env: Record<string, string> = {},
): Promise<Started & { origin: string }> {
  const port = await freePort();
  const started = start({
    API_PORT: String(port),
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
    ...env,
  });
  const ended = once(started.process, 'exit').then(() => {
    throw new Error(`the API ended before it was ready: ${started.errors()}`);
  });
  ended.catch(() => undefined);
  await Promise.race([ended, expect.poll(started.output).toContain('{"event":"ready"}\n')]);
  return { ...started, origin: `http://127.0.0.1:${port}` };
}

/**
 * Waits for the end. On a busy machine a process may not close within its limit; it then exits with 1 and logs that.
 */
async function ended({ process: api, errors }: Started, exit: Promise<unknown[]>): Promise<void> {
  const [code] = await exit;
  if (code !== 0) expect([code, errors()]).toEqual([1, expect.stringContaining('closing took too long')]);
  expect(api.signalCode).toBeNull();
}

test('it reports ready, tracks, and ends with 0 on SIGTERM, also after a restart', async () => {
  const { id } = await createWorkspace(stores.pool, { name: 'Main', plan: 'pro' });
  const { token } = await createKey(stores.pool, { workspaceId: id, kind: 'secret', label: 'test' });
  for (const order_id of ['first', 'second']) {
    const started = await startReady();
    const { origin, process: api } = started;
    await expect.poll(async () => (await fetch(`${origin}/health/ready`)).status).toBe(200);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    expect((await fetch(`${origin}/api/v1/me`, { headers })).status).toBe(200);
    const order = { order_id, amount: 5, currency: 'usd', email: 'a@shop.example' };
    const tracked = await fetch(`${origin}/api/v1/track/order`, {
      method: 'POST',
      headers,
      body: JSON.stringify(order),
    });
    expect(tracked.status).toBe(202);
    const exit = once(api, 'close');
    api.kill('SIGTERM');
    await ended(started, exit);
  }
  const { rows } = await stores.pool.query('SELECT name, ordinal FROM ingest_streams');
  expect(rows).toEqual([{ name: 'api-0', ordinal: 0 }]);
});

test('a PostgreSQL that vanishes silently is 503, and is noticed when it is back', async () => {
  const gate = await createSlowGate(stores.databaseUrl);
  const { origin } = await startReady(gate.url);
  const { id } = await createWorkspace(stores.pool, { name: 'Vanished', plan: 'pro' });
  const { token } = await createKey(stores.pool, { workspaceId: id, kind: 'secret', label: 'test' });
  const me = async () =>
    (await fetch(`${origin}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await me()).toBe(200);
  gate.holdAnswers('all');
  expect(await me()).toBe(503);
  gate.holdAnswers('none');
  await expect.poll(me).toBe(200);
  await gate.close();
});

test('a request in flight is completed before the process ends', async () => {
  const started = await startReady();
  const { origin, process: api } = started;
  const blocker = await stores.pool.connect();
  const { id } = await createWorkspace(stores.pool, { name: 'Slow', plan: 'pro' });
  const { token } = await createKey(stores.pool, { workspaceId: id, kind: 'secret', label: 'test' });
  await blocker.query('BEGIN');
  await blocker.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
  const answer = fetch(`${origin}/api/v1/folders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"name":"F"}',
  });
  await expect
    .poll(async () => {
      const { rows } = await stores.pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length;
    })
    .toBe(1);
  const exit = once(api, 'close');
  api.kill('SIGTERM');
  await blocker.query('COMMIT');
  blocker.release();
  expect((await answer).status).toBe(201);
  await ended(started, exit);
});

/**
 * Returns a process's responses over one connection, before and after a SIGTERM; only the first if its drain ended
 * earlier.
 */
async function askedAroundSigterm(): Promise<string[]> {
  const started = await startReady();
  const { origin, process: api } = started;
  const port = Number(new URL(origin).port);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const ask = async () => {
    const answer = Promise.race([once(socket, 'data').catch(() => undefined), closed]);
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    const [data] = (await answer) ?? [];
    return data === undefined ? [] : [String(data)];
  };
  const before = await ask();
  const exit = once(api, 'close');
  api.kill('SIGTERM');
  const refused = () =>
    new Promise<boolean>((resolve) => {
      const tried = connect(port, '127.0.0.1', () => resolve(false)).once('error', () => resolve(true));
      tried.unref().end();
    });
  await expect.poll(refused).toBe(true);
  const after = await ask();
  await closed;
  await ended(started, exit);
  return [...before, ...after];
}

test('after SIGTERM an open connection is served once more, and told to close', async () => {
  let answers: string[] = [];
  // A drain takes two seconds at most. A busy machine may not send the second request in time.
  for (let attempt = 0; attempt < 5 && answers.length < 2; attempt++) answers = await askedAroundSigterm();
  expect(answers).toEqual([
    expect.stringMatching(/^HTTP\/1.1 200 [\s\S]*\r\nconnection: keep-alive\r\n/i),
    expect.stringMatching(/^HTTP\/1.1 200 [\s\S]*\r\nconnection: close\r\n/i),
  ]);
});

test('it trusts every address as a proxy where TRUST_PROXY says so, as ingest does', async () => {
  const { origin } = await startReady(undefined, { TRUST_PROXY: '0.0.0.0/0, ::/0' });
  const headers = { 'x-forwarded-for': '203.0.113.9, nonsense' };
  await expect.poll(async () => (await fetch(`${origin}/health/ready`, { headers })).status).toBe(200);
});

test('a wrong setting ends it with 78 and is named', async () => {
  const wrong = start({ API_PORT: 'many', DATABASE_URL: 'postgres://x', CLICKHOUSE_URL: 'http://x' });
  expect(await once(wrong.process, 'exit')).toEqual([78, null]);
  expect(wrong.errors()).toContain('API_PORT="many"');
  const stranger = start({
    TRUST_PROXY: 'garbage',
    DATABASE_URL: 'postgres://x',
    CLICKHOUSE_URL: 'http://x',
  });
  expect(await once(stranger.process, 'exit')).toEqual([78, null]);
  expect(stranger.errors()).toMatch(/^setting TRUST_PROXY="garbage": [^\n]*\n$/);
  const missing = start({ CLICKHOUSE_URL: 'http://x' });
  expect(await once(missing.process, 'exit')).toEqual([78, null]);
  expect(missing.errors()).toContain('DATABASE_URL');
});

test.each(['API_PORT', 'METRICS_PORT'])(
  'a port in use ends it with 78 and one line that names %s',
  async (setting) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const refused = start({
      API_PORT: '0',
      LOG_LEVEL: 'silent',
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
      [setting]: String(port),
    });
    expect(await once(refused.process, 'exit')).toEqual([78, null]);
    expect(refused.errors()).toBe(
      `setting ${setting}="${port}": port ${port} on 127.0.0.1 is in use already\n`,
    );
    server.close();
  },
);
