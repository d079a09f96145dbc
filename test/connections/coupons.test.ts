import { expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import {
  checkout,
  invoice,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { later } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';

/** Payments with a referrer's coupon. The referrer `r` brought the user `n`; `owner` has the coupon ANNA20. */

let shop: Awaited<ReturnType<typeof stripeShop>>;
let referrer: string;
let owner: string;
let coupon: string;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  const program = { commission_rate: 20, hold_days: 0 };
  referrer = (await shop.referral(program, { email: 'n@mail.example' })).partner_id;
  owner = (await shop.enroll('owner')).partner_id;
  const made = await shop.shop.post<{ id: string }>('/coupons', {
    code: 'Anna20',
    external_user_id: 'owner',
  });
  coupon = made.body.id;
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
});

const code = (at = ago(90)) =>
  stripeEvent(
    'promotion_code.created',
    stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA20' }),
    at,
  );
const paid = (id: string, fields: object = {}, at = ago(60)) =>
  stripeEvent(
    'invoice.paid',
    invoice(id, 2_000, { subscription: 'sub_1', discounts: [{ promotion_code: 'promo_1' }], ...fields }),
    at,
  );

/** By order: its referrer, its coupon, and whether it was rewarded. */
async function orders() {
  const { purchases } = (
    await shop.shop.get<{
      purchases: { order_id: string; partner_id: string | null; coupon: string | null; rewarded: boolean }[];
    }>('/purchases')
  ).body;
  return Object.fromEntries(
    purchases.map(({ order_id, partner_id, coupon: used, rewarded }) => [
      order_id,
      [partner_id, used, rewarded],
    ]),
  );
}

test('a payment with a coupon belongs to its owner, without a known buyer, and its renewal too', async () => {
  await shop.tell(
    code(),
    paid('in_1', { customer_email: 'new@mail.example' }),
    paid(
      'in_2',
      { customer_email: 'new@mail.example', billing_reason: 'subscription_cycle', discounts: [] },
      ago(30),
    ),
  );
  expect(await orders()).toEqual({
    'stripe:in_1': [owner, 'Anna20', true],
    'stripe:in_2': [owner, 'Anna20', true],
  });
  expect(await shop.outcomes()).toEqual([
    ['promotion_code.created', 'recorded', null],
    ['invoice.paid', 'recorded', null],
    ['invoice.paid', 'recorded', null],
  ]);
});

test('the coupon is found when Stripe tells its text after the payment', async () => {
  await shop.tell(paid('in_1', { customer_email: 'new@mail.example' }), code(ago(10)));
  expect(await orders()).toEqual({ 'stripe:in_1': [owner, 'Anna20', true] });
});

test('a buyer with a referrer, named by metadata, comes before the coupon; one found by email does not', async () => {
  await shop.tell(
    code(),
    stripeEvent(
      'checkout.session.completed',
      checkout('cs_1', {
        metadata: { hoplog_user_id: 'n' },
        mode: 'subscription',
        invoice: 'in_1',
        subscription: 'sub_1',
      }),
      ago(60),
    ),
    paid('in_1'),
    paid('in_2', { customer: 'cus_2', customer_email: 'n@mail.example', subscription: 'sub_2' }),
  );
  expect(await orders()).toEqual({
    'stripe:in_1': [referrer, 'Anna20', true],
    'stripe:in_2': [owner, 'Anna20', true],
  });
});

test('a buyer who is named by a tie after the payment comes before the coupon too', async () => {
  await shop.tell(code(), paid('in_1', { customer: 'cus_9', customer_email: 'n@mail.example' }));
  expect(await orders()).toEqual({ 'stripe:in_1': [owner, 'Anna20', true] });
  const customer = stripeObject('customer', { id: 'cus_9', metadata: { hoplog_user_id: 'n' } });
  await shop.tell(stripeEvent('customer.updated', customer, ago(5)));
  expect(await orders()).toEqual({ 'stripe:in_1': [referrer, 'Anna20', true] });
});

