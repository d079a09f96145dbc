import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  charge,
  checkout,
  intent,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { forgetPerson } from '../../sql/erasure/erased-persons.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, SECRET, stripeCall, stripeShop } from './rig.ts';
import { order, ordersOf, paid, pass, type StripeShop } from './stripe-orders.ts';

/**
 * Once anything has named a customer, every later payment has the same buyer. The referrer `r` brought the user `n`
 * (n@mail.example) and earns 20 percent at once.
 */

let shop: StripeShop;
let partner: string;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  partner = (await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' }))
    .partner_id;
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({
    ok: true,
    wrong: [],
  });
});

const balance = async () => (await shop.balance('r')).eligible;
const renewal = (id: string, fields: object = {}, at = ago(20)) =>
  paid(id, 10_000, { billing_reason: 'subscription_cycle', ...fields }, at);
/** How the next invoice may name its buyer. */
const EMAILS = [
  ['the same email', { customer_email: 'n@mail.example' }],
  ['another email', { customer_email: 'new@work.example' }],
  ['no email', { customer_email: null }],
] as const;

describe.each(EMAILS)('the next invoice, with %s,', (_, email) => {
  test('is of the buyer whom the email of an earlier one named', async () => {
    await shop.tell(paid('in_1', 10_000, { customer_email: 'n@mail.example' }), renewal('in_2', email));
    expect(await ordersOf(shop)).toEqual({
      'stripe:in_1': order(10_000),
      'stripe:in_2': order(10_000, { renewal: true }),
    });
  });

  test('is of the buyer whom a merchant assigned', async ({ api }) => {
    const first = paid('in_1', 10_000);
    await shop.tell(first);
    const unmatched = async () =>
      (
        await shop.shop.get<{ purchases: { order_id: string; provider_event: object }[] }>(
          '/purchases?matched=false',
        )
      ).body.purchases;
    // The list of purchases without a referrer says what was looked for, and which event to assign.
    expect(await unmatched()).toMatchObject([
      {
        order_id: 'stripe:in_1',
        provider_event: {
          connection_id: shop.connectionId,
          event_id: first.id,
          reason: 'no_buyer',
          customer: 'cus_1',
          subscription: 'sub_1',
        },
      },
    ]);
    const path = `/connections/${shop.connectionId}/events/${first.id}/assign`;
    expect((await shop.shop.post(path, { partner_id: partner })).status).toBe(200);
    expect(await unmatched()).toEqual([]);
    await pass(api, shop, 24 * 30);
    await shop.tell(renewal('in_2', email));
    expect(await ordersOf(shop)).toEqual({
      'stripe:in_1': order(10_000, { user: 'stripe:cus_1' }),
      'stripe:in_2': order(10_000, { user: 'stripe:cus_1', renewal: true }),
    });
    expect((await shop.outcomes()).map(([, status]) => status)).toEqual(['recorded', 'recorded']);
  });

  test('is of the referrer whose coupon brought an earlier one', async () => {
    await shop.shop.post('/coupons', { code: 'ANNA20', external_user_id: 'r' });
    const code = stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA20' });
    await shop.tell(
      stripeEvent('promotion_code.created', code, ago(90)),
      paid('in_1', 10_000, { customer_email: 'guest@x.example', discounts: [{ promotion_code: 'promo_1' }] }),
      renewal('in_2', {
        ...email,
        ...(email.customer_email === 'n@mail.example' && { customer_email: 'guest@x.example' }),
      }),
    );
    expect(await balance()).toBe(40);
    expect((await shop.outcomes()).map(([, status]) => status)).toEqual(Array(3).fill('recorded'));
  });

  test('is of the buyer whom a report by hand named', async () => {
    await shop.signup('m', { ref_code: (await shop.enroll('r2')).ref });
    await shop.purchase('m', 'stripe:in_1', 100);
    await shop.tell(paid('in_1', 10_000), renewal('in_2', email));
    expect((await ordersOf(shop))['stripe:in_2']).toMatchObject({ user: 'm', earned: 2_000 });
  });
});

test('a renewal of a coupon’s order is its owner’s, also under the email of a user with another referrer', async () => {
  await shop.enroll('r2');
  await shop.shop.post('/coupons', { code: 'R2SAVES', external_user_id: 'r2' });
  const code = stripeObject('promotion_code', { id: 'promo_1', code: 'R2SAVES' });
  await shop.tell(
    stripeEvent('promotion_code.created', code, ago(90)),
    paid('in_1', 10_000, { discounts: [{ promotion_code: 'promo_1' }] }),
    renewal('in_2', { customer_email: 'n@mail.example' }),
  );
  const { purchases } = await shop.ledger();
  expect(purchases.map(({ referrer, earned }) => [referrer, earned])).toEqual([
    ['r2', 2_000],
    ['r2', 2_000],
  ]);
});

test('an earlier purchase that is told of later names the buyer too', async () => {
  await shop.tell(renewal('in_2'), paid('in_1', 10_000, { customer_email: 'n@mail.example' }));
  expect(await balance()).toBe(40);
});

