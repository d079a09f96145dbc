import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDeployment, type TestDeployment } from '../deploy/test-deployment.ts';
import { accountFor } from '../faults/accounting.ts';
import { type Link, makeLink } from '../support/first-click.ts';
import { EACH_SECOND, operator } from '../support/hoplog.ts';
import { NO_KAFKA } from '../support/kafka.ts';
import { type OwnClickHouse, ownClickHouse } from '../support/own-clickhouse.ts';
import type { Ready } from '../support/service.ts';
import { underLoad } from './deployment.ts';

/** Two replicas of ClickHouse, two workers, two processes of ingest, Kafka: each is killed under clicks. */
const LOAD = { connections: 4, paceMs: 40 };
const PATIENT = { timeout: 90_000, ...EACH_SECOND };
const INGEST = ['ingest-0', 'ingest-1'];
const DATABASE = 'hoplog';
const POLL_MS = 100;
/** Before the first click. */
const BEGINNING = new Date(Date.now() - 600_000).toISOString();

type Listed = { replicas: { name: string; state: string }[] };
type Page = { clicks: { id: string; ts: string }[]; next_cursor: string | null; watermark: string };

let deployment: TestDeployment;
let main: OwnClickHouse;
let second: OwnClickHouse;
let cli: ReturnType<typeof operator>;
let service: Ready;
let link: Link;
/** Visitors that were redirected. */
const answered: string[] = [];

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  [main, second] = await Promise.all([ownClickHouse(DATABASE), ownClickHouse(DATABASE)]);
  const replicas = { CLICKHOUSE_REPLICAS: 'main,second', CLICKHOUSE_SECOND_URL: second.url };
  const server = { clickhouseUrl: main.url, clickhouseDatabase: DATABASE };
  deployment = await createTestDeployment(replicas, server);
  cli = operator(deployment.stores, replicas);
  await deployment.start([...INGEST, 'workers-0', 'workers-1', 'api-0']);
  service = {
    api_url: `http://${deployment.host('api-0')}:3000/api/v1`,
    short_url: `http://${deployment.host('ingest-0')}:8080`,
  };
  link = await makeLink(service, deployment.key, 'launch');
}, 240_000);
afterAll(async () => {
  await deployment?.close();
  await Promise.all([main?.close(), second?.close()]);
});

const states = async () =>
  (await cli.json<Listed>('replica', 'list')).replicas.map(({ name, state }) => `${name}: ${state}`);
const untilBothRead = () => expect.poll(states, PATIENT).toEqual(['main: read', 'second: read']);

/** Adds the second replica, fills it, and lets it be read. */
async function fillSecond(): Promise<void> {
  await cli.json('replica', 'add', 'second');
  await cli.json('replica', 'fill', 'second');
  await expect.poll(async () => (await cli.run('replica', 'use', 'second')).status, PATIENT).toBe(0);
}

/** Clicks while the work runs. Each visitor is redirected. */
async function underClicks(work: () => Promise<unknown>): Promise<void> {
  const urls = INGEST.map((ingest) => `http://${deployment.host(ingest)}:8080/${link.slug}`);
  const clicked = await underLoad(urls, work, LOAD);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  answered.push(...clicked.answered);
}

const account = () => accountFor(service, deployment.key, answered);

async function order(orderId: string): Promise<void> {
  const response = await fetch(`${service.api_url}/track/order`, {
    method: 'POST',
    headers: { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ order_id: orderId, amount: 10, currency: 'usd', visitor_id: answered[0] }),
  });
  expect(response.status).toBe(202);
}

/** Ids of clicks that a poller saw, and what it must not see. */
type Polled = { seen: Set<string>; wentBack: string[] };

/** Reads a page of clicks. One replica is whole at every time, so it never fails. */
async function read(query: string): Promise<Page> {
  const response = await fetch(`${service.api_url}/clicks?limit=500&bots=include&${query}`, {
    headers: { authorization: `Bearer ${deployment.key}` },
  });
  expect([query, response.status]).toEqual([query, 200]);
  return (await response.json()) as Page;
}

