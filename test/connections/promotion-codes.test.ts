import { describe, expect } from 'vitest';
import type { CouponRecord } from '../../api/referrals/coupons/schemas.ts';
import { invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { pendingWork } from '../../sql/event-log/pending-work.ts';
import { makePromotionCodes } from '../../workers/connections/make-promotion-codes.ts';
import type { ErrorBody, TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { type StripePromotions, startStripePromotions } from '../support/stripe-promotions.ts';
import { ago, stripeShop, workerDependencies } from './rig.ts';

/** Promotion codes that are made in Stripe for coupons. The referrer is `r`. */

const KEY = 'rk_test_of_promotions';

let stripe: StripePromotions;
let shop: Awaited<ReturnType<typeof stripeShop>>;
/** Milliseconds by which the worker's clock is ahead. */
let ahead: number;

test.beforeEach(async ({ api }) => {
  stripe = await startStripePromotions();
  shop = await stripeShop(api, { restricted_key: KEY }, stripe.origin);
  await shop.referral({ commission_rate: 20, hold_days: 0 });
  ahead = 0;
  return () => stripe.close();
});

const make = (fields: object = { percent_off: 20 }, code = 'ANNA20') =>
  shop.shop.post<CouponRecord & ErrorBody>('/coupons', {
    code,
    external_user_id: 'r',
    promotion_code: fields,
  });
const coupon = async (): Promise<CouponRecord | undefined> =>
  (await shop.shop.get<{ coupons: CouponRecord[] }>('/coupons')).body.coupons[0];
const again = (id: string, fields: object = { percent_off: 20 }) =>
  shop.shop.post<CouponRecord & ErrorBody>(`/coupons/${id}/promotion-code`, fields);
async function work(api: TestApi, minutesAhead = 0, clock = Date.now) {
  ahead += minutesAhead * 60_000;
  const now = () => clock() + ahead;
  while (await makePromotionCodes(workerDependencies(api, stripe.origin), now)) {}
}

describe('a coupon with a promotion code', () => {
  test('is made in Stripe with its terms, and brings the orders that name it by id', async ({ api }) => {
    const made = await make({ percent_off: 12.5, duration: 'repeating', duration_in_months: 6 });
    expect([made.status, made.body.promotion_code]).toEqual([
      201,
      {
        connection_id: shop.connectionId,
        status: 'pending',
        reference: null,
        error: null,
        percent_off: 12.5,
        amount_off: null,
        currency: null,
        duration: 'repeating',
        duration_in_months: 6,
      },
    ]);
    expect((await pendingWork(api.stores.pool, Date.now())).promotionCodes).toBe(true);
    await work(api);
    expect((await pendingWork(api.stores.pool, Date.now())).promotionCodes).toBe(false);
    expect((await coupon())?.promotion_code).toMatchObject({
      status: 'active',
      reference: 'promo_1',
      error: null,
    });
    expect(stripe.coupons).toMatchObject([
      { name: 'ANNA20', percent_off: '12.5', duration: 'repeating', duration_in_months: '6' },
    ]);
    expect(stripe.codes).toMatchObject([
      { code: 'ANNA20', active: true, metadata: { hoplog_coupon_id: made.body.id } },
    ]);
    expect(stripe.codes[0]?.promotion).toMatchObject({ coupon: stripe.coupons[0]?.id });
    expect([...stripe.authorizations]).toEqual([`Bearer ${KEY}`]);
    // No event has named the text of the code.
    const bill = invoice('in_1', 2_000, {
      customer_email: 'new@mail.example',
      discounts: [{ promotion_code: 'promo_1' }],
    });
    await shop.tell(stripeEvent('invoice.paid', bill, ago(60)));
    expect((await shop.ledger()).purchases).toMatchObject([
      { order_id: 'stripe:in_1', referrer: 'r', rewarded: true },
    ]);
  });

  test.for<[currency: string, amount: number, sent: string]>([
    ['usd', 5.5, '550'],
    ['jpy', 500, '500'],
    ['kwd', 1.5, '1500'],
  ])('takes an amount of %s off, as Stripe counts it', async ([currency, amount, sent], { api }) => {
    await make({ amount_off: amount, currency: currency.toUpperCase() });
    await work(api);
    expect(stripe.coupons).toMatchObject([{ amount_off: sent, currency, duration: 'once' }]);
  });

  test('is made once where a response is lost, also after Stripe has forgotten the key', async ({ api }) => {
    await make();
    stripe.behave('lose-response', 'coupons');
    await work(api);
    stripe.behave('lose-response', 'promotion_codes');
    await work(api, 1);
    expect((await coupon())?.promotion_code).toMatchObject({
      status: 'pending',
      error: expect.stringContaining('connection'),
    });
    stripe.behave('work');
    await work(api, 10);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'active', reference: 'promo_1' });
    const keys = stripe.made.map(({ path, idempotencyKey }) => `${path} ${idempotencyKey}`);
    expect(new Set(keys).size).toBe(2);
    expect([stripe.coupons.length, stripe.codes.length]).toEqual([1, 1]);
  });

  test.each([
    [0.001, 'usd'],
    [0.5, 'JPY'],
    [1e-12, 'usd'],
  ])('is not made for %d %s, which is no amount of money', async (amount_off, currency) => {
    const { status, body } = await make({ amount_off, currency });
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'promotion_code.amount_off']);
    expect(await coupon()).toBeUndefined();
  });

  test('is found where a response is lost and Stripe has forgotten the key', async ({ api }) => {
    await make();
    stripe.behave('lose-response', 'promotion_codes');
    await work(api);
    stripe.behave('work');
    stripe.forgetKeys();
    await work(api, 1);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'active', reference: 'promo_1' });
    expect([stripe.coupons.length, stripe.codes.length]).toEqual([1, 1]);
  });

  test('is tried again under a new key when Stripe fails, and as soon as it is asked for', async ({
    api,
  }) => {
    const { body } = await make();
    stripe.behave({ status: 500, message: 'An error occurred.' });
    const at = Date.now();
    await work(api, 0, () => at);
    expect((await coupon())?.promotion_code).toMatchObject({
      status: 'pending',
      error: 'An error occurred.',
    });
    stripe.behave('work');
    await work(api, 0, () => at);
    expect(stripe.codes).toEqual([]); // not due yet
    expect((await again(body.id)).body.promotion_code).toMatchObject({ status: 'pending', error: null });
    await work(api);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'active' });
    expect((await again(body.id)).status).toBe(409);
  });

  test('is made where the coupon exists, and the look-up of it has no answer', async ({ api }) => {
    stripe.behave('lose-response', '/v1/coupons');
    await make();
    await work(api);
    stripe.behave('work');
    stripe.forgetKeys();
    stripe.before = async (method) => (method === 'GET' ? 'lose' : 'continue');
    await work(api, 60);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'pending' });
    stripe.before = async () => 'continue';
    await work(api, 60);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'active' });
    expect([stripe.coupons.length, stripe.codes.length]).toEqual([1, 1]);
  });

  test('fails at once when Stripe refuses it, shows why, and takes other terms', async ({ api }) => {
    const taken = { object: 'promotion_code', id: 'promo_own', code: 'anna20', active: true };
    stripe.codes.push({ ...taken, promotion: { coupon: 'own' } });
    const { body } = await make();
    await work(api);
    expect((await coupon())?.promotion_code).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('already exists'),
    });
    stripe.codes.length = 0;
    expect((await again(body.id, { percent_off: 30 })).status).toBe(200);
    await work(api);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'active', percent_off: 30 });
    expect(stripe.coupons.at(-1)).toMatchObject({ percent_off: '30' });
  });

  test('fails for good after the last attempt, and without a key says so', async ({ api }) => {
    await make();
    await shop.shop.patch(`/connections/${shop.connectionId}`, { restricted_key: null });
    await work(api);
    expect((await coupon())?.promotion_code).toMatchObject({
      status: 'pending',
      error: 'the connection has no restricted key',
    });
    for (let attempt = 2; attempt <= 8; attempt++) await work(api, 13 * 60);
    expect((await coupon())?.promotion_code).toMatchObject({ status: 'failed' });
    expect(stripe.made).toEqual([]);
  });

  test('ends in Stripe when the coupon is deleted, and its code is free for another referrer', async ({
    api,
  }) => {
    const { body } = await make();
    await work(api);
    await shop.shop.delete(`/coupons/${body.id}`);
    await work(api);
    expect(stripe.codes).toMatchObject([{ id: 'promo_1', active: false }]);
    await make();
    await work(api);
    expect(stripe.codes).toMatchObject([{ active: false }, { id: 'promo_2', active: true }]);
  });

  test('ends in Stripe when it is made after its claim, and the coupon was deleted meanwhile', async ({
    api,
  }) => {
    const { body } = await make();
    stripe.before = async (_method, path) => {
      if (path !== '/v1/promotion_codes') return 'continue';
      stripe.before = async () => 'continue';
      await shop.shop.delete(`/coupons/${body.id}`);
      // Another worker ends the code after the claim, and finds none.
      await work(api, 3);
      expect(stripe.codes).toEqual([]);
      return 'continue';
    };
    await work(api);
    await work(api);
    expect(stripe.codes).toMatchObject([{ active: false }]);
  });

  test('ends in Stripe when the referrer is erased while a response was lost', async ({ api }) => {
    const { body } = await make();
    stripe.behave('lose-response', 'promotion_codes');
    await work(api);
    stripe.behave('work');
    await shop.shop.delete(`/enrollments/${body.partner_id}`);
    await work(api);
    expect(stripe.codes).toMatchObject([{ active: false }]);
  });
});