test('a later purchase by another email changes no earlier one, in any order', async () => {
  await shop.signup('m', { ref_code: (await shop.enroll('r2')).ref, email: 'm@mail.example' });
  const first = () => paid('in_1', 10_000, { customer_email: 'n@mail.example' });
  const second = () => renewal('in_2', { customer_email: 'm@mail.example' });
  await shop.tell(second(), first());
  expect((await shop.ledger()).purchases.map((one) => one.external_user_id)).toEqual(['n', 'n']);
});

test('assigning one payment names the buyer of those that wait beside it', async () => {
  const first = paid('in_1', 10_000);
  await shop.tell(first, renewal('in_2'));
  expect(await balance()).toBe(0);
  const path = `/connections/${shop.connectionId}/events/${first.id}/assign`;
  expect((await shop.shop.post(path, { partner_id: partner })).status).toBe(200);
  expect(await balance()).toBe(40);
});

test('a first sale stays the first under a new email, also where only a coupon names its referrer', async ({
  api,
}) => {
  shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, hold_days: 0, first_sale_only: true });
  await shop.shop.post('/coupons', { code: 'ANNA20', external_user_id: 'r' });
  const discounts = [{ promotion_code: 'promo_1' }];
  const code = stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA20' });
  const alone = { billing_reason: 'manual', subscription: null, discounts };
  await shop.tell(
    stripeEvent('promotion_code.created', code, ago(90)),
    paid('in_1', 10_000, { ...alone, customer_email: 'one@x.example' }),
    paid('in_2', 10_000, { ...alone, customer_email: 'two@x.example' }, ago(30)),
    // Another customer with the first one's email is the same buyer.
    paid('in_3', 10_000, { ...alone, customer: 'cus_2', customer_email: 'one@x.example' }, ago(20)),
  );
  expect(await balance()).toBe(20);
  const { purchases } = (await shop.shop.get<{ purchases: { reason: string | null }[] }>('/purchases')).body;
  expect(purchases.map(({ reason }) => reason)).toEqual(['not_first_sale', 'not_first_sale', null]);
});

describe('an account of Stripe instead of a customer', () => {
  const of = { customer: null, customer_account: 'acct_1' };
  test.each(['subscription', 'setup'])('is tied by a checkout in %s mode', async (mode) => {
    const session = checkout('cs_1', {
      ...of,
      mode,
      client_reference_id: 'n',
      ...(mode === 'subscription' && { invoice: 'in_1', subscription: 'sub_1' }),
      ...(mode === 'setup' && { setup_intent: 'seti_1', payment_status: 'no_payment_required' }),
    });
    await shop.tell(
      stripeEvent('checkout.session.completed', session, ago(70)),
      paid('in_1', 10_000, of),
      renewal('in_2', { ...of, subscription: 'sub_2' }),
    );
    expect((await shop.ledger()).purchases.map((one) => one.external_user_id)).toEqual(['n', 'n']);
  });
});

describe("the customer's email", () => {
  test('of Stripe names the buyer of a payment without one', async ({ api }) => {
    const customer = stripeObject('customer', { id: 'cus_1', email: 'N@mail.example', metadata: {} });
    const nameless = intent('pi_1', 10_000, { invoice: null, receipt_email: null });
    for (const events of [
      [
        stripeEvent('customer.created', customer, ago(90)),
        stripeEvent('payment_intent.succeeded', nameless, ago(60)),
      ],
      [
        stripeEvent('payment_intent.succeeded', nameless, ago(60)),
        stripeEvent('customer.created', customer, ago(90)),
      ],
    ]) {
      const other = await stripeShop(api);
      await other.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
      await other.tell(...events);
      expect((await other.ledger()).purchases.map((one) => one.external_user_id)).toEqual(['n']);
    }
  });

  test('is forgotten with the person', async ({ api }) => {
    const customer = stripeObject('customer', { id: 'cus_1', email: 'Gone@mail.example' });
    await shop.tell(stripeEvent('customer.created', customer, ago(90)));
    await inTransaction(api.stores.pool, (tx) =>
      forgetPerson(tx, shop.shop.workspace.id, 'gone@mail.example', { now: new Date(), by: 'operator' }),
    );
    const { rows } = await api.stores.pool.query('SELECT FROM connection_customers WHERE workspace_id = $1', [
      shop.shop.workspace.id,
    ]);
    expect(rows).toEqual([]);
  });
});

test('customers and payments are known after the connection is made again', async ({ api }) => {
  await shop.tell(
    stripeEvent(
      'customer.created',
      stripeObject('customer', { id: 'cus_1', metadata: { hoplog_user_id: 'n' } }),
      ago(90),
    ),
    paid('in_1', 10_000, { charge: 'ch_1', payment_intent: 'pi_1' }),
  );
  await shop.shop.delete(`/connections/${shop.connectionId}`);
  const made = await shop.shop.post<{ id: string }>('/connections', {
    provider: 'stripe',
    signing_secret: SECRET,
  });
  const refund = charge('ch_1', 10_000, { payment_intent: 'pi_1', amount_refunded: 5_000 });
  for (const event of [renewal('in_2'), stripeEvent('charge.refunded', refund, ago(5))]) {
    expect((await stripeCall(api, made.body.id, event)).status).toBe(200);
    await shop.work();
  }
  expect(await ordersOf(shop)).toEqual({
    'stripe:in_1': order(10_000, { refunded: 5_000, earned: 1_000 }),
    'stripe:in_2': order(10_000, { renewal: true }),
  });
});

