import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelsReport } from '../clickhouse/reports/index.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import { uuidv7 } from '../core/ids.ts';
import { NANOS_PER_DAY, nowNanos } from '../core/time/timestamps.ts';
import { inTransaction } from '../sql/database/pool.ts';
import { upsertIdentities } from '../sql/orders/identities.ts';
import { joinVisitors } from '../sql/orders/joined-visitors.ts';
import { upsertOrders } from '../sql/orders/orders.ts';
import { queueEvents } from '../sql/webhooks/outbox.ts';
import { eraseRequested } from '../workers/jobs/erase.ts';
import { createWorkerMetrics } from '../workers/metrics.ts';
import { type TestApi, type TestWorkspace, testApi } from './support/api.ts';
import { operator } from './support/hoplog.ts';
import { storeClicks, storeIdentifies, storeOrders } from './support/stored-events.ts';

const EMAIL = 'ann@example.com';
const SHARED = 'family@example.com';
const LONG_AGO = nowNanos() - 3n * NANOS_PER_DAY;

let api: TestApi;
let cli: ReturnType<typeof operator>;
let shop: TestWorkspace;
let other: TestWorkspace;
const ann = uuidv7();
const bob = uuidv7();

beforeAll(async () => {
  api = await testApi();
  cli = operator(api.stores);
  shop = await api.addWorkspace({ name: 'Shop' });
  other = await api.addWorkspace();
  await storeEverything();
  // A stream whose events are all visible: old days are closed, and rolled up.
  await api.stores.pool.query(
    `INSERT INTO ingest_streams (stream_id, ordinal, name, visible_before)
     VALUES (gen_random_uuid(), 1, 'ingest-0', (extract(epoch FROM now()) * 1000000)::bigint)`,
  );
  const made = await rollUp(api.stores.clickhouse, new Date().toISOString().slice(0, 10));
  expect(made.made.length).toBeGreaterThan(0);
});
afterAll(() => api.close());

/** Three days ago and now: Ann's two clicks a day, one of them by a bot, and Bob's. */
async function storeEverything(): Promise<void> {
  const { stores } = api;
  const workspaceId = shop.workspace.id;
  const at = (nanos: bigint) => [
    { workspaceId, visitorId: ann, tsNanos: nanos, channel: 'youtube' },
    { workspaceId, visitorId: ann, tsNanos: nanos + 1_000n, channel: 'youtube', isBot: true },
    { workspaceId, visitorId: bob, tsNanos: nanos + 2_000n, channel: 'youtube' },
    { workspaceId: other.workspace.id, visitorId: ann, tsNanos: nanos + 3_000n, channel: 'youtube' },
  ];
  await storeClicks(stores, [...at(LONG_AGO), ...at(nowNanos() - 60_000_000_000n)]);
  const reports = [
    { workspaceId, visitorId: ann, email: EMAIL },
    { workspaceId, visitorId: ann, email: SHARED },
    { workspaceId, visitorId: bob, email: SHARED },
  ];
  await storeIdentifies(stores, reports);
  await upsertIdentities(
    stores.pool,
    reports.map((report) => ({ ...report, externalUserId: 'user', byServer: false, ts: 1 })),
  );
  const alone = { workspaceId, visitorId: ann, externalUserId: 'ann' };
  await storeIdentifies(stores, [alone]);
  await upsertIdentities(stores.pool, [{ ...alone, email: null, byServer: false, ts: 2 }]);
  const signups = [
    ['u-1', 'Ann@example.com'],
    ['ann', 'ann@work.example'],
    ['family', SHARED],
  ] as const;
  for (const [user, email] of signups) {
    await stores.pool.query(
      `INSERT INTO signups (id, workspace_id, external_user_id, email, device_id, state, reported_at)
       VALUES ($1, $2, $3, $4, 'device', 'pending', now())`,
      [uuidv7(), workspaceId, user, email],
    );
    const data = { external_user_id: user, email, visitor_id: null, partner_id: 'p', program_id: 'g' };
    const lead = { type: 'lead.created', data: { ...data, created_at: '2026-11-20T10:00:00Z' } } as const;
    await inTransaction(stores.pool, (tx) => queueEvents(tx, workspaceId, [lead]));
  }
  await storeOrder('by her', { visitorId: ann, email: EMAIL });
  await storeOrder('by her email', { email: EMAIL });
  await storeOrder('by the shared email', { email: SHARED });
  await storeOrder('by her user', { user: 'ann' });
  await storeOrder('by the shared user', { user: 'user' });
  await storeOrder('by him', { visitorId: bob, email: SHARED });
}

