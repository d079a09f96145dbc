import { describe, expect } from 'vitest';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { recordSales } from '../../sql/orders/recorded-sales.ts';
import { reevaluateWithoutRate } from '../../sql/transactions/reevaluate-purchase.ts';
import { setRate } from '../../sql/workspaces/currency-rates.ts';
import { createOrderEvaluator } from '../../workers/referrals/tracked-purchases.ts';
import type { TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { type Merchant, merchant, type PurchaseAnswer, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ api, shop }) => {
  await api.stores.pool.query('DELETE FROM currency_rates');
  m = merchant(shop);
});

const HOUR = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString();
const reevaluate = (shop: TestWorkspace, id: number) =>
  shop.post<PurchaseAnswer>(`/purchases/${id}/reevaluate`);
const FIRST = { commission_rate: 20, first_sale_only: true };

describe('a first sale that earned nothing', () => {
  test('does not use the first sale up: the next one is it', async ({ api, shop }) => {
    const { programId, partner_id } = await m.referral(FIRST);
    expect((await m.purchase('n', 'small', 0.01)).body.reason).toBe('amount_too_small');
    expect((await m.purchase('n', 'sek', 100, { currency: 'sek' })).body.reason).toBe('no_currency_rate');
    await shop.patch(`/programs/${programId}`, { status: 'paused' });
    expect((await m.purchase('n', 'paused', 100)).body.reason).toBe('program_paused');
    await shop.patch(`/programs/${programId}`, { status: 'active' });
    await shop.patch(`/enrollments/${partner_id}`, { status: 'suspended' });
    expect((await m.purchase('n', 'suspended', 100)).body.reason).toBe('suspended');
    await shop.patch(`/enrollments/${partner_id}`, { status: 'approved' });
    await api.stores.pool.query(`UPDATE workspaces SET plan = 'starter' WHERE id = $1`, [shop.workspace.id]);
    expect((await m.purchase('n', 'plan', 100)).body.reason).toBe('plan_has_no_commission_tracking');
    await api.stores.pool.query(`UPDATE workspaces SET plan = 'unlimited' WHERE id = $1`, [
      shop.workspace.id,
    ]);
    expect((await m.purchase('n', 'first', 100)).body).toMatchObject({ rewarded: true });
    expect((await m.purchase('n', 'second', 100)).body.reason).toBe('not_first_sale');
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
  });

  test('for lack of a rate earns when the rate is set, unless another was rewarded meanwhile', async ({
    api,
  }) => {
    const { ref } = await m.referral(FIRST);
    await m.signup('o', { ref_code: ref });
    const missed = await m.purchase('n', 'o1', 100, { currency: 'sek' });
    const late = await m.purchase('o', 'o2', 100, { currency: 'sek' });
    await m.purchase('o', 'o3', 50);
    const pair = { currency: 'sek', base: 'usd' };
    await setRate(api.stores.pool, { ...pair, rate: 0.1 });
    // The count includes all workspaces.
    expect(await reevaluateWithoutRate(api.stores.pool, pair, new Date())).toBeGreaterThanOrEqual(2);
    expect(await reevaluateWithoutRate(api.stores.pool, pair, new Date())).toBe(0);
    expect((await m.purchase('n', 'o1', 100, { currency: 'sek' })).body).toMatchObject({
      rewarded: true,
      internal_order_id: missed.body.internal_order_id,
    });
    expect((await m.purchase('o', 'o2', 100, { currency: 'sek' })).body).toMatchObject({
      rewarded: false,
      reason: 'not_first_sale',
      internal_order_id: late.body.internal_order_id,
    });
    expect(await m.balance('r')).toMatchObject({ pending: 12 });
  });

  test('for another reason earns when it is evaluated again, once', async ({ shop }) => {
    const { programId } = await m.referral({ ...FIRST, status: 'paused' });
    const { internal_order_id } = (await m.purchase('n', 'o1', 100)).body;
    expect((await reevaluate(shop, internal_order_id)).body).toMatchObject({ reason: 'program_paused' });
    await shop.patch(`/programs/${programId}`, { status: 'active' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => reevaluate(shop, internal_order_id)));
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        200,
        { matched: true, rewarded: true, internal_order_id, ledger_rows: 1 },
      ]);
    }
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
    // Earned commission stays, whatever the terms say now.
    await shop.patch(`/programs/${programId}`, { status: 'paused', commission_rate: 50 });
    expect((await reevaluate(shop, internal_order_id)).body).toMatchObject({ rewarded: true });
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
    expect((await reevaluate(shop, internal_order_id + 1_000_000)).status).toBe(404);
  });

  test('adds the commission of a higher level to the credit that was earned', async ({ api, shop }) => {
    const { ref, programId } = await m.referral({
      credit_enabled: true,
      purchase_credit: 5,
      commission_rate: 20,
      levels: [10],
      allow_affiliate_upgrade: true,
    });
    await m.enroll('top');
    await m.mode('top', 'affiliate');
    await m.signup('mid', { referrer_external_user_id: 'top' });
    const mid = await m.enroll('mid');
    await m.signup('buyer', { ref_code: mid.ref });
    expect(ref).not.toBe(mid.ref);
    await m.purchase('buyer', 'o1', 100, { currency: 'sek' });
    await shop.patch(`/programs/${programId}`, { purchase_credit: 9 });
    const pair = { currency: 'sek', base: 'usd' };
    await setRate(api.stores.pool, { ...pair, rate: 0.1 });
    expect(await reevaluateWithoutRate(api.stores.pool, pair, new Date())).toBe(1);
    expect(await m.balance('top')).toMatchObject({ pending: 1 });
    expect((await m.credits('external_user_id=mid')).balance).toEqual({
      credits: { earned: 5, delivered: 0 },
    });
    expect((await m.purchase('buyer', 'o1', 100, { currency: 'sek' })).body.ledger_rows).toBe(2);
  });

  test('does not begin the months of commission', async () => {
    await m.referral({ commission_rate: 20, commission_months: 12 });
    const old = await m.purchase('n', 'o1', 100, { purchased_at: '1970-01-01T00:00:01Z' });
    expect(old.body).toMatchObject({ matched: true, rewarded: false, reason: 'before_signup' });
    expect((await m.purchase('n', 'o2', 100)).body).toMatchObject({ rewarded: true });
  });
});