test.each<[string, object, string, string?]>([
  ['no terms', {}, 'promotion_code.percent_off'],
  ['two terms', { percent_off: 5, amount_off: 5, currency: 'usd' }, 'promotion_code.percent_off'],
  ['an amount without a currency', { amount_off: 5 }, 'promotion_code.currency'],
  ['an unknown currency', { amount_off: 5, currency: 'xxq' }, 'promotion_code.currency'],
  [
    'months of a discount that does not repeat',
    { percent_off: 5, duration_in_months: 3 },
    'promotion_code.duration_in_months',
  ],
  [
    'a repeating discount without months',
    { percent_off: 5, duration: 'repeating' },
    'promotion_code.duration_in_months',
  ],
  [
    'another workspace’s connection',
    { percent_off: 5, connection_id: crypto.randomUUID() },
    'promotion_code.connection_id',
  ],
  ['a code with a blank', { percent_off: 5 }, 'code', 'SPRING SALE'],
])('a promotion code with %s is refused, with the coupon', async (_, fields, path, code = 'NEW') => {
  const { status, body } = await make(fields, code);
  expect([status, body.error.details?.[0]?.path]).toEqual([400, path]);
  expect(await coupon()).toBeUndefined();
});

test('a promotion code needs a Stripe connection with a restricted key', async () => {
  await shop.shop.patch(`/connections/${shop.connectionId}`, { restricted_key: null });
  const { status, body } = await make();
  expect([status, body.error.message]).toEqual([
    400,
    '`promotion_code.connection_id` must be a Stripe connection that has a restricted key',
  ]);
});

test('the connection of live mode makes promotion codes, unless another one is named', async () => {
  const other = await shop.shop.post<{ id: string }>('/connections', {
    provider: 'stripe',
    restricted_key: KEY,
    settings: { mode: 'test' },
  });
  expect((await make()).body.promotion_code?.connection_id).toBe(shop.connectionId);
  const named = await make({ percent_off: 20, connection_id: other.body.id }, 'TEST20');
  expect(named.body.promotion_code?.connection_id).toBe(other.body.id);
});
