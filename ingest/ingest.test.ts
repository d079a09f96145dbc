import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../core/tier/log.ts';
import {
  isCurrent,
  journalEvents,
  makeLink,
  makeWorkspace,
  startTestIngest,
} from '../test/support/ingest.ts';
import { startIngestProcess } from '../test/support/ingest-process.ts';
import { PROGRAM_ENV, programArguments } from '../test/support/program.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { until } from '../test/support/until.ts';
import { BROWSER, visit } from '../test/support/visitors.ts';
import { createExchanges } from './http/exchange.ts';
import { createPixelScript } from './pixel-script.ts';

let stores: TestStores;
let workspace: Awaited<ReturnType<typeof makeWorkspace>>;
const dirs: string[] = [];

beforeAll(async () => {
  stores = await testStores();
  workspace = await makeWorkspace(stores.pool);
});
afterAll(async () => {
  for (const dir of dirs) await rm(dir, { recursive: true, force: true });
  await stores?.close();
});

async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'hoplog-ingest-'));
  dirs.push(dir);
  return dir;
}
const environment = async () => ({ DATABASE_URL: stores.databaseUrl, DATA_DIR: await newDir() });

test('with a full journal visitors are redirected and lost clicks are counted', async () => {
  const ingest = await startTestIngest({ ...stores, env: { JOURNAL_BUDGET: '1MiB' } });
  dirs.push(ingest.dataDir);
  try {
    const open = await makeLink(stores.pool, workspace.id, 'https://example.com/');
    const limited = await makeLink(stores.pool, workspace.id, 'https://example.com/', { max_clicks: 3 });
    // A start gives no permit before it has read how many the last run spent.
    await expect.poll(async () => (await visit(`${ingest.url}/${limited.slug}`)).status).toBe(302);
    const headers = { 'user-agent': 'u'.repeat(1_000), referer: `https://e.example/${'r'.repeat(2_000)}` };
    const fillAndRead = async () => {
      const visits = Array.from({ length: 100 }, () => visit(`${ingest.url}/${open.slug}`, { headers }));
      for (const { status } of await Promise.all(visits)) expect(status).toBe(302);
      return await ingest.registry.metrics();
    };
    const isFull = (text: string) => /hoplog_ingest_lost_total\{kind="click"\} [1-9]/.test(text);
    await until('a lost click', fillAndRead, isFull, { timeoutMs: 150_000, intervalMs: 0 });
    // A smaller event may still fit.
    const body = JSON.stringify({
      key: workspace.publishable.token,
      type: 'identify',
      email: 'a@example.com',
    });
    const collect = () => visit(`${ingest.url}/collect`, { method: 'POST', body });
    const refused = await until('a refused event', collect, ({ status }) => status !== 202);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const nobody = await visit(`${ingest.url}/${limited.slug}`);
    expect([nobody.status, nobody.headers.get('retry-after')]).toEqual([503, '1']);
    const { rows } = await stores.pool.query('SELECT used FROM link_leases WHERE link_id = $1', [limited.id]);
    expect(rows).toEqual([{ used: 0 }]);
    const text = await ingest.registry.metrics();
    expect(text).toMatch(/^hoplog_ingest_redirects_total\{outcome="not_recorded"\} 1$/m);
  } finally {
    await ingest.close();
  }
});

test('a first start on a read-only volume fails and names the setting', async () => {
  const dataDir = await newDir();
  await writeFile(join(dataDir, 'ingest'), 'not a directory');
  await expect(startTestIngest({ ...stores, dataDir })).rejects.toThrow(
    /^setting DATA_DIR=.* can't be written: /,
  );
});

test('SIGTERM finishes open requests, writes the journal and exits with 0', async () => {
  const env = await environment();
  const { slug } = await makeLink(stores.pool, workspace.id, 'https://example.com/');
  const ingest = await startIngestProcess(env);
  // Until the table is current, a visitor's lookup may take longer than its limit of a second.
  await expect.poll(() => isCurrent(ingest)).toBe(true);
  let answered = 0;
  let stopping: Promise<number | null> | null = null;
  const visitor = async () => {
    for (;;) {
      const answer = await visit(`${ingest.url}/${slug}`).catch(() => null);
      if (answer === null) return;
      expect(answer.status).toBe(302);
      if (++answered === 100) stopping = ingest.stop();
    }
  };
  await Promise.all(Array.from({ length: 8 }, visitor));
  expect(await stopping).toBe(0);
  const clicks = await journalEvents(stores.pool, env.DATA_DIR);
  expect(clicks.length).toBeGreaterThanOrEqual(answered);
  // One visit of each connection may be recorded without its response arriving.
  expect(clicks.length).toBeLessThanOrEqual(answered + 8);
});

test('a taken port is a configuration error that names the setting, exit status 78', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ...(await environment()), INGEST_PORT: String(port) };
  await expect(startIngestProcess(env)).rejects.toThrow(/ended with 78: setting INGEST_PORT=.* in use/);
  const metrics = { ...env, INGEST_PORT: '0', METRICS_PORT: String(port) };
  await expect(startIngestProcess(metrics)).rejects.toThrow(/ended with 78: setting METRICS_PORT=.* in use/);
  server.close();
});

test.each([
  [{ DATABASE_URL: '' }, 'DATABASE_URL'],
  [{ TRUST_PROXY: 'everybody' }, 'TRUST_PROXY'],
  [{ INGEST_PORT: 'http' }, 'INGEST_PORT'],
])('a wrong setting (%j) ends the process with 78 and its name', async (wrong, name) => {
  const env = { ...(await environment()), ...wrong };
  await expect(startIngestProcess(env)).rejects.toThrow(new RegExp(`ended with 78: setting ${name}=`));
});

test('a missing pixel is an error that says how to build it', () => {
  expect(() =>
    createPixelScript('/nowhere/pixel.js', {
      exchanges: createExchanges(silentLogger()),
      resolver: { key: async () => null },
      policies: { linkParametersOf: () => [] },
      origin: 'http://go.example',
    }),
  ).toThrow(/pixel\.js is missing: build it with "node web\/build\.ts"/);
});

test('clients that disconnect before the response do not affect others', async () => {
  const ingest = await startTestIngest(stores);
  dirs.push(ingest.dataDir);
  try {
    const { slug } = await makeLink(stores.pool, workspace.id, 'https://example.com/');
    const { port } = new URL(ingest.url);
    const gone = (path: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${BROWSER}\r\n\r\n`);
          setImmediate(() => socket.destroy());
        });
        socket.on('close', () => resolve());
      });
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => gone(index % 2 === 0 ? `/${slug}` : `/missing-${index}`)),
    );
    expect((await visit(`${ingest.url}/${slug}`)).status).toBe(302);
  } finally {
    await ingest.close();
  }
});

test('a first start waits for PostgreSQL instead of giving up', async () => {
  const env = { ...(await environment()), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const child = spawn(process.execPath, programArguments('ingest'), {
    env: { ...PROGRAM_ENV, ...env, INGEST_PORT: '0', METRICS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [line] = (await once(child.stderr, 'data')) as [Buffer];
  expect(line.toString()).toContain('the first start needs it; will retry');
  expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
  await once(child, 'exit');
});