describe('a purchase before its signup', () => {
  test.each([
    ['of a moment ago', 0.001],
    ['of almost 72 hours ago', 71.9],
  ])('%s earns when the signup comes', async (_, hours) => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    const before = await m.purchase('n', 'o1', 100, { purchased_at: ago(hours) });
    expect(before.body).toMatchObject({ matched: false });
    await m.signup('n', { ref_code: ref });
    expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({
      matched: true,
      rewarded: true,
      internal_order_id: before.body.internal_order_id,
    });
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
  });

  test('of more than 72 hours ago stays unmatched, and earns nothing when it is evaluated again', async ({
    shop,
  }) => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    const { internal_order_id } = (await m.purchase('n', 'o1', 100, { purchased_at: ago(72.1) })).body;
    await m.signup('n', { ref_code: ref });
    expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({ matched: false });
    expect((await reevaluate(shop, internal_order_id)).body).toMatchObject({
      matched: true,
      rewarded: false,
      reason: 'before_signup',
    });
  });

  test('that a server tracked without a user is found by the email and the visitor of the signup', async ({
    api,
    shop,
  }) => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    const visitor = crypto.randomUUID();
    const common = {
      workspaceId: shop.workspace.id,
      source: 'server' as const,
      streamOrdinal: 0,
      currency: 'usd',
    };
    const none = { visitorId: null, email: null, externalUserId: null, amountMinor: 5_000 };
    const ts = Date.now() * 1_000;
    await upsertOrders(api.stores.pool, [
      { ...common, ...none, orderId: 'user', ts, externalUserId: 'n' },
      { ...common, ...none, orderId: 'email', ts: ts + 1, email: 'n@mail.example' },
      { ...common, ...none, orderId: 'visitor', ts: ts + 2, visitorId: visitor },
      { ...common, ...none, orderId: 'other', ts: ts + 3, externalUserId: 'o', email: 'n@mail.example' },
    ]);
    await createOrderEvaluator({ pool: api.stores.pool })(new Date());
    await m.refund('f1', 'email', 25);
    await m.signup('n', { ref_code: ref, email: 'N@mail.example', _vid: visitor });
    expect(await m.balance('r')).toMatchObject({ pending: 25 });
    await m.signup('n', { ref_code: ref });
    expect(await m.balance('r')).toMatchObject({ pending: 25 });
  });

  test('is evaluated once when signup and purchase come at the same time, fifty times', async () => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        n % 2 === 0 ? m.purchase('n', 'o1', 100) : m.signup('n', { ref_code: ref }),
      ),
    );
    expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
  });

  test('dated more than a day ahead is a 400 that names the field', async ({ shop }) => {
    await m.referral();
    const ahead = await shop.post('/referrals/report-purchase', {
      external_user_id: 'n',
      order_id: 'o1',
      amount: 1,
      purchased_at: ago(-25),
    });
    expect([ahead.status, ahead.body.error.details?.[0]?.path]).toEqual([400, 'purchased_at']);
    expect((await m.purchase('n', 'o2', 1, { purchased_at: ago(-23) })).status).toBe(200);
  });
});

describe('an id', () => {
  test('of an order that was reported for another user is a 409', async () => {
    const { ref } = await m.referral({ commission_rate: 20 });
    await m.signup('o', { ref_code: ref });
    await m.purchase('n', 'o1', 100);
    await m.purchase('nobody', 'o2', 100);
    for (const order of ['o1', 'o2']) {
      const other = await m.purchase('o', order, 100);
      expect([other.status, other.text]).toEqual([409, expect.stringContaining('conflict')]);
    }
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
  });

  test('of a refund that was reported for another order is a 409, also before the order', async () => {
    await m.referral({ commission_rate: 20 });
    await m.purchase('n', 'o1', 100);
    await m.purchase('n', 'o2', 100);
    await m.refund('f1', 'o1', 10);
    expect((await m.refund('f1', 'o2', 10)).status).toBe(409);
    expect((await m.refund('f1', 'unknown', 10)).status).toBe(409);
    expect((await m.refund('f2', 'later', 10)).status).toBe(200);
    expect((await m.refund('f2', 'o2', 10)).status).toBe(409);
    expect((await m.refund('f2', 'later', 10)).status).toBe(200);
    expect((await m.refund('f1', 'o1', 10)).body).toMatchObject({ ledger_rows: 1 });
    expect(await m.balance('r')).toMatchObject({ pending: 38 });
  });
});