test('a payment that waits while the account is not connected is settled by the next connection', async ({
  api,
}) => {
  await shop.tell(
    stripeEvent(
      'payment_intent.succeeded',
      intent('pi_1', 10_000, { metadata: { hoplog_user_id: 'n' } }),
      ago(9),
    ),
  );
  await shop.shop.delete(`/connections/${shop.connectionId}`);
  await pass(api, shop, 73);
  await shop.settleDue();
  expect((await shop.ledger()).purchases).toEqual([]);
  await shop.shop.post('/connections', { provider: 'stripe' });
  await shop.settleDue();
  expect((await shop.ledger()).purchases.map((one) => one.order_id)).toEqual(['stripe:pi_1']);
});

test('a buyer who has the payout address of the referrer is the referrer', async () => {
  await shop.address(partner, 'r');
  const coupon = { discounts: [{ promotion_code: 'promo_1' }] };
  await shop.shop.post('/coupons', { code: 'R20', external_user_id: 'r' });
  await shop.signup('x', { ref_code: (await shop.enroll('r')).ref, email: 'R@pay.example' });
  await shop.tell(
    stripeEvent(
      'promotion_code.created',
      stripeObject('promotion_code', { id: 'promo_1', code: 'R20' }),
      ago(90),
    ),
    paid('in_1', 10_000, { ...coupon, customer_email: 'r@pay.example' }),
  );
  await shop.purchase('x', 'by-hand', 100);
  const { purchases } = (await shop.shop.get<{ purchases: { reason: string }[] }>('/purchases')).body;
  expect(purchases.map(({ reason }) => reason)).toEqual(['self_referral', 'self_referral']);
});

test('a coupon order with the payout address of its referrer, and no signup, is the referrer’s own', async () => {
  await shop.address(partner, 'r');
  await shop.shop.post('/coupons', { code: 'R20', external_user_id: 'r' });
  await shop.tell(
    stripeEvent(
      'promotion_code.created',
      stripeObject('promotion_code', { id: 'promo_1', code: 'R20' }),
      ago(90),
    ),
    paid('in_1', 10_000, { discounts: [{ promotion_code: 'promo_1' }], customer_email: 'R@pay.example' }),
  );
  const { purchases } = (await shop.shop.get<{ purchases: { reason: string }[] }>('/purchases')).body;
  expect(purchases.map(({ reason }) => reason)).toEqual(['self_referral']);
});

test('two referrers who buy with the coupons of each other earn once', async () => {
  await shop.enroll('r2');
  for (const user of ['r', 'r2'])
    await shop.shop.post('/coupons', { code: `OF-${user}`, external_user_id: user });
  const code = (id: string, text: string) =>
    stripeEvent('promotion_code.created', stripeObject('promotion_code', { id, code: text }), ago(90));
  await shop.tell(
    code('promo_1', 'OF-r2'),
    code('promo_2', 'OF-r'),
    paid('in_1', 10_000, { discounts: [{ promotion_code: 'promo_1' }], customer_email: 'r@mail.example' }),
    paid('in_2', 10_000, {
      discounts: [{ promotion_code: 'promo_2' }],
      customer: 'cus_2',
      subscription: 'sub_2',
      customer_email: 'r2@mail.example',
    }),
  );
  const { purchases } = (await shop.shop.get<{ purchases: { reason: string | null }[] }>('/purchases')).body;
  expect(purchases.map(({ reason }) => reason)).toEqual(['mutual_referral', null]);
});

test('events of a connected account of Stripe count where the connection lists it', async () => {
  const of = (id: string) => ({
    ...paid(id, 10_000, { customer_email: 'n@mail.example' }),
    account: 'acct_other',
  });
  await shop.tell(of('in_1'));
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'ignored', 'connected_account']]);
  const path = `/connections/${shop.connectionId}`;
  const changed = await shop.shop.patch<{ settings: object }>(path, {
    settings: { accounts: ['acct_other'] },
  });
  expect(changed.body.settings).toEqual({ mode: 'live', accounts: ['acct_other'] });
  await shop.tell(of('in_2'));
  expect(await balance()).toBe(20);
});

test.each(['sk_live_abc', 'we_1Pgaf', 'rk_live_abc', 'whsec_', ' whsec_ '])(
  '%s is no signing secret of Stripe',
  async (secret) => {
    const refused = await shop.shop.post<{ error: { message: string } }>('/connections', {
      provider: 'stripe',
      signing_secret: secret,
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('whsec_');
  },
);