async function storeOrder(
  orderId: string,
  buyer: { visitorId?: string; email?: string; user?: string },
): Promise<void> {
  const workspaceId = shop.workspace.id;
  await storeOrders(api.stores, [
    { workspaceId, orderId, ...buyer, externalUserId: buyer.user ?? 'user', tsNanos: LONG_AGO + 9_000n },
  ]);
  const ts = Number((LONG_AGO + 9_000n) / 1_000n);
  await upsertOrders(api.stores.pool, [
    {
      ...{ workspaceId, orderId, version: 1n, source: 'server', ts, streamOrdinal: 1 },
      ...{
        visitorId: buyer.visitorId ?? null,
        email: buyer.email ?? null,
        externalUserId: buyer.user ?? 'user',
      },
      ...{ amountMinor: 1_000, currency: 'usd' },
    },
  ]);
}

type Click = { visitor_id: string };
type Journey = { visitor: { email: string }; journey: { type: string }[] };

const visitorsOf = async (workspace: TestWorkspace) => {
  const { body } = await workspace.get<{ clicks: Click[] }>('/clicks?bots=include');
  return body.clicks.map((click) => click.visitor_id);
};
const journeyOf = (visitor: string, workspace = shop) =>
  workspace.get<Journey>(`/visitors/${visitor}/journey`);
const deleteAnn = () =>
  cli.json<{ deleted: number }>('visitor', 'delete', '--workspace', 'shop', '--visitor', ann.toUpperCase());

/** Returns the clicks and visitors of YouTube, counted one by one and from roll-ups. */
async function figures(): Promise<[number, number][]> {
  const span = { from: LONG_AGO - NANOS_PER_DAY, to: nowNanos() };
  const { clickhouse } = api.stores;
  const window = { workspaceId: shop.workspace.id, span, hasDeleted: false };
  const reports = [
    await channelsReport(clickhouse, window),
    await channelsReport(clickhouse, { ...window, exactUpTo: 0 }),
  ];
  return reports.map((rows) => [rows[0]?.clicks ?? 0, rows[0]?.visitors ?? 0]);
}

