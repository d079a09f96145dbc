import { Readable } from 'node:stream';
import type { ExecParams } from '@clickhouse/client';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hideLinks } from '../../clickhouse/erasures.ts';
import { type ClickRow, clickBlock } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { lifetimeValues } from '../../clickhouse/questions/lifetime-values.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import type { EventSource } from '../../core/events/types.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/log.ts';
import { orderVersion } from '../../core/order-version.ts';
import { upsertIdentities } from '../../sql/identities.ts';
import { upsertOrders } from '../../sql/orders.ts';
import { advanceStreams, registerStream } from '../../sql/streams.ts';
import { createWorkspace, updateWorkspace } from '../../sql/workspaces.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { type AttributionDependencies, attributeOrders } from './attribute.ts';

const DAY = 86_400_000_000;
const NOW = Date.UTC(2026, 10, 20) * 1000;
const NOBODY = '00000000-0000-0000-0000-000000000000';

let stores: TestStores;
let dependencies: AttributionDependencies;
let workspaceId: string;
let sequence = 0n;
let orders = 0;

beforeAll(async () => {
  stores = await testStores();
  const { pool, clickhouse } = stores;
  const metrics = createWorkerMetrics(new Registry());
  dependencies = { pool, clickhouse, metrics, log: silentLogger() };
  const stream = await registerStream(pool, 'ingest-0');
  await advanceStreams(pool, [{ ...stream, highWater: 0n, visibleBefore: NOW }]);
});
afterAll(() => stores.close());
beforeEach(async () => {
  workspaceId = (await createWorkspace(stores.pool, { name: 'Shop', plan: 'pro' })).id;
});

async function click(given: {
  visitor: string;
  link: string;
  ts: number;
  channel?: string;
  bot?: boolean;
}): Promise<void> {
  const channel = given.channel ?? 'twitter';
  const row: ClickRow = {
    event: clickKey({
      ts: given.ts,
      workspaceId: uuidToBytes(workspaceId),
      linkId: uuidToBytes(given.link),
      visitorId: uuidToBytes(given.visitor),
    }),
    enriched: {
      country: '',
      city: '',
      device: 'desktop',
      browser: 'Chrome',
      os: 'Linux',
      isBot: given.bot ?? false,
      channel,
      referer: '',
    },
    ordinal: 0,
    sequence: sequence++,
  };
  await insertBlock(stores.clickhouse, { table: 'clicks', block: clickBlock([row]), token: `t${sequence}` });
}

type Reported = {
  ts: number;
  visitor?: string;
  email?: string;
  amount?: number;
  currency?: string;
  source?: EventSource;
  orderId?: string;
};

async function order(given: Reported): Promise<string> {
  const orderId = given.orderId ?? `order-${orders++}`;
  const source = given.source ?? 'pixel';
  await upsertOrders(stores.pool, [
    {
      workspaceId,
      orderId,
      version: orderVersion(source, BigInt(given.ts) * 1000n),
      source,
      ts: given.ts,
      streamOrdinal: 0,
      visitorId: given.visitor ?? null,
      email: given.email ?? null,
      externalUserId: null,
      amountMinor: given.amount ?? 1000,
      currency: given.currency ?? 'usd',
    },
  ]);
  return orderId;
}

async function identify(visitorId: string, email: string): Promise<void> {
  await upsertIdentities(stores.pool, [
    { workspaceId, visitorId, email, externalUserId: null, byServer: false, ts: 1 },
  ]);
}

