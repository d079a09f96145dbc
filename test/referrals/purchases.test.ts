import { Registry } from 'prom-client';
import { describe, expect } from 'vitest';
import { visitorJourney } from '../../clickhouse/queries/visitor-journey.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { publishOrders } from '../../workers/jobs/publish-orders.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { merchantTest } from './fixtures.ts';
import { countRows, queuedEvents } from './support.ts';

describe('report-purchase', () => {
  merchantTest(
    'returns exactly the documented fields, and a replay returns the same',
    async ({ api, shop, m }) => {
      await m.referral();
      const first = await m.purchase('n', 'o1', 19.99);
      expect([first.status, first.body]).toEqual([
        200,
        { matched: true, rewarded: true, internal_order_id: expect.any(Number), ledger_rows: 1 },
      ]);
      const replay = await m.purchase('n', 'o1', 500, { currency: 'eur', purchased_at: '2020-01-01' });
      expect(replay.body).toEqual(first.body);
      expect(await m.balance('r')).toEqual({ pending: 4, eligible: 0, paid: 0 });
      const { rows } = await api.stores.pool.query('SELECT * FROM orders WHERE workspace_id = $1', [
        shop.workspace.id,
      ]);
      expect(rows).toMatchObject([
        { order_id: 'o1', amount_minor: 1999, currency: 'usd', source: 'server', external_user_id: 'n' },
      ]);
    },
  );

  merchantTest(
    'for a user whose signup was never reported returns matched: false, and its order is written',
    async ({ api, shop, m }) => {
      await m.program({ commission_rate: 20 });
      const response = await m.purchase('stranger', 'o1', 10);
      expect([response.status, response.body]).toEqual([
        200,
        { matched: false, rewarded: false, internal_order_id: expect.any(Number), ledger_rows: 0 },
      ]);
      expect(await countRows(api, shop, 'orders')).toBe(1);
      const { ref } = await m.enroll('r');
      await m.signup('stranger', { ref_code: ref });
      expect((await m.purchase('stranger', 'o1', 10)).body).toMatchObject({ matched: true, rewarded: true });
      expect((await m.purchase('stranger', 'o2', 10)).body.rewarded).toBe(true);
    },
  );

  merchantTest('called fifty times at once with the same body writes once', async ({ api, shop, m }) => {
    await m.referral({ commission_rate: 20, levels: [10] });
    const responses = await Promise.all(Array.from({ length: 50 }, () => m.purchase('n', 'o1', 10)));
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(await countRows(api, shop, 'orders')).toBe(1);
    expect(await countRows(api, shop, 'commissions')).toBe(1);
    expect(await countRows(api, shop, 'ledger_entries')).toBe(1);
    const events = (await queuedEvents(api, shop)).map((event) => event.type);
    expect(events).toEqual(['lead.created', 'sale.created', 'commission.created']);
  });

  merchantTest(
    'called at once for one order with different amounts makes one purchase, and the order has its amount',
    async ({ api, shop, m }) => {
      await m.referral({ commission_rate: 20 });
      const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => [
          m.purchase('n', `o${n}`, 100),
          m.purchase('n', `o${n}`, 50, { purchased_at: anHourAgo }),
        ]).flat(),
      );
      const { rows } = await api.stores.pool.query(
        `SELECT count(*)::int AS orders, count(*) FILTER (WHERE o.amount_minor <> p.amount_minor)::int AS apart
       FROM orders o JOIN purchases p ON p.order_internal_id = o.internal_id WHERE o.workspace_id = $1`,
        [shop.workspace.id],
      );
      expect(rows).toEqual([{ orders: 20, apart: 0 }]);
    },
  );

  merchantTest(
    'called for fifty different purchases of a buyer at once rewards only the first sale, once',
    async ({ m }) => {
      await m.referral({ commission_rate: 20, first_sale_only: true });
      const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => m.purchase('n', `o${n}`, 10)));
      expect(responses.filter(({ body }) => body.rewarded)).toHaveLength(1);
      expect(responses.filter(({ body }) => body.reason === 'not_first_sale')).toHaveLength(49);
      expect(await m.balance('r')).toMatchObject({ pending: 2 });
    },
  );

  merchantTest('requires a secret key', async ({ shop }) => {
    const options = { key: shop.publishableKey };
    expect((await shop.post('/referrals/report-purchase', {}, options)).status).toBe(403);
    expect((await shop.post('/referrals/report-refund', {}, options)).status).toBe(403);
  });

  merchantTest.for<[string, object]>([
    ['external_user_id', { external_user_id: undefined }],
    ['order_id', { order_id: undefined }],
    ['order_id', { order_id: 'x'.repeat(201) }],
    ['amount', { amount: undefined }],
    ['amount', { amount: '19.99' }],
    ['amount', { amount: -1 }],
    ['amount', { amount: 1.005 }],
    ['amount', { amount: 0.5, currency: 'jpy' }],
    ['amount', { amount: 1e15 }],
    ['amount', { amount: 10_000_000_000.01 }],
    ['amount', { amount: 1_000_000_000_001, currency: 'jpy' }],
    ['currency', { currency: 'zzz' }],
    ['email', { email: 'nobody' }],
    ['is_renewal', { is_renewal: 'yes' }],
    ['purchased_at', { purchased_at: 'yesterday' }],
    ['purchased_at', { purchased_at: '2026-11-20T10:00:00' }],
    ['purchased_at', { purchased_at: '1969-12-31' }],
  ])('with a wrong %s returns 400: %j', async ([path, fields], { shop }) => {
    const body = { external_user_id: 'n', order_id: 'o', amount: 10, ...fields };
    const response = await shop.post('/referrals/report-purchase', body);
    expect([response.status, response.body.error.details?.[0]?.path]).toEqual([400, path]);
  });

  merchantTest.for([10_000_000_000.01, 1e15, 1e300])('for %d names the maximum', async (amount, { shop }) => {
    const body = { external_user_id: 'n', order_id: 'o', amount };
    const { message } = (await shop.post('/referrals/report-purchase', body)).body.error;
    expect(message).toBe('`amount` must be at most 10000000000 usd');
  });

  merchantTest('fires sale.created and commission.created with their data', async ({ api, shop, m }) => {
    const visitor = crypto.randomUUID();
    const { partner_id, programId } = await m.referral(
      { commission_rate: 20, hold_days: 0 },
      { _vid: visitor },
    );
    await m.purchase('n', 'o1', 50, { currency: 'USD' });
    const [, sale, commission] = await queuedEvents(api, shop);
    expect(sale).toEqual({
      type: 'sale.created',
      data: {
        order_id: 'o1',
        amount: 50,
        currency: 'usd',
        external_user_id: 'n',
        visitor_id: visitor,
        source: 'server',
        created_at: expect.any(String),
      },
    });
    expect(commission).toEqual({
      type: 'commission.created',
      data: {
        id: expect.any(String),
        program_id: programId,
        partner_id,
        order_id: 'o1',
        level: 1,
        amount: 10,
        remaining: 10,
        currency: 'usd',
        status: 'eligible',
        created_at: expect.any(String),
      },
    });
  });

  merchantTest('adds the order to reports and journeys', async ({ api, shop, m }) => {
    const visitor = crypto.randomUUID();
    await m.referral({}, { _vid: visitor });
    await m.purchase('n', 'o1', 12.5, {
      purchased_at: '2026-11-20T10:00:00.123Z',
      email: ' N@mail.example ',
    });
    const { clickhouse, pool } = api.stores;
    const given = {
      pool,
      replicas: [{ name: 'main', clickhouse }],
      metrics: createWorkerMetrics(new Registry()),
      log: silentLogger(),
    };
    expect(await publishOrders(given)).toBe(false);
    const of = { workspaceId: shop.workspace.id, visitorId: visitor, hasDeletedLinks: false };
    expect((await visitorJourney(clickhouse, of, 10))?.steps).toMatchObject([
      { type: 'order', amountMinor: 1250n, currency: 'usd' },
    ]);
    expect(await publishOrders(given)).toBe(false);
    const { rows } = await pool.query('SELECT ts, email, signup_visitor_id, attributed_version FROM orders');
    expect(rows).toContainEqual({
      ts: Date.parse('2026-11-20T10:00:00.123Z') * 1_000,
      email: 'n@mail.example',
      signup_visitor_id: visitor,
      attributed_version: null, // waits for attribution
    });
  });
});
