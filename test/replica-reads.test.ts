import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReaders } from '../analytics/replicas/open-readers.ts';
import { createApi } from '../api/app.ts';
import type { Api } from '../api/dependencies.ts';
import type { Readers } from '../clickhouse/readers/readers.ts';
import type { Replica } from '../clickhouse/replicas.ts';
import { uuidv7 } from '../core/ids.ts';
import { readConfig } from '../core/settings/config.ts';
import { silentLogger } from '../core/tier/log.ts';
import type { RegisteredStream } from '../sql/event-log/streams.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { click, heartbeat } from '../workers/test-support/events.ts';
import type { LogWriter } from '../workers/test-support/log-writer.ts';
import { addReplicaFromLog } from '../workers/test-support/replica-from-log.ts';
import { openTestJournal } from './support/journal.ts';
import { type OwnClickHouse, ownClickHouse } from './support/own-clickhouse.ts';
import { until } from './support/until.ts';
import { createRig, type Rig } from './support/worker-rig.ts';

type Page = { clicks: { id: string; ts: string }[]; next_cursor: string | null; watermark: string };

let servers: { main: OwnClickHouse; second: OwnClickHouse };
let rig: Rig;
let stream: LogWriter & RegisteredStream;
let readers: Readers;
let app: Api;
let origin: string;
let key: string;
let closeJournal: () => Promise<void>;
const link = uuidv7();
let made = 0;
let lastTs = 0;
/** While it is set, inserts into `second` wait for it. */
let gate: PromiseWithResolvers<void> | null = null;