async function credits(orderId: string) {
  await attributeOrders(dependencies);
  const result = await stores.clickhouse.query({
    query: `SELECT link_id, channel, toInt64(amount_minor) AS amount, share, first_channel
      FROM order_credits_by_time FINAL WHERE workspace_id = {workspace:UUID} AND order_id = {order:String}
        AND NOT replaced ORDER BY version, part`,
    query_params: { workspace: workspaceId, order: orderId },
    format: 'JSONEachRow',
  });
  return (
    await result.json<{ link_id: string; channel: string; amount: string; first_channel: string }>()
  ).map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** A worker that is killed when it has sent its credits. Answers what lets them arrive. */
async function sentAndKilled(): Promise<() => Promise<void>> {
  let sent: (() => Promise<void>) | undefined;
  const exec = async ({ values, ...insert }: ExecParams & { values: Readable }) => {
    const block: Buffer[] = [];
    for await (const piece of values) block.push(piece);
    sent = async () => {
      const { stream } = await stores.clickhouse.exec({ ...insert, values: Readable.from(block) });
      for await (const _ of stream);
    };
    throw new Error('killed');
  };
  const clickhouse = Object.create(stores.clickhouse, { exec: { value: exec } });
  await expect(attributeOrders({ ...dependencies, clickhouse })).rejects.toThrow('killed');
  if (!sent) throw new Error('nothing was sent');
  return sent;
}

const hide = (targetId: string) => hideLinks(stores.clickhouse, [{ workspaceId, targetId }]);

/** An order a day ago, shared by two links with a click four days ago and two. */
async function sharedOrder() {
  const [visitor, one, two] = [uuidv7(), uuidv7(), uuidv7()];
  await updateWorkspace(stores.pool, workspaceId, { attribution_model: 'linear' });
  await click({ visitor, link: one, ts: NOW - 4 * DAY });
  await click({ visitor, link: two, ts: NOW - 2 * DAY });
  return { visitor, one, two, orderId: await order({ ts: NOW - DAY, visitor }) };
}

describe('attributeOrders', () => {
  it('waits until the watermark has passed the order', async () => {
    const orderId = await order({ ts: NOW, visitor: uuidv7() });
    expect(await credits(orderId)).toEqual([]);
  });

  it('counts clicks in the window before the order, without bots', async () => {
    const visitor = uuidv7();
    const [early, right, late, bot] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const ts = NOW - DAY;
    await click({ visitor, link: early, ts: ts - 30 * DAY - 1, channel: 'tiktok' });
    await click({ visitor, link: right, ts: ts - 30 * DAY, channel: 'reddit' });
    await click({ visitor, link: bot, ts: ts - DAY, bot: true });
    await click({ visitor, link: late, ts });
    const orderId = await order({ ts, visitor });
    expect(await credits(orderId)).toEqual([
      { link_id: right, channel: 'reddit', amount: 1000, share: 1, first_channel: 'tiktok' },
    ]);
  });

  it("uses the workspace's model of the time when the order was first seen", async () => {
    const visitor = uuidv7();
    const [one, two] = [uuidv7(), uuidv7()];
    await click({ visitor, link: one, ts: NOW - 3 * DAY });
    await click({ visitor, link: two, ts: NOW - 2 * DAY });
    await updateWorkspace(stores.pool, workspaceId, { attribution_model: 'linear' });
    const orderId = await order({ ts: NOW - DAY, visitor, amount: 999 });
    await updateWorkspace(stores.pool, workspaceId, { attribution_model: 'first_click' });
    expect((await credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([
      [one, 500],
      [two, 499],
    ]);
  });

  it('joins visitors that share an email, one hop and no further', async () => {
    const [buyer, sharer, stranger] = [uuidv7(), uuidv7(), uuidv7()];
    await identify(buyer, 'a@example.com');
    await identify(sharer, 'a@example.com');
    await identify(sharer, 'b@example.com');
    await identify(stranger, 'b@example.com');
    const [near, far] = [uuidv7(), uuidv7()];
    await click({ visitor: sharer, link: near, ts: NOW - 3 * DAY });
    await click({ visitor: stranger, link: far, ts: NOW - 2 * DAY });
    const orderId = await order({ ts: NOW - DAY, visitor: buyer });
    expect((await credits(orderId)).map((row) => row.link_id)).toEqual([near]);
  });

  it("finds visitors by the order's own email when it names no visitor", async () => {
    const visitor = uuidv7();
    const link = uuidv7();
    await identify(visitor, 'own@example.com');
    await click({ visitor, link, ts: NOW - 2 * DAY });
    const orderId = await order({ ts: NOW - DAY, email: 'own@example.com' });
    expect((await credits(orderId)).map((row) => row.link_id)).toEqual([link]);
  });

  it('credits no link with an order that names nobody, and keeps its revenue', async () => {
    await click({ visitor: uuidv7(), link: uuidv7(), ts: NOW - 2 * DAY });
    expect(await credits(await order({ ts: NOW - DAY }))).toEqual([
      { link_id: NOBODY, channel: '', amount: 1000, share: 1, first_channel: '' },
    ]);
  });

  it('joins more visitors than the store takes in one field', async () => {
    const visitors = Array.from({ length: 8_000 }, () => uuidv7());
    const email = 'everybody@example.com';
    const ids = visitors.map((visitorId) => ({
      workspaceId,
      visitorId,
      email,
      externalUserId: null,
      byServer: false,
      ts: 1,
    }));
    await upsertIdentities(stores.pool, ids);
    const [first, last] = [uuidv7(), uuidv7()];
    await click({ visitor: visitors[0] ?? '', link: first, ts: NOW - 3 * DAY, channel: 'reddit' });
    await click({ visitor: visitors.at(-1) ?? '', link: last, ts: NOW - 2 * DAY });
    await updateWorkspace(stores.pool, workspaceId, { attribution_model: 'linear' });
    const orderId = await order({ ts: NOW - DAY, email });
    expect(await credits(orderId)).toMatchObject([
      { link_id: first, first_channel: 'reddit' },
      { link_id: last, first_channel: 'reddit' },
    ]);
  });

  it('works out orders of very many visitors a few at a time, each by the newest of them', async () => {
    const { pool } = stores;
    const email = 'flood@example.com';
    const [newest, link] = [uuidv7(), uuidv7()];
    await pool.query(
      `INSERT INTO identities (workspace_id, visitor_id, email, first_ts, last_ts)
       SELECT $1, gen_random_uuid(), $2, n, n FROM generate_series(1, 10500) AS n`,
      [workspaceId, email],
    );
    await upsertIdentities(pool, [
      { workspaceId, visitorId: newest, email, externalUserId: null, byServer: false, ts: 20_000 },
    ]);
    await click({ visitor: newest, link, ts: NOW - 2 * DAY });
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) ids.push(await order({ ts: NOW - DAY + n, email }));
    expect(await attributeOrders(dependencies)).toBe(true);
    const { rows } = await pool.query(
      'SELECT count(*)::int AS done FROM orders WHERE workspace_id = $1 AND credited_version = version',
      [workspaceId],
    );
    expect(rows).toEqual([{ done: 5 }]);
    for (const orderId of ids) {
      expect((await credits(orderId)).map((row) => row.link_id)).toEqual([link]);
    }
  });

  it('credits a batch of orders whose ids are as long as they may be', async () => {
    const long = (n: number) => '🧾'.repeat(196) + String(n).padStart(4, '0');
    for (let n = 0; n < 200; n++) await order({ ts: NOW - DAY, visitor: uuidv7(), orderId: long(n) });
    expect(await credits(long(199))).toHaveLength(1);
  });

  it("never joins another workspace's visitors", async () => {
    const visitor = uuidv7();
    await click({ visitor, link: uuidv7(), ts: NOW - 2 * DAY });
    await identify(visitor, 'shared@example.com');
    workspaceId = (await createWorkspace(stores.pool, { name: 'Other', plan: 'pro' })).id;
    const orderId = await order({ ts: NOW - DAY, visitor, email: 'shared@example.com' });
    expect((await credits(orderId)).map((row) => row.link_id)).toEqual([NOBODY]);
  });

  it('leaves deleted links out', async () => {
    const visitor = uuidv7();
    const [kept, deleted] = [uuidv7(), uuidv7()];
    await click({ visitor, link: kept, ts: NOW - 3 * DAY });
    await click({ visitor, link: deleted, ts: NOW - 2 * DAY });
    await hide(deleted);
    const orderId = await order({ ts: NOW - DAY, visitor });
    expect((await credits(orderId)).map((row) => row.link_id)).toEqual([kept]);
  });

  it("converts into the workspace's currency, and to nothing where there is no rate", async () => {
    await stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ('jpy', 'usd', 0.0067)`,
    );
    const yen = await order({ ts: NOW - DAY, amount: 1500, currency: 'jpy' });
    const krona = await order({ ts: NOW - DAY, amount: 1500, currency: 'sek' });
    expect((await credits(yen)).map((row) => row.amount)).toEqual([1005]);
    expect((await credits(krona)).map((row) => row.amount)).toEqual([0]);
    const { values } = await dependencies.metrics.ordersWithoutRate.get();
    expect(values).toMatchObject([{ value: 1, labels: { currency: 'sek' } }]);
  });

  it('replaces the credits when a better report of the order comes', async () => {
    const { orderId, visitor, one } = await sharedOrder();
    expect(await credits(orderId)).toHaveLength(2);
    await order({ orderId, ts: NOW - 3 * DAY, visitor, source: 'server', amount: 700 });
    expect((await credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[one, 700]]);
  });

  it("keeps the clicks of the pixel's visitor when a server that names none reports the order, whichever is first", async () => {
    const [visitor, link] = [uuidv7(), uuidv7()];
    await click({ visitor, link, ts: NOW - 2 * DAY });
    const after = await order({ ts: NOW - DAY, visitor, amount: 500 });
    const before = await order({ ts: NOW - DAY, source: 'server', amount: 700 });
    expect((await credits(after)).map((row) => [row.link_id, row.amount])).toEqual([[link, 500]]);
    expect((await credits(before)).map((row) => [row.link_id, row.amount])).toEqual([[NOBODY, 700]]);
    await order({ orderId: after, ts: NOW - DAY + 1, source: 'server', amount: 700 });
    await order({ orderId: before, ts: NOW - DAY + 1, visitor, amount: 500 });
    for (const orderId of [after, before]) {
      expect((await credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[link, 700]]);
    }
    // Another report of the server's counts, and the visitor stays.
    await order({ orderId: after, ts: NOW - 1.5 * DAY, source: 'server', amount: 900 });
    expect((await credits(after)).map((row) => [row.link_id, row.amount])).toEqual([[link, 900]]);
  });

  it('replaces credits of which nobody noted how many parts they have', async () => {
    const { orderId, visitor, one } = await sharedOrder();
    expect(await credits(orderId)).toHaveLength(2);
    await stores.pool.query('UPDATE orders SET noted_credits = NULL WHERE order_id = $1', [orderId]);
    await order({ orderId, ts: NOW - 3 * DAY, visitor, source: 'server', amount: 700 });
    expect((await credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[one, 700]]);
  });

  it('replaces credits that a killed worker has sent and that arrive last', async () => {
    const { orderId, visitor, one } = await sharedOrder();
    const first = await sentAndKilled();
    await order({ orderId, ts: NOW - 3 * DAY, visitor, source: 'server', amount: 700 });
    const second = await sentAndKilled();
    await hide(one);
    expect(await credits(orderId)).toEqual([
      { link_id: NOBODY, channel: '', amount: 700, share: 1, first_channel: '' },
    ]);
    await order({ orderId, ts: NOW - 3.5 * DAY, visitor, source: 'server', amount: 800 });
    const third = await sentAndKilled();
    expect((await credits(orderId)).map((row) => row.amount)).toEqual([800]);
    for (const arrive of [third, second, first]) await arrive();
    expect((await credits(orderId)).map((row) => row.amount)).toEqual([800]);
  });

  it('leaves an order for the next batch that is reported again while its credits are worked out', async () => {
    const visitor = uuidv7();
    const link = uuidv7();
    await click({ visitor, link, ts: NOW - 4 * DAY });
    const [again, other] = [await order({ ts: NOW - DAY, visitor }), await order({ ts: NOW - DAY, visitor })];
    let reported = false;
    const questions = Object.create(stores.clickhouse.questions, {
      rows: {
        value: async (...given: Parameters<typeof stores.clickhouse.questions.rows>) => {
          if (!reported)
            await order({ orderId: again, ts: NOW - 2 * DAY, visitor, source: 'server', amount: 700 });
          reported = true;
          return stores.clickhouse.questions.rows(...given);
        },
      },
    });
    const clickhouse = Object.create(stores.clickhouse, { questions: { value: questions } });
    await attributeOrders({ ...dependencies, clickhouse });
    const stored = `SELECT order_id, toUInt32(amount_minor) AS amount FROM order_credits_by_time
      WHERE workspace_id = {workspace:UUID}`;
    const rows = async () => {
      const params = { workspace: workspaceId };
      return (
        await stores.clickhouse.query({ query: stored, query_params: params, format: 'JSONEachRow' })
      ).json();
    };
    expect(await rows()).toEqual([{ order_id: other, amount: 1_000 }]);
    expect((await credits(again)).map((row) => row.amount)).toEqual([700]);
    expect(await rows()).toHaveLength(2);
  });

  it('replaces the parts that a try before has had beyond those of this one', async () => {
    const { orderId, one, two } = await sharedOrder();
    const before = await sentAndKilled();
    await hide(two);
    await order({ ts: NOW - DAY }); // another batch, which the store can't take for the one that was sent
    expect((await credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[one, 1_000]]);
    await before();
    expect(await credits(orderId)).toHaveLength(1);
  });

  it('does not write credits again that stood before a crash', async () => {
    const visitor = uuidv7();
    const link = uuidv7();
    await click({ visitor, link, ts: NOW - 3 * DAY });
    const orderId = await order({ ts: NOW - DAY, visitor });
    await credits(orderId);
    await stores.pool.query('UPDATE orders SET credited_version = NULL WHERE order_id = $1', [orderId]);
    await click({ visitor, link: uuidv7(), ts: NOW - 2 * DAY });
    expect((await credits(orderId)).map((row) => row.link_id)).toEqual([link]);
    const { rows } = await stores.pool.query(
      'SELECT credited_version = version AS done FROM orders WHERE order_id = $1',
      [orderId],
    );
    expect(rows).toEqual([{ done: true }]);
  });

  it('shares the work with other workers, each order once', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push(await order({ ts: NOW - DAY + i }));
    await Promise.all([1, 2, 3].map(() => attributeOrders(dependencies)));
    const result = await stores.clickhouse.query({
      query: `SELECT count() AS written, uniqExact(order_id) AS orders FROM order_credits_by_time
        WHERE order_id IN {ids:Array(String)}`,
      query_params: { ids },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ written: '30', orders: '30' }]);
  });
});

describe('the lifetime value of a channel', () => {
  const [twitter, button, facebook] = [uuidv7(), uuidv7(), uuidv7()];

  /** Clicks, a day apart, and then an order of 1,000, not yet attributed. */
  async function bought(clicks: [link: string, channel: string][]): Promise<string> {
    const visitor = uuidv7();
    for (const [n, [link, channel]] of clicks.entries())
      await click({ visitor, link, channel, ts: NOW - (9 - n) * DAY });
    return order({ ts: NOW - DAY, visitor });
  }

  const values = async (hasDeleted = true) =>
    Object.fromEntries(await lifetimeValues(stores.clickhouse, workspaceId, hasDeleted));

  it('keeps an order that is credited to a bio button which is deleted', async () => {
    await credits(
      await bought([
        [twitter, 'twitter'],
        [button, 'bio'],
      ]),
    );
    expect(await values(false)).toEqual({ twitter: 1_000n });
    await hide(button);
    expect(await values()).toEqual({ twitter: 1_000n });
  });

  it('loses an order to the next channel when the bio button that came first is deleted', async () => {
    await credits(
      await bought([
        [button, 'bio'],
        [facebook, 'facebook'],
        [twitter, 'twitter'],
      ]),
    );
    await credits(await bought([[button, 'bio']]));
    expect(await values()).toEqual({ bio: 2_000n });
    await hide(uuidv7());
    expect(await values()).toEqual({ bio: 2_000n });
    await hide(button);
    expect(await values()).toEqual({ facebook: 1_000n });
  });

  it('counts an order alike whether it is attributed before or after the bio button is deleted', async () => {
    const clicks: [string, string][] = [
      [button, 'bio'],
      [facebook, 'facebook'],
      [button, 'bio'],
    ];
    await credits(await bought(clicks));
    const after = await bought(clicks);
    await hide(button);
    await credits(after);
    expect(await values()).toEqual({ facebook: 2_000n });
  });

  it('stays with bio as long as one of the buttons that came first is left', async () => {
    await updateWorkspace(stores.pool, workspaceId, { attribution_model: 'linear' });
    const [another, later] = [uuidv7(), uuidv7()];
    await credits(
      await bought([
        [button, 'bio'],
        [another, 'bio'],
        [facebook, 'facebook'],
        [later, 'bio'],
      ]),
    );
    await hide(button);
    expect(await values()).toEqual({ bio: 1_000n });
    await hide(another);
    expect(await values()).toEqual({ facebook: 1_000n });
  });

  it('has nothing of a report of an order that was replaced', async () => {
    const orderId = await bought([
      [button, 'bio'],
      [facebook, 'facebook'],
    ]);
    await credits(orderId);
    await order({ orderId, ts: NOW - 2 * DAY, visitor: uuidv7(), source: 'server', amount: 700 });
    await credits(orderId);
    await hide(button);
    expect(await values()).toEqual({});
  });
});
