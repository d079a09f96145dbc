import { describe, expect } from 'vitest';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { visitorOfUser } from '../../sql/orders/user-visitors.ts';
import { createOrderEvaluator } from '../../workers/referrals/tracked-purchases.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { countRows, queuedEvents } from './support.ts';

describe('a tracked order', () => {
  async function track(api: TestApi, shop: TestWorkspace, orderIds: string | string[], fields: object = {}) {
    const ts = Date.now() * 1_000;
    const source = 'server' as const;
    await upsertOrders(
      api.stores.pool,
      [orderIds].flat().map((orderId) => ({
        workspaceId: shop.workspace.id,
        orderId,
        source,
        ts,
        streamOrdinal: 0,
        visitorId: null,
        email: null,
        externalUserId: null,
        amountMinor: 5_000,
        currency: 'usd',
        ...fields,
      })),
    );
  }
  const qualify = (api: TestApi) => createOrderEvaluator({ pool: api.stores.pool })(new Date());

  merchantTest(
    'with a secret key is a purchase, once, found by user, email or visitor',
    async ({ api, shop, m }) => {
      const visitor = crypto.randomUUID();
      await m.referral({ commission_rate: 20 }, { email: ' N@mail.example ', _vid: visitor });
      await track(api, shop, 'o1', { externalUserId: 'n' });
      await track(api, shop, 'o2', { email: 'n@mail.example' });
      await track(api, shop, 'o3', { visitorId: visitor });
      await track(api, shop, 'o4', { externalUserId: 'stranger', email: 'n@mail.example' });
      await track(api, shop, 'o5');
      await qualify(api);
      await qualify(api);
      expect(await m.balance('r')).toMatchObject({ pending: 30 });
      expect(await countRows(api, shop, 'purchases')).toBe(3);
      const replay = await m.purchase('n', 'o1', 50);
      expect(replay.body).toMatchObject({ matched: true, rewarded: true, ledger_rows: 1 });
      expect(await m.balance('r')).toMatchObject({ pending: 30 });
      // Its webhook comes from the event log.
      expect((await queuedEvents(api, shop)).filter((event) => event.type === 'sale.created')).toEqual([]);
      // The event log names no user; the report does.
      expect((await m.purchase('n', 'o5', 50)).body.rewarded).toBe(true);
    },
  );

  merchantTest(
    'is found by what a server reported about visitors, and by nothing that the pixel reported',
    async ({ api, shop, m }) => {
      await m.referral({ commission_rate: 20 });
      const [named, alone, claimed, stranger] = Array.from({ length: 4 }, () => crypto.randomUUID());
      const given = { workspaceId: shop.workspace.id, externalUserId: 'n', byServer: true, ts: 1 };
      const said = (visitorId = '', email: string | null = null) => ({ ...given, visitorId, email });
      await upsertIdentities(api.stores.pool, [
        said(named, 'shop@mail.example'),
        said(alone),
        { ...said(stranger, 's@mail.example'), externalUserId: 'nobody' },
        { ...said(claimed, 'whale@mail.example'), byServer: false },
        { ...said(claimed), byServer: false },
        // The pixel later claims the address for another user: the server's report stays.
        { ...said(named, 'shop@mail.example'), externalUserId: 'other', byServer: false, ts: 2 },
      ]);
      await track(api, shop, 'o1', { email: 'shop@mail.example' });
      await track(api, shop, 'o2', { visitorId: named });
      await track(api, shop, 'o3', { visitorId: alone });
      await track(api, shop, 'o4', { visitorId: stranger, email: 's@mail.example' });
      await track(api, shop, 'o6', { visitorId: claimed, email: 'whale@mail.example' });
      await qualify(api);
      expect(await m.balance('r')).toMatchObject({ pending: 30 });
      expect(await countRows(api, shop, 'purchases')).toBe(3);
      // In the other direction: a user's order belongs to the visitor of that user.
      await m.purchase('n', 'o5', 10);
      const { rows } = await api.stores.pool.query(
        `SELECT coalesce(visitor_id, ${visitorOfUser('orders.workspace_id', 'orders.external_user_id')}) AS visitor_id
       FROM orders WHERE workspace_id = $1 AND order_id = 'o5'`,
        [shop.workspace.id],
      );
      expect([named, alone, claimed]).toContain(rows[0]?.visitor_id);
    },
  );

  /** Fields of an order that the pixel reports. */
  function byPixel() {
    const ts = Date.now() * 1_000;
    return { source: 'pixel', ts };
  }

  merchantTest('by the pixel is not a purchase until a server reports it', async ({ api, shop, m }) => {
    await m.referral({ commission_rate: 20 });
    const visitor = crypto.randomUUID();
    await track(api, shop, 'o1', { ...byPixel(), externalUserId: 'n', visitorId: visitor });
    await qualify(api);
    expect(await countRows(api, shop, 'purchases')).toBe(0);
    expect((await m.purchase('n', 'o1', 80)).body.rewarded).toBe(true);
    expect(await m.balance('r')).toMatchObject({ pending: 16 });
    const { rows } = await api.stores.pool.query(
      'SELECT source, pixel_visitor_id, amount_minor FROM orders WHERE workspace_id = $1',
      [shop.workspace.id],
    );
    expect(rows).toEqual([{ source: 'server', pixel_visitor_id: visitor, amount_minor: 8_000 }]);
  });

  merchantTest("is not qualified by the pixel's visitor, whom anyone can name", async ({ api, shop, m }) => {
    const visitor = crypto.randomUUID();
    await m.referral({ commission_rate: 20 }, { _vid: visitor });
    await track(api, shop, 'o1');
    await track(api, shop, 'o1', { ...byPixel(), visitorId: visitor });
    await track(api, shop, 'o2', { ...byPixel(), visitorId: visitor });
    await track(api, shop, 'o2');
    await qualify(api);
    expect(await countRows(api, shop, 'purchases')).toBe(0);
    expect(await m.balance('r')).toMatchObject({ pending: 0 });
  });

  merchantTest(
    "with the referrer's mailbox earns nothing, even when the purchase is reported without it",
    async ({ api, shop, m }) => {
      await track(api, shop, 'o1', { externalUserId: 'n', email: 'r+shop@mail.example' });
      await track(api, shop, 'o2', { ...byPixel(), email: 'r+shop@mail.example' });
      // The buyer has no referrer yet.
      await qualify(api);
      await m.referral({ commission_rate: 20 });
      expect((await m.purchase('n', 'o1', 50)).body).toMatchObject({
        matched: true,
        reason: 'self_referral',
      });
      // Anyone could have sent this through the pixel.
      expect((await m.purchase('n', 'o2', 50)).body.rewarded).toBe(true);
      const { rows } = await api.stores.pool.query(
        'SELECT order_id, email FROM orders WHERE workspace_id = $1 ORDER BY order_id',
        [shop.workspace.id],
      );
      expect(rows).toEqual([
        { order_id: 'o1', email: 'r+shop@mail.example' },
        { order_id: 'o2', email: null },
      ]);
    },
  );

  merchantTest(
    'that is refunded before it is qualified earns for the remainder',
    async ({ api, shop, m }) => {
      await m.referral({ commission_rate: 20 });
      await track(api, shop, ['o1', 'o2', 'o3'], { ...byPixel(), amountMinor: 10_000 });
      const unmatched = { matched: false, ledger_rows: 0 };
      expect((await m.refund('f1', 'o1')).body).toMatchObject(unmatched);
      expect((await m.refund('f2', 'o2', 25)).body).toMatchObject(unmatched);
      expect((await m.refund('f3', 'o3', 90)).body).toMatchObject(unmatched);
      // The server's amount counts: less than the refund, equal to it, and less than the pixel's amount.
      expect((await m.purchase('n', 'o1', 80)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
      expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
      await m.purchase('n', 'o2', 100);
      expect(await m.balance('r')).toMatchObject({ pending: 15 });
      await track(api, shop, 'o3', { externalUserId: 'n', amountMinor: 9_500 });
      await qualify(api);
      expect(await m.balance('r')).toMatchObject({ pending: 16 });
      expect((await m.refund('f1', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 1 });
      const rest = await m.refund('f4', 'o1');
      expect([rest.status, rest.body]).toMatchObject([200, { matched: true, ledger_rows: 0 }]);
      expect((await m.refund('f5', 'o1', 1)).status).toBe(400);
      await m.refund('f6', 'o3');
      expect(await m.balance('r')).toMatchObject({ pending: 15 });
    },
  );

  merchantTest(
    "before its buyer's signup is a purchase once the signup comes, and is refunded",
    async ({ api, shop, m }) => {
      await track(api, shop, 'o1', { externalUserId: 'n', amountMinor: 10_000 });
      await qualify(api);
      await m.referral({ commission_rate: 20 });
      expect((await m.refund('f1', 'o1', 10)).body).toMatchObject({ matched: true, ledger_rows: 1 });
      expect((await m.stats('r')).stats.purchases).toBe(1);
      expect((await m.purchase('n', 'o1', 100)).body.rewarded).toBe(true);
      expect(await m.balance('r')).toMatchObject({ pending: 18 });
      // An order that is not qualified yet is qualified before it is refunded.
      await track(api, shop, 'o3', { externalUserId: 'n', amountMinor: 10_000 });
      expect((await m.refund('f2', 'o3', 50)).body).toMatchObject({ matched: true, ledger_rows: 1 });
      expect(await m.balance('r')).toMatchObject({ pending: 28 });
    },
  );

  merchantTest('by the pixel is refunded by the amount that a server reports', async ({ api, shop, m }) => {
    await m.referral({ commission_rate: 20 });
    await track(api, shop, ['o1', 'o2'], { ...byPixel(), amountMinor: 10, currency: 'jpy' });
    const kept = { matched: false, internal_order_id: null, ledger_rows: 0 };
    expect((await m.refund('f1', 'o1')).body).toEqual(kept);
    expect((await m.refund('f2', 'o2', 25.5)).body).toEqual(kept);
    await m.purchase('n', 'o1', 80);
    expect(await m.balance('r')).toMatchObject({ pending: 0 });
    await m.purchase('n', 'o2', 100);
    expect(await m.balance('r')).toMatchObject({ pending: 14.9 });
    expect((await m.refund('f2', 'o2', 25.5)).body).toMatchObject({ matched: true, ledger_rows: 1 });
  });

  merchantTest(
    'is qualified behind any number of failing ones, which are qualified once they can be',
    async ({ api, shop, m }) => {
      const { ref } = await m.referral({ commission_rate: 20 });
      await m.signup('bad', { ref_code: ref });
      const bad = Array.from({ length: 201 }, (_, n) => `bad-${n}`);
      await track(api, shop, bad, { externalUserId: 'bad' });
      await track(api, shop, 'good', { externalUserId: 'n' });
      const { pool, admin } = api.stores;
      await admin.query(
        `ALTER TABLE purchases ADD CONSTRAINT fails CHECK (external_user_id <> 'bad') NOT VALID`,
      );
      const qualifyOrders = createOrderEvaluator({ pool });
      await expect(qualifyOrders(new Date())).rejects.toThrow('was not evaluated');
      expect(await m.balance('r')).toMatchObject({ pending: 0 });
      await expect(qualifyOrders(new Date())).rejects.toThrow('was not evaluated');
      expect(await m.balance('r')).toMatchObject({ pending: 10 });
      await admin.query(
        `ALTER TABLE purchases DROP CONSTRAINT fails;
       DELETE FROM order_publications;
       DELETE FROM orders WHERE order_id LIKE 'bad-%' AND order_id <> 'bad-0'`,
      );
      expect(await qualifyOrders(new Date())).toBe(false);
      expect(await m.balance('r')).toMatchObject({ pending: 20 });
    },
  );

  merchantTest('is qualified once by several processes at the same time', async ({ api, shop, m }) => {
    await m.referral({ commission_rate: 20 });
    for (let n = 0; n < 20; n++) await track(api, shop, `o${n}`, { externalUserId: 'n' });
    await Promise.all([qualify(api), qualify(api), qualify(api), m.purchase('n', 'o7', 50)]);
    await qualify(api);
    expect(await m.balance('r')).toMatchObject({ pending: 200 });
    expect(await countRows(api, shop, 'commissions')).toBe(20);
  });
});
