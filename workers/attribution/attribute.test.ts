import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import {
  type AttributionRig,
  createAttributionRig,
  DAY,
  NOBODY,
  NOW,
  type Reported,
} from '../../test/support/attribution-rig.ts';
import { attribute } from './attribute.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
});
beforeEach(() => rig.newWorkspace());
afterAll(() => rig.close());

describe('attribute', () => {
  it('waits until the watermark has passed the order', async () => {
    const orderId = await rig.order({ ts: NOW, visitor: uuidv7() });
    expect(await rig.credits(orderId)).toEqual([]);
  });

  it('counts clicks in the window before the order, without bots', async () => {
    const visitor = uuidv7();
    const [early, right, late, bot] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const ts = NOW - DAY;
    await rig.click({ visitor, link: early, ts: ts - 30 * DAY - 1, channel: 'tiktok' });
    await rig.click({ visitor, link: right, ts: ts - 30 * DAY, channel: 'reddit' });
    await rig.click({ visitor, link: bot, ts: ts - DAY, bot: true });
    await rig.click({ visitor, link: late, ts });
    const orderId = await rig.order({ ts, visitor });
    expect(await rig.credits(orderId)).toEqual([
      { link_id: right, channel: 'reddit', amount: 1000, share: 1, first_channel: 'tiktok' },
    ]);
  });

  it("uses the workspace's model of the time when the order was first seen", async () => {
    const visitor = uuidv7();
    const [one, two] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link: one, ts: NOW - 3 * DAY });
    await rig.click({ visitor, link: two, ts: NOW - 2 * DAY });
    await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'linear' });
    const orderId = await rig.order({ ts: NOW - DAY, visitor, amount: 999 });
    await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'first_click' });
    expect((await rig.credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([
      [one, 500],
      [two, 499],
    ]);
  });

  it('joins visitors that share an email, one hop and no further', async () => {
    const [buyer, sharer, stranger] = [uuidv7(), uuidv7(), uuidv7()];
    await rig.identify(buyer, 'a@example.com');
    await rig.identify(sharer, 'a@example.com');
    await rig.identify(sharer, 'b@example.com');
    await rig.identify(stranger, 'b@example.com');
    const [near, far] = [uuidv7(), uuidv7()];
    await rig.click({ visitor: sharer, link: near, ts: NOW - 3 * DAY });
    await rig.click({ visitor: stranger, link: far, ts: NOW - 2 * DAY });
    const orderId = await rig.order({ ts: NOW - DAY, visitor: buyer });
    expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([near]);
  });

  it.each([
    ['last_click', (_a: string, b: string) => [[b, 1000]]],
    ['first_click', (a: string) => [[a, 1000]]],
    [
      'linear',
      (a: string, b: string) => [
        [a, 500],
        [b, 500],
      ],
    ],
  ] as const)(
    'counts the clicks of all ids of the browser that bought, under %s',
    async (model, expected) => {
      await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: model });
      const [older, newer, elsewhere] = [uuidv7(), uuidv7(), uuidv7()];
      const [a, b] = [uuidv7(), uuidv7()];
      await rig.click({ visitor: older, link: a, ts: NOW - 3 * DAY });
      await rig.click({ visitor: newer, link: b, ts: NOW - 2 * DAY });
      // The newest id may come from another workspace, whose shop shares the domain.
      const orderId = await rig.order({ ts: NOW - DAY, visitor: elsewhere, others: [newer, older] });
      expect((await rig.credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual(expected(a, b));
    },
  );

  it('joins visitors that were reported together before, one hop and no further', async () => {
    const [buyer, same, stranger] = [uuidv7(), uuidv7(), uuidv7()];
    await rig.join(buyer, same);
    await rig.join(same, stranger);
    const [near, far] = [uuidv7(), uuidv7()];
    await rig.click({ visitor: same, link: near, ts: NOW - 3 * DAY });
    await rig.click({ visitor: stranger, link: far, ts: NOW - 2 * DAY });
    const orderId = await rig.order({ ts: NOW - DAY, visitor: buyer, source: 'server' });
    expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([near]);
  });

  it("keeps the ids of the pixel's report where the server's names no visitor, whichever came first", async () => {
    const pixel = { visitor: uuidv7(), others: [uuidv7()], source: 'pixel' } as const;
    const link = uuidv7();
    await rig.click({ visitor: pixel.others[0] ?? '', link, ts: NOW - 3 * DAY });
    const server = { source: 'server', ts: NOW - DAY } as const;
    for (const [orderId, reports] of [
      ['pixel first', [{ ...pixel, ts: NOW - DAY - 1 }, server]],
      ['server first', [server, { ...pixel, ts: NOW - DAY + 1 }]],
    ] as const) {
      for (const report of reports) await rig.order({ ...report, orderId });
      expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([link]);
    }
  });

  it("finds visitors by the order's own email when it names no visitor", async () => {
    const visitor = uuidv7();
    const link = uuidv7();
    await rig.identify(visitor, 'own@example.com');
    await rig.click({ visitor, link, ts: NOW - 2 * DAY });
    const orderId = await rig.order({ ts: NOW - DAY, email: 'own@example.com' });
    expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([link]);
  });

  it('finds the visitor of an order that names only its user: the one that signed up as it, else the one last identified as it', async () => {
    const { pool } = rig.stores;
    const [older, newer, signedUp] = [uuidv7(), uuidv7(), uuidv7()];
    const links = new Map<string, string>();
    for (const visitor of [older, newer, signedUp]) {
      links.set(visitor, uuidv7());
      await rig.click({ visitor, link: links.get(visitor) ?? '', ts: NOW - 2 * DAY });
    }
    const said = { workspaceId: rig.workspaceId, externalUserId: 'u-1', byServer: true };
    await upsertIdentities(pool, [
      { ...said, visitorId: older, email: 'older@example.com', ts: 1 },
      { ...said, visitorId: newer, email: null, ts: 2 },
    ]);
    const credited = async (given: Partial<Reported>) =>
      (await rig.credits(await rig.order({ ts: NOW - DAY, user: 'u-1', ...given }))).map(
        (row) => row.link_id,
      );
    expect(await credited({})).toEqual([links.get(newer)]);
    expect(await credited({ visitor: older })).toEqual([links.get(older)]);
    expect(await credited({ user: 'u-2' })).toEqual([NOBODY]);
    await pool.query(
      `INSERT INTO signups (id, workspace_id, external_user_id, visitor_id, state, reported_at)
       VALUES (gen_random_uuid(), $1, 'u-1', $2, 'pending', now())`,
      [rig.workspaceId, signedUp],
    );
    expect(await credited({})).toEqual([links.get(signedUp)]);
  });

  it('attributes an order without a visitor to no link, and keeps its revenue', async () => {
    await rig.click({ visitor: uuidv7(), link: uuidv7(), ts: NOW - 2 * DAY });
    expect(await rig.credits(await rig.order({ ts: NOW - DAY }))).toEqual([
      { link_id: NOBODY, channel: '', amount: 1000, share: 1, first_channel: '' },
    ]);
  });

  it('joins more visitors than ClickHouse accepts in one field', async () => {
    const visitors = Array.from({ length: 8_000 }, () => uuidv7());
    const email = 'everybody@example.com';
    const ids = visitors.map((visitorId) => ({
      workspaceId: rig.workspaceId,
      visitorId,
      email,
      externalUserId: null,
      byServer: false,
      ts: 1,
    }));
    await upsertIdentities(rig.stores.pool, ids);
    const [first, last] = [uuidv7(), uuidv7()];
    await rig.click({ visitor: visitors[0] ?? '', link: first, ts: NOW - 3 * DAY, channel: 'reddit' });
    await rig.click({ visitor: visitors.at(-1) ?? '', link: last, ts: NOW - 2 * DAY });
    await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'linear' });
    const orderId = await rig.order({ ts: NOW - DAY, email });
    expect(await rig.credits(orderId)).toMatchObject([
      { link_id: first, first_channel: 'reddit' },
      { link_id: last, first_channel: 'reddit' },
    ]);
  });

  it('attributes orders of very many visitors in chunks, each by the newest of them', async () => {
    const { pool } = rig.stores;
    const email = 'flood@example.com';
    const [newest, link] = [uuidv7(), uuidv7()];
    await pool.query(
      `INSERT INTO identities (workspace_id, visitor_id, email, first_ts, last_ts)
       SELECT $1, gen_random_uuid(), $2, n, n FROM generate_series(1, 10500) AS n`,
      [rig.workspaceId, email],
    );
    await upsertIdentities(pool, [
      {
        workspaceId: rig.workspaceId,
        visitorId: newest,
        email,
        externalUserId: null,
        byServer: false,
        ts: 20_000,
      },
    ]);
    await rig.click({ visitor: newest, link, ts: NOW - 2 * DAY });
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) ids.push(await rig.order({ ts: NOW - DAY + n, email }));
    expect(await attribute(rig.dependencies, 'orders')).toBe(true);
    const { rows } = await pool.query(
      'SELECT count(*)::int AS done FROM orders WHERE workspace_id = $1 AND attributed_version = version',
      [rig.workspaceId],
    );
    expect(rows).toEqual([{ done: 5 }]);
    for (const orderId of ids) {
      expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([link]);
    }
  });

  it('attributes a batch of orders whose ids have the longest form', async () => {
    const long = (n: number) => '🧾'.repeat(196) + String(n).padStart(4, '0');
    for (let n = 0; n < 200; n++) await rig.order({ ts: NOW - DAY, visitor: uuidv7(), orderId: long(n) });
    expect(await rig.credits(long(199))).toHaveLength(1);
  });

  it("never joins another workspace's visitors", async () => {
    const visitor = uuidv7();
    await rig.click({ visitor, link: uuidv7(), ts: NOW - 2 * DAY });
    await rig.identify(visitor, 'shared@example.com');
    await rig.newWorkspace();
    const orderId = await rig.order({ ts: NOW - DAY, visitor, email: 'shared@example.com' });
    expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([NOBODY]);
  });

  it('leaves deleted links out', async () => {
    const visitor = uuidv7();
    const [kept, deleted] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link: kept, ts: NOW - 3 * DAY });
    await rig.click({ visitor, link: deleted, ts: NOW - 2 * DAY });
    await rig.hide(deleted);
    const orderId = await rig.order({ ts: NOW - DAY, visitor });
    expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([kept]);
  });

  it("converts into the workspace's currency, and to nothing where there is no rate", async () => {
    await rig.stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ('jpy', 'usd', 0.0067)`,
    );
    const yen = await rig.order({ ts: NOW - DAY, amount: 1500, currency: 'jpy' });
    const krona = await rig.order({ ts: NOW - DAY, amount: 1500, currency: 'sek' });
    expect((await rig.credits(yen)).map((row) => row.amount)).toEqual([1005]);
    expect((await rig.credits(krona)).map((row) => row.amount)).toEqual([0]);
    const { values } = await rig.dependencies.metrics.ordersWithoutRate.get();
    expect(values).toMatchObject([{ value: 1, labels: { currency: 'sek' } }]);
  });

  it('shares the work with other workers, each order once', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push(await rig.order({ ts: NOW - DAY + i }));
    await Promise.all([1, 2, 3].map(() => attribute(rig.dependencies, 'orders')));
    const result = await rig.stores.clickhouse.query({
      query: `SELECT count() AS written, uniqExact(order_id) AS orders FROM attributed_shares
        WHERE order_id IN {ids:Array(String)}`,
      query_params: { ids },
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ written: '30', orders: '30' }]);
  });
});