test('an order stays its owner’s when the coupon is deleted and a later event tells of the payment again', async () => {
  await shop.tell(code(), paid('in_1', { customer_email: 'new@mail.example' }));
  await shop.shop.delete(`/coupons/${coupon}`);
  await shop.tell(paid('in_1', { customer_email: 'new@mail.example' }, ago(20)), paid('in_9', {}, ago(10)));
  const found = await orders();
  expect(found['stripe:in_1']).toEqual([owner, 'Anna20', true]);
  expect(found['stripe:in_9']?.[1] ?? null).toBeNull();
});

const paddleOrder = (id: string) =>
  paddle.paddleEvent(
    'transaction.completed',
    {
      ...paddle.transaction,
      id,
      custom_data: null,
      discount_id: paddle.discount.id,
      details: paddle.totals('USD', { total: 11_900, tax: 1_900 }),
      billed_at: later(1),
    },
    later(1),
  );
const paddleCode = () =>
  paddle.paddleEvent('discount.created', { ...paddle.discount, code: 'ANNA20' }, later(0));

test.for<[string, Parameters<typeof providerShop>[1], string, () => SentEvent[]]>([
  ['Paddle', 'paddle', 'paddle:txn_1', () => [paddleCode(), paddleOrder('txn_1')]],
  ['Paddle, told after the payment,', 'paddle', 'paddle:txn_1', () => [paddleOrder('txn_1'), paddleCode()]],
  [
    'Polar',
    'polar',
    'polar:order-1',
    () => [
      polar.polarEvent(
        'order.paid',
        {
          ...polar.order,
          id: 'order-1',
          metadata: {},
          discount_id: 'd-1',
          discount: { id: 'd-1', code: 'ANNA20' },
        },
        later(1),
      ),
    ],
  ],
  [
    'Shopify',
    'shopify',
    'shopify:820982911946154508',
    () => [
      shopify.shopifyEvent('orders/paid', {
        ...shopify.order,
        test: false,
        note_attributes: [],
        discount_codes: [{ code: 'anna20', amount: '20.00', type: 'fixed_amount' }],
      }),
    ],
  ],
])(
  'a code that an event of %s names brings the order to its owner',
  async ([_, provider, orderId, events], { api }) => {
    const other = await providerShop(api, provider);
    const { partner_id: own } = await other.enroll('owner');
    await other.shop.post('/coupons', { code: 'Anna20', external_user_id: 'owner' });
    await other.tell(...events());
    type Purchases = {
      purchases: { order_id: string; partner_id: string; coupon: string; rewarded: boolean }[];
    };
    const { purchases } = (await other.shop.get<Purchases>('/purchases')).body;
    expect(purchases).toMatchObject([
      { order_id: orderId, partner_id: own, coupon: 'Anna20', rewarded: true },
    ]);
  },
);

test('a code that people type may look like an id of another provider', async ({ api }) => {
  const orders = {
    shopify: (code: string) =>
      shopify.shopifyEvent('orders/paid', {
        ...shopify.order,
        test: false,
        note_attributes: [],
        discount_codes: [{ code, amount: '20.00', type: 'fixed_amount' }],
      }),
    polar: (code: string) =>
      polar.polarEvent(
        'order.paid',
        { ...polar.order, id: 'order-1', metadata: {}, discount: { id: 'd-1', code } },
        later(1),
      ),
  };
  for (const provider of ['shopify', 'polar'] as const) {
    for (const [code, owned] of [
      ['promo_anna', true],
      ['di_anna', true],
      ['promo_other', false],
    ] as const) {
      const other = await providerShop(api, provider);
      if (owned) await other.shop.post('/coupons', { code, external_user_id: 'r' });
      await other.tell(orders[provider](code));
      const outcome = owned ? ['recorded', null] : ['unmatched', 'no_buyer'];
      expect((await other.outcomes()).map((row) => row.slice(1))).toEqual([outcome]);
    }
  }
});
