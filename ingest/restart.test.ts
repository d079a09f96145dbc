import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { retireStream } from '../sql/event-log/streams.ts';
import { clickLinks } from '../test/support/clicker.ts';
import { isCurrent, journalEvents, makeLink, makeWorkspace } from '../test/support/ingest.ts';
import { type IngestProcess, startIngestProcess } from '../test/support/ingest-process.ts';
import { keepConnection } from '../test/support/kept-connection.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { until } from '../test/support/until.ts';
import { BROWSER, visit } from '../test/support/visitors.ts';

let stores: TestStores;
let dataDir: string;
let slug: string;

beforeAll(async () => {
  stores = await testStores();
  dataDir = await mkdtemp(join(tmpdir(), 'hoplog-ingest-'));
  const workspace = await makeWorkspace(stores.pool);
  slug = (await makeLink(stores.pool, workspace.id, 'https://example.com/')).slug;
});
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
  await stores?.close();
});

/** Starts a process, and waits until its table has the link: until then, a visitor waits for PostgreSQL. */
async function startCurrent(env: Record<string, string>): Promise<IngestProcess> {
  const ingest = await startIngestProcess(env);
  await expect.poll(() => isCurrent(ingest)).toBe(true);
  return ingest;
}

/** Whether a visitor's lookup waits for a lock. */
async function isHeldUp(): Promise<boolean> {
  const { rowCount } = await stores.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%slug%' AND query NOT LIKE '%link_changes%'`,
  );
  return (rowCount ?? 0) > 0;
}

test('after SIGTERM an open connection gets one more response, with Connection: close', async () => {
  let answered = 0;
  /** Requests on one connection from SIGTERM on. Returns whether a response announced that it is the last one. */
  const isTold = async () => {
    const ingest = await startCurrent({
      DATABASE_URL: stores.databaseUrl,
      DATA_DIR: dataDir,
      STREAM_NAME: 'ended',
    });
    const { ask, ended } = await keepConnection(ingest.url);
    const isLast = async () => {
      const { status, headers } = await ask('GET', `/${slug}`, '', { 'User-Agent': BROWSER });
      expect(status).toBe(302);
      answered += 1;
      return headers.connection === 'close';
    };
    expect(await isLast()).toBe(false);
    const stopped = ingest.stop();
    let isOver = false;
    try {
      while (!isOver) isOver = await isLast();
    } catch (error) {
      // The process ends connections after 1.5 seconds. A slow machine may send no request within that time.
      expect(String(error)).toContain('the connection ended');
    }
    await ended;
    expect(await stopped).toBe(0);
    return isOver;
  };
  await until('a response that ends its connection', isTold);
  expect(await journalEvents(stores.pool, dataDir, 'ended')).toHaveLength(answered);
});

for (const [table, env] of [
  ['in memory', {}],
  ['on disk', { INGEST_LINKS_IN_MEMORY: '10' }],
] as const) {
  test(`with a PostgreSQL that hangs and a table ${table} visitors get a response after SIGTERM, and the exit is 0`, async () => {
    const settings = {
      DATABASE_URL: stores.databaseUrl,
      DATA_DIR: dataDir,
      STREAM_NAME: `hanging-${table.replace(' ', '-')}`,
    };
    const ingest = await startCurrent({ ...settings, ...env });
    await expect.poll(async () => (await visit(`${ingest.url}/${slug}`)).status).toBe(302);
    const holder = await stores.pool.connect();
    await holder.query('BEGIN; LOCK TABLE links, link_changes IN ACCESS EXCLUSIVE MODE');
    const waiting = connect(Number(new URL(ingest.url).port), '127.0.0.1');
    const answered = once(waiting, 'data');
    waiting.write(`GET /not-known HTTP/1.1\r\nHost: x\r\nUser-Agent: ${BROWSER}\r\n\r\n`);
    // PostgreSQL ends its statement after five seconds.
    await expect.poll(isHeldUp, { interval: 50 }).toBe(true);
    const status = await ingest.stop();
    expect(String((await answered)[0])).toMatch(/^HTTP\/1.1 503 /);
    await holder.query('ROLLBACK');
    holder.release();
    expect(status).toBe(0);
  });
}

test('a process whose stream was retired restarts with another stream', async () => {
  const env = { DATABASE_URL: stores.databaseUrl, DATA_DIR: dataDir, STREAM_NAME: 'retired' };
  const streams = async () => {
    const { rows } = await stores.pool.query<{ stream_id: string; state: string }>(
      `SELECT stream_id, state FROM ingest_streams WHERE name = 'retired' ORDER BY ordinal`,
    );
    return rows;
  };
  const visitOnce = async () => {
    const ingest = await startCurrent(env);
    expect((await visit(`${ingest.url}/${slug}`)).status).toBe(302);
    expect(await ingest.stop()).toBe(0);
  };
  await visitOnce();
  for (const { stream_id } of await streams()) await retireStream(stores.pool, stream_id);
  await visitOnce();
  await visitOnce();
  expect((await streams()).map(({ state }) => state)).toEqual(['retired', 'active']);
  expect(await journalEvents(stores.pool, dataDir, 'retired')).toHaveLength(3);
});

test('processes that share a port restart one after the other without a refused visitor', async () => {
  const port = String(await freePort());
  const start = (name: string) =>
    startCurrent({
      DATABASE_URL: stores.databaseUrl,
      DATA_DIR: dataDir,
      STREAM_NAME: name,
      INGEST_PORT: port,
      INGEST_SHARE_PORT: 'true',
    });
  const names = ['shared-0', 'shared-1'];
  const processes = new Map<string, IngestProcess>();
  for (const name of names) processes.set(name, await start(name));
  const stop = new AbortController();
  const load = {
    urls: [`http://127.0.0.1:${port}/${slug}`],
    connections: 6,
    seconds: 100,
    signal: stop.signal,
  };
  const clicking = [clickLinks({ ...load, paceMs: 2 }), clickLinks({ ...load, newConnections: true })];
  const clicksOf = async (name: string) => (await journalEvents(stores.pool, dataDir, name)).length;
  for (const name of names) {
    await expect.poll(() => clicksOf(name)).toBeGreaterThan(0);
    expect(await processes.get(name)?.stop()).toBe(0);
    const before = await clicksOf(name);
    processes.set(name, await start(name));
    await expect.poll(() => clicksOf(name)).toBeGreaterThan(before);
  }
  stop.abort();
  const [keepAlive, perRequest] = await Promise.all(clicking);
  for (const { stop } of processes.values()) expect(await stop()).toBe(0);

  expect([keepAlive?.refused, perRequest?.refused]).toEqual([new Map(), new Map()]);
  // Linux resets the accepted connections of a closed listener, unless it may hand them over.
  const atMost = mayHandOver() ? 0 : 6 * names.length;
  expect((keepAlive?.unanswered.length ?? 0) + (perRequest?.unanswered.length ?? 0)).toBeLessThanOrEqual(
    atMost,
  );
  const answered = new Set([...(keepAlive?.answered ?? []), ...(perRequest?.answered ?? [])]);
  const journals = await Promise.all(names.map((name) => journalEvents(stores.pool, dataDir, name)));
  expect(journals.flat().length).toBeGreaterThanOrEqual(answered.size);
});

function mayHandOver(): boolean {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