beforeAll(async () => {
  const [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  servers = { main, second };
  rig = await createRig();
  const { pool } = rig.stores;
  stream = await rig.stream('ingest-0');
  await addReplicaFromLog(pool, 'second');
  const held = new Proxy(second.clickhouse, {
    get(target, property) {
      if (property !== 'exec') return Reflect.get(target, property);
      return async (...given: Parameters<typeof target.exec>) => {
        await gate?.promise;
        given[0].abort_signal?.throwIfAborted();
        return target.exec(...given);
      };
    },
  });
  const replicas: [Replica, Replica] = [
    { name: 'main', clickhouse: main.clickhouse },
    { name: 'second', clickhouse: second.clickhouse },
  ];
  rig.work({
    clickhouse: main.clickhouse,
    replicas: [replicas[0], { name: 'second', clickhouse: held }],
  });
  readers = openReaders(pool, replicas, silentLogger());
  const journal = await openTestJournal(rig.dataDir, { streamName: 'api-0' });
  closeJournal = () => journal.close();
  app = await createApi({
    config: readConfig({}),
    pool,
    clickhouse: main.clickhouse,
    readers,
    eventLog: journal,
    log: silentLogger(),
    registry: new Registry(),
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/v1`;
  key = (await createKey(pool, { workspaceId: rig.workspace, kind: 'secret', label: 'test' })).token;
});
afterAll(async () => {
  readers.close();
  await app.close();
  await closeJournal();
  await rig.close();
  await Promise.all([servers.main.close(), servers.second.close()]);
});

function append(count = 50): void {
  const next = () => {
    lastTs = Math.max(lastTs + 1, Date.now() * 1_000);
    return lastTs;
  };
  const { workspace } = rig;
  const clicks = Array.from({ length: count }, () =>
    click({ workspace, link, visitor: uuidv7(), ts: next() }),
  );
  stream.append([...clicks, heartbeat(next())]);
  made += count;
}

async function get<T>(path: string): Promise<{ status: number; body: T; retryAfter: string | null }> {
  const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, body: (await response.json()) as T, retryAfter };
}

async function page(query: string): Promise<Page> {
  const { status, body } = await get<Page>(`/clicks?link_id=${link}&${query}`);
  expect([status, body]).toEqual([200, body]);
  return body;
}

async function behind(): Promise<string[]> {
  const { rows } = await rig.stores.pool.query<{ replica: string }>('SELECT replica FROM replica_lanes');
  return rows.map(({ replica }) => replica);
}

const inStep = () => until('both replicas are in step', behind, (names) => names.length === 0);

/** A poller, which drops the ids that it knows. */
function createPoller(poll: (told: string, seen: (id: string) => void) => Promise<string>) {
  const counts = new Map<string, number>();
  const known = new Set<string>();
  let told = new Date(Date.now() - 60_000).toISOString();
  return {
    counts,
    async poll(): Promise<number> {
      const next = await poll(told, (id) => {
        if (known.has(id)) return;
        known.add(id);
        counts.set(id, (counts.get(id) ?? 0) + 1);
      });
      expect(next >= told, `${next} after ${told}`).toBe(true);
      told = next;
      return known.size;
    },
  };
}

/** Polls newest clicks, in several pages, from the watermark of the first page on. */
const byWatermark = () =>
  createPoller(async (told, seen) => {
    const first = await page(`since=${told}&limit=40`);
    for (let read = first; ; read = await page(`since=${told}&limit=40&before=${read.next_cursor}`)) {
      for (const { id } of read.clicks) seen(id);
      if (read.next_cursor === null) break;
    }
    return first.watermark;
  });

/** Copies settled clicks, oldest first, from the newest one on. */
function bySettled() {
  let newest = '';
  return createPoller(async (told, seen) => {
    for (;;) {
      const query = `order=asc&settled=true&limit=40&since=${newest || told}`;
      const { clicks, watermark, next_cursor: next } = await page(query);
      for (const { id } of clicks) seen(id);
      const last = clicks.at(-1)?.ts ?? newest;
      if (next === null || last === newest) return watermark;
      newest = last;
    }
  });
}

/** Listens to live clicks, and resumes where a stream broke off. */
function listenLive() {
  const counts = new Map<string, number>();
  const ending = new AbortController();
  let lastId: string | null = null;
  async function connect(): Promise<void> {
    const response = await fetch(`${origin}/clicks/live?link_ids=${link}`, {
      headers: { authorization: `Bearer ${key}`, ...(lastId && { 'last-event-id': lastId }) },
      signal: ending.signal,
    });
    expect(response.status).toBe(200);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        lastId = /^id: (.*)$/m.exec(event)?.[1] ?? lastId;
        const data = /^event: click\ndata: (.*)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        const { id } = JSON.parse(data) as { id: string };
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
  }
  const ended = (async () => {
    while (!ending.signal.aborted) await connect();
  })().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  return {
    counts,
    close: () => {
      ending.abort();
      return ended;
    },
  };
}

const once = () => Array.from({ length: made }, () => 1);

test('a replica is not read before it may be', async () => {
  append();
  await rig.settled(stream);
  await inStep();
  await servers.main.kill();
  const answer = await get('/channels');
  expect([answer.status, answer.retryAfter]).toEqual([503, '1']);
  await servers.main.start();
  await rig.stores.pool.query(`UPDATE replicas SET is_readable = true WHERE name = 'second'`);
  await until(
    'main is read again',
    () => get('/channels'),
    ({ status }) => status === 200,
  );
});

test('each poller sees each click once while one replica after the other is killed', async () => {
  const pollers = [byWatermark(), bySettled()];
  const live = listenLive();
  const seen = () => Promise.all(pollers.map((poller) => poller.poll()));
  for (const server of [servers.main, servers.second]) {
    append();
    await until('all clicks are polled', seen, (counts) => counts.every((count) => count === made));
    // The watermark was told; the next poll has to find another replica that is not behind it.
    await server.kill();
    await seen();
    expect((await get('/channels')).status).toBe(200);
    append();
    await until('all clicks are polled', seen, (counts) => counts.every((count) => count === made));
    await server.start();
    await inStep();
  }
  for (const { counts } of pollers) expect([...counts.values()]).toEqual(once());
  await until(
    'the live clicks',
    () => live.counts.size,
    (count) => count >= made - 50,
  );
  await live.close();
  expect([...live.counts.values()].every((count) => count === 1)).toBe(true);
});

test('a poller waits for a replica that is behind what it was told, others read it', async () => {
  await inStep();
  gate = Promise.withResolvers();
  append();
  await rig.settled(stream);
  expect(await behind()).toEqual(['second']);
  const { watermark, clicks } = await until(
    'the watermark of main',
    () => page('limit=500'),
    (read) => read.clicks.length === made,
  );
  expect(clicks.length).toBe(made);
  await servers.main.kill();
  const early = await get(`/clicks?link_id=${link}&since=${watermark}`);
  expect([early.status, early.retryAfter]).toEqual([503, '1']);
  expect((await get('/channels')).status).toBe(200);
  const stale = await page('limit=500');
  expect(stale.clicks.length).toBe(made - 50);
  expect(stale.watermark < watermark).toBe(true);
  const waiting = page(`since=${watermark}`);
  gate.resolve();
  gate = null;
  expect((await waiting).watermark >= watermark).toBe(true);
  expect((await page('limit=500')).clicks.length).toBe(made);
  await servers.main.start();
  await inStep();
});

test('readers of a replica that hangs get their answer from the other one, and read it again afterwards', async () => {
  await inStep();
  let stopped = servers.main.clickhouse;
  await until(
    'a replica is read',
    () => readers.read(async (clickhouse) => clickhouse),
    (clickhouse) => {
      stopped = clickhouse;
      return true;
    },
  );
  const [server, other] =
    stopped === servers.main.clickhouse ? [servers.main, servers.second] : [servers.second, servers.main];
  server.pause();
  const ended: string[] = [];
  const count = async (clickhouse: typeof stopped) => {
    const name = clickhouse === server.clickhouse ? 'hanging' : 'other';
    const sql = 'SELECT count() AS clicks FROM clicks';
    const asked = clickhouse.queries.rows<{ clicks: string }>({ sql, params: {}, settings: {} });
    return asked.finally(() => ended.push(name));
  };
  // Many at once: more than the connections of a client.
  const answers = await Promise.all(Array.from({ length: 40 }, () => readers.read(count)));
  expect(answers.map(([row]) => Number(row?.clicks))).toEqual(Array.from({ length: 40 }, () => made));
  // No request to the server that hangs has ended: not even by the client's limit.
  expect(new Set(ended)).toEqual(new Set(['other']));
  expect((await page('limit=500')).clicks.length).toBe(made);
  expect((await get('/channels')).status).toBe(200);
  expect(await readers.read(async (clickhouse) => clickhouse)).toBe(other.clickhouse);
  server.resume();
  await other.kill();
  expect(
    (
      await until(
        'the other one is read',
        () => get('/channels'),
        ({ status }) => status === 200,
      )
    ).status,
  ).toBe(200);
  await other.start();
  await inStep();
});