test("a server's report of an order replaces the pixel's, and says so", async ({ api, shop }) => {
  const given = {
    workspaceId: shop.workspace.id,
    streamOrdinal: 0,
    visitorId: crypto.randomUUID(),
    email: null,
    externalUserId: null,
    currency: 'usd',
  };
  const { pool } = api.stores;
  const byPixel = { ...given, source: 'pixel' as const, amountMinor: 9_999_900 };
  const byServer = { ...given, source: 'server' as const, visitorId: null, amountMinor: 1_000 };
  const ts = Date.now() * 1_000;
  for (const orderId of ['o1', 'o2']) await recordSales(pool, [{ ...byPixel, orderId, ts }]);
  await recordSales(pool, [
    { ...byServer, orderId: 'o1', ts: ts + 1 },
    { ...byServer, orderId: 'o1', ts: ts + 2, amountMinor: 5 },
  ]);
  await recordSales(pool, [{ ...byServer, orderId: 'o1', ts: ts + 3 }]);
  await recordSales(pool, [{ ...byPixel, orderId: 'o1', ts: ts + 4 }]);
  await m.purchase('n', 'o2', 10);
  await m.purchase('n', 'o2', 10);
  const sales = (await queuedEvents(api, shop)).map(({ type, data }) => [
    type,
    data.order_id,
    data.amount,
    data.source,
    data.visitor_id,
  ]);
  expect(sales).toEqual([
    ['sale.created', 'o1', 99_999, 'pixel', given.visitorId],
    ['sale.created', 'o2', 99_999, 'pixel', given.visitorId],
    ['sale.updated', 'o1', 10, 'server', given.visitorId],
    ['sale.updated', 'o2', 10, 'server', given.visitorId],
  ]);
});

test('a tracked renewal earns nothing where only first sales do, and its commissionable part counts', async ({
  api,
  shop,
}) => {
  await m.referral(FIRST);
  const given = {
    workspaceId: shop.workspace.id,
    source: 'server' as const,
    streamOrdinal: 0,
    visitorId: null,
    email: null,
    externalUserId: 'n',
    amountMinor: 10_000,
    currency: 'usd',
  };
  const evaluate = () => createOrderEvaluator({ pool: api.stores.pool })(new Date());
  const ts = Date.now() * 1_000;
  await upsertOrders(api.stores.pool, [{ ...given, orderId: 'o1', ts, isRenewal: true }]);
  await evaluate();
  expect((await m.purchase('n', 'o1', 100)).body.reason).toBe('renewal_not_covered');
  await upsertOrders(api.stores.pool, [{ ...given, orderId: 'o2', ts: ts + 1, commissionableMinor: 5_000 }]);
  await evaluate();
  expect(await m.balance('r')).toMatchObject({ pending: 10 });
});

test('a purchase earns on its commissionable amount, and a refund lowers it in proportion', async ({
  shop,
}) => {
  await m.referral({ commission_rate: 20 });
  await m.purchase('n', 'o1', 100, { commissionable_amount: 80 });
  expect(await m.balance('r')).toMatchObject({ pending: 16 });
  await m.refund('f1', 'o1', 25);
  expect(await m.balance('r')).toMatchObject({ pending: 12 });
  await m.refund('f2', 'o1');
  expect(await m.balance('r')).toMatchObject({ pending: 0 });
  expect((await m.purchase('n', 'o2', 100, { commissionable_amount: 0 })).body.reason).toBe(
    'amount_too_small',
  );
  const list = await shop.get<{ purchases: { commissionable_amount: number }[] }>('/purchases?order_id=o1');
  expect(list.body.purchases[0]?.commissionable_amount).toBe(80);
  for (const commissionable_amount of [100.01, -1, 0.001, '5']) {
    const refused = await shop.post('/referrals/report-purchase', {
      external_user_id: 'n',
      order_id: 'o3',
      amount: 100,
      commissionable_amount,
    });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'commissionable_amount']);
  }
});

test("stats show a foreign sale's currency beside the commission in the program's", async ({ api }) => {
  await setRate(api.stores.pool, { currency: 'eur', base: 'usd', rate: 2 });
  await m.referral({ commission_rate: 20 });
  await m.purchase('n', 'o1', 10, { currency: 'eur' });
  expect((await m.stats('r')).affiliate.recent_commissions).toMatchObject([
    { type: 'sale', amount: 10, currency: 'eur', earnings: 4 },
  ]);
});
