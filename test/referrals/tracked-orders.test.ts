import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { orderVersion } from '../../core/order-version.ts';
import { upsertOrders } from '../../sql/orders.ts';
import { judgeTrackedOrders } from '../../workers/referrals/tracked-purchases.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { countRows, type Merchant, merchant, queuedEvents } from './support.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
  m = merchant(shop);
});
afterAll(() => api.close());

/** A referrer `r` and the referee `n`. */
async function referral(program: object = { commission_rate: 20 }, referee: object = {}) {
  const made = await m.program(program);
  const enrolled = await m.enroll('r');
  await m.signup('n', { ref_code: enrolled.ref, ...referee });
  return { ...enrolled, programId: made.id };
}

async function balance(user: string) {
  return (await m.stats(user)).affiliate.balance;
}

describe('an order that was tracked', () => {
  async function track(orderId: string, fields: object = {}) {
    const ts = Date.now() * 1_000;
    const source = 'server' as const;
    await upsertOrders(api.stores.pool, [
      {
        workspaceId: shop.workspace.id,
        orderId,
        version: orderVersion(source, BigInt(ts) * 1_000n),
        source,
        ts,
        streamOrdinal: 0,
        visitorId: null,
        email: null,
        externalUserId: null,
        amountMinor: 5_000,
        currency: 'usd',
        ...fields,
      },
    ]);
  }
  const judge = () => judgeTrackedOrders({ pool: api.stores.pool, now: new Date() });

  test('with a secret key is a purchase, once, found by user, email or visitor', async () => {
    const visitor = crypto.randomUUID();
    await referral({ commission_rate: 20 }, { email: 'N@mail.example', _vid: visitor });
    await track('o1', { externalUserId: 'n' });
    await track('o2', { email: 'n@mail.example' });
    await track('o3', { visitorId: visitor });
    await track('o4', { externalUserId: 'stranger', email: 'n@mail.example' });
    await track('o5');
    await judge();
    await judge();
    expect(await balance('r')).toMatchObject({ pending: 30 });
    expect(await countRows(api, shop, 'purchases')).toBe(3);
    const replay = await m.purchase('n', 'o1', 50);
    expect(replay.body).toMatchObject({ matched: true, rewarded: true, ledger_rows: 1 });
    expect(await balance('r')).toMatchObject({ pending: 30 });
    // Its webhook comes from the event log.
    expect((await queuedEvents(api, shop)).filter((event) => event.type === 'sale.created')).toEqual([]);
    // The event log named no user; the report does.
    expect((await m.purchase('n', 'o5', 50)).body.rewarded).toBe(true);
  });

  test('by the pixel is no purchase until a server reports it', async () => {
    await referral({ commission_rate: 20 });
    const ts = Date.now() * 1_000;
    const visitor = crypto.randomUUID();
    const pixel = { source: 'pixel', ts, version: orderVersion('pixel', BigInt(ts) * 1_000n) };
    await track('o1', { ...pixel, externalUserId: 'n', visitorId: visitor });
    await judge();
    expect(await countRows(api, shop, 'purchases')).toBe(0);
    expect((await m.purchase('n', 'o1', 80)).body.rewarded).toBe(true);
    expect(await balance('r')).toMatchObject({ pending: 16 });
    const { rows } = await api.stores.pool.query(
      'SELECT source, visitor_id, amount_minor FROM orders WHERE workspace_id = $1',
      [shop.workspace.id],
    );
    expect(rows).toEqual([{ source: 'server', visitor_id: visitor, amount_minor: 8_000 }]);
  });

  test('is judged once by several processes at the same time', async () => {
    await referral({ commission_rate: 20 });
    for (let n = 0; n < 20; n++) await track(`o${n}`, { externalUserId: 'n' });
    await Promise.all([judge(), judge(), judge(), m.purchase('n', 'o7', 50)]);
    await judge();
    expect(await balance('r')).toMatchObject({ pending: 200 });
    expect(await countRows(api, shop, 'commissions')).toBe(20);
  });
});