describe('visitor delete', () => {
  test('removes the visitor from every response at once, and counts the entries of the journey', async () => {
    const before = await journeyOf(ann);
    expect(before.body.journey.map(({ type }) => type).sort()).toEqual([
      ...Array(4).fill('click'),
      ...Array(3).fill('identify'),
      ...Array(4).fill('order'),
    ]);
    expect(await figures()).toEqual([
      [4, 2],
      [4, 2],
    ]);
    // All but the order that may also be Bob's: he gave its email too.
    expect(await deleteAnn()).toEqual({ deleted: 10 });
    expect((await journeyOf(ann)).status).toBe(404);
    expect(new Set(await visitorsOf(shop))).toEqual(new Set([bob]));
    expect(await figures()).toEqual([
      [2, 1],
      [2, 1],
    ]);
  });

  test('leaves other visitors and other workspaces as they are', async () => {
    expect((await journeyOf(bob)).body.journey.map(({ type }) => type).sort()).toEqual([
      ...['click', 'click', 'identify', 'order', 'order'],
    ]);
    expect((await journeyOf(ann, other)).body.journey).toHaveLength(2);
    expect(await visitorsOf(other)).toEqual([ann, ann]);
  });

  test('keeps orders as revenue, without any trace of their buyer', async () => {
    const ask = `SELECT order_id, visitor_id, email, external_user_id, amount_minor FROM orders ORDER BY order_id`;
    const { rows } = await api.stores.pool.query(ask);
    const anonymous = { visitor_id: null, email: null, external_user_id: null, amount_minor: 1_000 };
    expect(rows).toEqual([
      { order_id: 'by her', ...anonymous },
      { order_id: 'by her email', ...anonymous },
      { order_id: 'by her user', ...anonymous },
      expect.objectContaining({ order_id: 'by him', visitor_id: bob, email: SHARED }),
      expect.objectContaining({ order_id: 'by the shared email', email: SHARED }),
      expect.objectContaining({ order_id: 'by the shared user', external_user_id: 'user' }),
    ]);
    const result = await api.stores.clickhouse.query({
      query: `SELECT order_id FROM orders WHERE email = '' AND external_user_id = '' AND amount_minor = 1000
        ORDER BY order_id`,
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual(
      ['by her', 'by her email', 'by her user'].map((id) => ({ order_id: id })),
    );
    const identities = await api.stores.pool.query('SELECT visitor_id, email FROM identities');
    expect(identities.rows).toEqual([{ visitor_id: bob, email: SHARED }]);
  });

  test('removes identifiers that were hers alone from signups and leads without a visitor, and keeps the user', async () => {
    const { pool } = api.stores;
    const { rows } = await pool.query(
      'SELECT external_user_id, email FROM signups ORDER BY external_user_id',
    );
    expect(rows).toEqual([
      { external_user_id: 'ann', email: null },
      { external_user_id: 'family', email: SHARED },
      { external_user_id: 'u-1', email: null },
    ]);
    const leads = await pool.query(
      "SELECT data FROM webhook_outbox WHERE type = 'lead.created' ORDER BY created_at",
    );
    expect(leads.rows.map(({ data }) => [data.external_user_id, data.email])).toEqual([
      ['u-1', null],
      ['ann', null],
      ['family', SHARED],
    ]);
  });

  test('takes the visitor out of what a browser with other ids reported', async () => {
    const { pool, clickhouse } = api.stores;
    const [visitorId, current] = [uuidv7(), uuidv7()];
    const workspaceId = shop.workspace.id;
    const reported = {
      workspaceId,
      visitorId: current,
      otherVisitorIds: [visitorId],
      email: 'both@example.com',
    };
    await storeIdentifies(api.stores, [reported]);
    await storeOrders(api.stores, [{ ...reported, orderId: 'of both' }]);
    await upsertOrders(pool, [
      {
        ...{ ...reported, orderId: 'of both', source: 'pixel', ts: 1, streamOrdinal: 1 },
        ...{ externalUserId: null, amountMinor: 1, currency: 'usd' },
      },
    ]);
    await joinVisitors(pool, [{ workspaceId, visitorIds: [visitorId, current], ts: 1 }]);
    await cli.json(...['visitor', 'delete', '--workspace', 'shop', '--visitor', visitorId]);
    expect((await journeyOf(visitorId)).status).toBe(404);
    expect((await journeyOf(current)).status).toBe(200);
    for (const table of ['orders', 'joined_visitors']) {
      const { rows } = await pool.query(`SELECT row_to_json(${table})::text AS text FROM ${table}`);
      expect(rows.filter(({ text }) => text.includes(visitorId))).toEqual([]);
    }
    for (const table of ['orders', 'identifies']) {
      const rows = await clickhouse.queries.rows({
        sql: `SELECT 1 FROM ${table} WHERE has(other_visitor_ids, {visitor:UUID})`,
        params: { visitor: visitorId },
        settings: {},
      });
      expect(rows).toEqual([]);
    }
  });

  test('removes a visitor with more emails than one ClickHouse field holds', async () => {
    const visitorId = uuidv7();
    const emails = Array.from({ length: 1_200 }, (_, n) => `${'x'.repeat(200)}${n}@example.com`);
    const reports = emails.map((email) => ({ workspaceId: shop.workspace.id, visitorId, email }));
    await storeIdentifies(api.stores, reports);
    await upsertIdentities(
      api.stores.pool,
      reports.map((report) => ({ ...report, externalUserId: null, byServer: false, ts: 1 })),
    );
    const bought = [0, 99, 100, 1_199];
    for (const n of bought) await storeOrder(`by email ${n}`, { email: emails[n] ?? '' });
    const { deleted } = await cli.json<{ deleted: number }>(
      ...['visitor', 'delete', '--workspace', 'shop', '--visitor', visitorId],
    );
    expect(deleted).toBe(1_200 + bought.length);
    expect((await journeyOf(visitorId)).status).toBe(404);
    const named = await api.stores.clickhouse.queries.rows({
      sql: `SELECT order_id FROM orders FINAL WHERE startsWith(order_id, 'by email') AND email != ''`,
      params: {},
      settings: {},
    });
    expect(named).toEqual([]);
  });

  test('succeeds when nothing is left, and covers events that are still in flight', async () => {
    expect(await deleteAnn()).toEqual({ deleted: 0 });
    const human = await cli.run('visitor', 'delete', '--workspace', 'shop', '--visitor', uuidv7());
    expect(human).toMatchObject({ status: 0, stderr: '' });
    expect(human.stdout).toMatch(/no data is stored for this visitor/);
    const { rows } = await api.stores.pool.query(`SELECT kind, done_at FROM erasures WHERE target_id = $1`, [
      ann,
    ]);
    expect(rows).toEqual([{ kind: 'visitor', done_at: null }]);
    await cli.refused(1, /no workspace/, 'visitor', 'delete', '--workspace', 'nowhere', '--visitor', ann);
  });

  test('has the workers rewrite ClickHouse without the rows', async () => {
    const { clickhouse } = api.stores;
    const stored = async () => {
      const result = await clickhouse.query({
        query: `SELECT count() AS rows FROM clicks WHERE visitor_id = {ann:UUID} AND workspace_id = {shop:UUID}`,
        query_params: { ann, shop: shop.workspace.id },
        clickhouse_settings: { apply_deleted_mask: 0 },
        format: 'JSONEachRow',
      });
      return Number((await result.json<{ rows: string }>())[0]?.rows);
    };
    expect(await stored()).toBe(4);
    const metrics = createWorkerMetrics(new Registry());
    await expect
      .poll(async () => {
        await eraseRequested({ ...api.stores, metrics });
        return stored();
      })
      .toBe(0);
  });
});
