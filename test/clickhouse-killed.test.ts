import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiReadiness } from '../api/health/routes.ts';
import { embeddedClickHouse } from '../cli/embedded/clickhouse.ts';
import type { EmbeddedStore } from '../cli/embedded/store.ts';
import { isReady } from '../cli/health.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { invoice, stripeEvent } from '../core/connections/stripe/fixtures/events.ts';
import { createLogger } from '../core/tier/log.ts';
import { ago, stripeShop } from './connections/rig.ts';
import { type TestApi, type TestWorkspace, testApi } from './support/api.ts';
import { type ConsoleBrowser, signedInAs } from './support/members.ts';
import { ATTEMPTS } from './support/tenancy.ts';
import { plantVictim, type Victim } from './support/victim.ts';

/** ClickHouse is killed under a running API: only what reads clicks stops. */

/** The operations that can't be answered without clicks. Every other one must continue. */
const NEED_CLICKHOUSE = [
  'GET /api/v1/bio-pages/{id}/stats',
  'GET /api/v1/channels',
  'GET /api/v1/clicks',
  'GET /api/v1/clicks/export',
  'GET /api/v1/clicks/live',
  'GET /api/v1/enrollments',
  'GET /api/v1/enrollments/{id}',
  'GET /api/v1/links',
  'GET /api/v1/links/search',
  'GET /api/v1/me',
  'GET /api/v1/referrals/stats',
  'GET /api/v1/referrals/summary',
  'GET /api/v1/visitors',
  'GET /api/v1/visitors/{id}/journey',
  'POST /api/v1/analytics/query',
  'POST /api/v1/clicks/import',
  'POST /api/v1/shared/{token}/query',
];

const DATABASE = 'hoplog';
const directory = mkdtempSync(join(tmpdir(), 'hoplog-clickhouse-'));
let start: () => Promise<EmbeddedStore>;
let store: EmbeddedStore;
let api: TestApi;
let origin: string;
let owner: TestWorkspace;
let member: ConsoleBrowser;
let own: Victim;
let provider: Awaited<ReturnType<typeof stripeShop>>;

beforeAll(async () => {
  const startable = await embeddedClickHouse({ dataDir: directory, log: createLogger('test', 'error') });
  start = () => startable.start(new AbortController().signal);
  store = await start();
  const clickhouse = createClickHouse({ url: store.url, database: DATABASE });
  const server = createClickHouse({ url: store.url, database: 'default' });
  await migrate(server, { database: DATABASE });
  await server.close();
  api = await testApi(() => ({ clickhouse }));
  origin = await api.app.listen({ port: 0, host: '127.0.0.1' });
  owner = await api.addWorkspace({ name: 'Owner' });
  own = await plantVictim(api, owner);
  member = await signedInAs(api, owner, 'owner');
  provider = await stripeShop(api);
});
afterAll(async () => {
  await api?.close();
  await api?.deps.clickhouse.close();
  await store?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const ready = async () => {
  const response = await fetch(`${origin}/health/ready`);
  return [response.status, await response.json()];
};

test('the API is degraded and stays in service, each operation that needs no clicks works, and all return', async () => {
  await expect.poll(ready).toEqual([200, { status: 'ready' }]);
  expect((await owner.get('/channels')).status).toBe(200);
  store.kill();
  await store.exited;

  // As the probes of the chart and the health check of the image ask.
  await expect.poll(ready).toEqual([200, { status: 'degraded' }]);
  expect(await isReady(`${origin}/health/ready`)).toBe(true);
  const { body } = await apiReadiness(api.deps, false);
  expect(body.stores).toEqual({ postgres: 'up', clickhouse: 'down' });

  const { link, visitor, referrer } = own;
  const goesOn = [
    await owner.get('/links?view=records'),
    await owner.get(`/links/${link}`),
    await owner.post('/links', { destination_url: 'https://victim.example/b', name: 'B', channel: 'slack' }),
    await owner.post('/track/identify', { visitor_id: visitor, email: 'a@victim.example' }),
    await owner.post('/track/order', { visitor_id: visitor, order_id: 'b', amount: 1, currency: 'usd' }),
    await owner.post('/referrals/report-signup', { new_user_external_user_id: 'c', _vid: visitor }),
    await owner.post('/referrals/report-signup', {
      new_user_external_user_id: 'd',
      referrer_external_user_id: referrer,
    }),
    await provider.send(stripeEvent('invoice.paid', invoice('in_1', 1000), ago(0))),
    await member.call('GET', '/session'),
    await member.call('GET', '/first-steps'),
    await member.call('GET', '/links?view=records'),
  ];
  expect(goesOn.map(({ status }) => status)).toEqual([200, 200, 201, 202, 202, 200, 200, 200, 200, 200, 200]);

  const refused = new Set<string>();
  for (const { operation, method, path, body, caller } of attempts()) {
    const response = await caller.call(method, path, body === undefined ? {} : { body });
    expect([operation, response.status], response.text).not.toEqual([operation, 500]);
    if (response.status !== 503) continue;
    expect(response.headers['retry-after'], operation).toBe('1');
    refused.add(operation);
  }
  expect([...refused].sort()).toEqual(NEED_CLICKHOUSE);

  store = await start();
  await expect.poll(ready).toEqual([200, { status: 'ready' }]);
  expect((await owner.get('/channels')).status).toBe(200);
});

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const ORDER: Method[] = ['GET', 'PATCH', 'POST', 'DELETE'];

/** The owner's own calls of every operation, those that delete last. */
function attempts() {
  const all = Object.entries(ATTEMPTS).flatMap(([operation, calls]) =>
    calls(own).map(({ path, body, as }) => ({
      operation,
      method: operation.split(' ')[0] as Method,
      path,
      body,
      caller: as === 'member' ? member : owner,
    })),
  );
  return all.sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
}
