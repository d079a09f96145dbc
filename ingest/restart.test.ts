import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { retireStream } from '../sql/event-log/streams.ts';
import { clickLinks } from '../test/support/clicker.ts';
import { isCurrent, journalEvents, makeLink, makeWorkspace } from '../test/support/ingest.ts';
import { type IngestProcess, startIngestProcess } from '../test/support/ingest-process.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
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

/** Requests the link on an open connection. Returns the head of the response. */
async function ask(socket: Socket): Promise<string> {
  const answer = once(socket, 'data');
  socket.write(`GET /${slug} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${BROWSER}\r\n\r\n`);
  return String((await answer)[0]);
}

/** Whether a visitor's lookup waits for a lock. */
async function isHeldUp(): Promise<boolean> {
  const { rowCount } = await stores.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%slug%' AND query NOT LIKE '%link_changes%'`,
  );
  return (rowCount ?? 0) > 0;
}

async function refusesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

test('after SIGTERM an open connection gets one more response, with Connection: close', async () => {
  const ingest = await startIngestProcess({
    DATABASE_URL: stores.databaseUrl,
    DATA_DIR: dataDir,
    STREAM_NAME: 'ended',
  });
  const port = Number(new URL(ingest.url).port);
  const socket = connect(port, '127.0.0.1');
  expect(await ask(socket)).toMatch(/^HTTP\/1.1 302 (?![\s\S]*connection: close)/i);
  const stopped = ingest.stop();
  await expect.poll(() => refusesConnections(port), { interval: 5 }).toBe(true);
  const ended = once(socket, 'end');
  expect(await ask(socket)).toMatch(/^HTTP\/1.1 302 [\s\S]*\r\nconnection: close\r\n/i);
  await ended;
  expect(await stopped).toBe(0);
  expect(await journalEvents(stores.pool, dataDir, 'ended')).toHaveLength(2);
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
    const ingest = await startIngestProcess({ ...settings, ...env });
    await expect.poll(() => isCurrent(ingest)).toBe(true);
    expect((await visit(`${ingest.url}/${slug}`)).status).toBe(302);
    const holder = await stores.pool.connect();
    await holder.query('BEGIN; LOCK TABLE links, link_changes IN ACCESS EXCLUSIVE MODE');
    const waiting = connect(Number(new URL(ingest.url).port), '127.0.0.1');
    const answered = once(waiting, 'data');
    waiting.write(`GET /not-known HTTP/1.1\r\nHost: x\r\nUser-Agent: ${BROWSER}\r\n\r\n`);
    await expect.poll(isHeldUp).toBe(true);
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
    const ingest = await startIngestProcess(env);
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
    startIngestProcess({
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
  for (const name of names) {
    await delay(300);
    expect(await processes.get(name)?.stop()).toBe(0);
    processes.set(name, await start(name));
  }
  await delay(300);
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
  for (const clicks of journals) expect(clicks.length).toBeGreaterThan(0);
  expect(journals.flat().length).toBeGreaterThanOrEqual(answered.size);
});

function mayHandOver(): boolean {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