/** Polls with the watermark of the previous poll: it sees each click, the newest ones again. */
async function pollSince({ seen, wentBack }: Polled, isEnough: () => boolean): Promise<void> {
  let since = BEGINNING;
  while (!isEnough()) {
    const from = `since=${encodeURIComponent(since)}`;
    let page = await read(from);
    const { watermark } = page;
    if (since !== BEGINNING && watermark < since) wentBack.push(`${since} to ${watermark}`);
    for (;;) {
      for (const { id } of page.clicks) seen.add(id);
      if (page.next_cursor === null) break;
      page = await read(`${from}&before=${encodeURIComponent(page.next_cursor)}`);
    }
    since = watermark;
    await delay(POLL_MS);
  }
}

/**
 * Polls for settled clicks after the newest one that it has. It sees each click once, but the newest one again: its
 * time is given in microseconds.
 */
async function pollSettled({ seen, wentBack }: Polled, isEnough: () => boolean): Promise<void> {
  let after = BEGINNING;
  while (!isEnough()) {
    const { clicks } = await read(`order=asc&settled=true&since_after=${encodeURIComponent(after)}`);
    for (const { id, ts } of clicks) {
      if (ts < after && after !== BEGINNING) wentBack.push(`${after} to ${ts}`);
      if (ts !== after && seen.has(id)) wentBack.push(`${id} again`);
      seen.add(id);
      after = ts;
    }
    await delay(POLL_MS);
  }
}

/** Starts a poller. `stop` waits until it has seen as many clicks as are stored. */
function start(poll: typeof pollSince) {
  const polled: Polled = { seen: new Set(), wentBack: [] };
  let stored = Number.POSITIVE_INFINITY;
  const polling = poll(polled, () => polled.seen.size >= stored);
  // Awaited by `stop`; until then an error must not end the run.
  polling.catch(() => {});
  return {
    async stop(count: number): Promise<Polled> {
      stored = count;
      await polling;
      return polled;
    },
  };
}

test('servers and workers are killed and a replica emptied under clicks: each is stored and polled once', {
  tags: 'nightly',
  timeout: 400_000,
}, async (context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  await underClicks(fillSecond);
  await order('first');
  const pollers = [start(pollSince), start(pollSettled)] as const;

  for (const server of [main, second]) {
    await underClicks(() => server.kill());
    // Read from the other one.
    await account();
    await underClicks(() => order(`while-${server.url}`));
    await server.start();
    await untilBothRead();
  }
  for (const worker of ['workers-0', 'workers-1']) {
    await underClicks(async () => {
      await deployment.kill(worker);
      await account();
      await deployment.start([worker]);
    });
  }
  await underClicks(async () => {
    await second.kill();
    await deployment.kill('workers-0');
    await second.start();
    await deployment.start(['workers-0']);
  });
  await untilBothRead();

  await underClicks(async () => {
    await cli.json('replica', 'drop', 'second');
    await second.clickhouse.command({ query: `DROP DATABASE ${DATABASE} SYNC` });
    await fillSecond();
  });
  await untilBothRead();

  const stored = await account();
  expect(stored).toBe(answered.length);
  for (const { wentBack, seen } of await Promise.all(pollers.map((poller) => poller.stop(stored)))) {
    expect(wentBack).toEqual([]);
    expect(seen.size).toBe(stored);
  }
  await expect
    .poll(async () => (await cli.run('replica', 'compare', 'second')).stdout, PATIENT)
    .toContain('have the same rows');
  const clicks = await main.hash('clicks');
  expect(clicks.rows).toBe(stored);
  expect(await second.hash('clicks')).toEqual(clicks);
  expect((await main.hash('orders FINAL')).rows).toBe(3);
});
