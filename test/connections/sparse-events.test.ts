import { beforeEach, describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import * as lemon from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import {
  checkout,
  intent,
  invoicePayment,
  type StripeEvent,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { BUYER, later } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { paid, type StripeShop } from './stripe-orders.ts';

/**
 * Payments that name no buyer themselves, whom other events of the payer name. The referrer `r` brought the user `n`
 * (n@mail.example) and earns 20 percent at once.
 */

let shop: StripeShop;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
});
test.afterEach(async ({ api }) => {
  const checked = await verifyLedger(api.stores.pool, [shop.shop.workspace.id]);
  expect(checked).toMatchObject({ ok: true, wrong: [] });
});

const usersOf = async (of: StripeShop) => (await of.ledger()).purchases.map((one) => one.external_user_id);
/** Another shop like it, to which the events are told in another order. */
async function retold(api: TestApi, events: readonly StripeEvent[]) {
  const other = await stripeShop(api);
  await other.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
  await other.tell(...events);
  return other;
}

test.for<[buyer: string, fields: object]>([
  ['an account', { customer: null, customer_account: 'acct_1' }],
  ['a customer', { customer: 'cus_1' }],
])(
  'a checkout in setup mode names the buyer of later payments by its email: %s',
  async ([_, of], { api }) => {
    const session = checkout('cs_1', {
      ...of,
      mode: 'setup',
      setup_intent: 'seti_1',
      payment_status: 'no_payment_required',
      customer_details: { email: 'N@mail.example' },
    });
    const events = [
      stripeEvent('checkout.session.completed', session, ago(70)),
      paid('in_1', 10_000, { ...of, customer_email: null }),
    ];
    await shop.tell(...events);
    expect(await usersOf(shop)).toEqual(['n']);
    expect(await usersOf(await retold(api, events.toReversed()))).toEqual(['n']);
  },
);

describe('two emails of a customer in one second', () => {
  const customer = (email: string) => stripeObject('customer', { id: 'cus_1', email, metadata: {} });
  const told = (type: string, email: string, former?: string) =>
    stripeEvent(type, customer(email), ago(90), {
      data: {
        object: customer(email),
        ...(former !== undefined && { previous_attributes: { email: former } }),
      },
    });
  const payment = () =>
    stripeEvent(
      'payment_intent.succeeded',
      intent('pi_1', 10_000, { invoice: null, receipt_email: null }),
      ago(60),
    );
  const created = () => told('customer.created', 'first@mail.example');
  const second = () => told('customer.updated', 'second@mail.example', 'first@mail.example');
  const last = () => told('customer.updated', 'n@mail.example', 'second@mail.example');
  test.each<[string, () => StripeEvent[]]>([
    ['in order', () => [created(), second(), last()]],
    ['the last one first', () => [last(), second(), created()]],
    ['the first one last', () => [second(), last(), created()]],
    ['the first one second', () => [last(), created(), second()]],
    ['the second one last', () => [created(), last(), second()]],
    ['a change that is told before', () => [second(), created(), last()]],
  ])('are that of the last change: %s', async (_, events) => {
    await shop.tell(...events(), payment());
    expect(await usersOf(shop)).toEqual(['n']);
  });
});

describe('the coupon of a trial', () => {
  const code = () =>
    stripeEvent(
      'promotion_code.created',
      stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA20' }),
      ago(95),
    );
  const trial = () =>
    paid(
      'in_0',
      0,
      { subtotal: 0, customer_email: null, discounts: [{ promotion_code: 'promo_1' }] },
      ago(90),
    );
  const first = (fields: object = {}) =>
    paid('in_1', 10_000, { billing_reason: 'subscription_cycle', customer_email: null, ...fields }, ago(60));
  const renewal = () =>
    paid('in_2', 10_000, { billing_reason: 'subscription_cycle', customer_email: null }, ago(30));
  beforeEach(async () => {
    await shop.enroll('anna');
    expect((await shop.shop.post('/coupons', { code: 'ANNA20', external_user_id: 'anna' })).status).toBe(201);
  });

  test.each<[string, () => StripeEvent[]]>([
    ['in order', () => [code(), trial(), first(), renewal()]],
    ['the trial last', () => [first(), renewal(), code(), trial()]],
    ['the text of the code last', () => [trial(), renewal(), first(), code()]],
  ])('brings its first paid invoice and the renewals to the owner: %s', async (_, events) => {
    await shop.tell(...events());
    expect((await shop.balance('anna')).eligible).toBe(40);
    const renewals = (await shop.ledger()).purchases.map(({ order_id, is_renewal }) => [
      order_id,
      is_renewal,
    ]);
    expect(renewals).toEqual([
      ['stripe:in_1', false],
      ['stripe:in_2', true],
    ]);
  });

  test('comes behind a buyer whom metadata names, and before one who is found by email', async ({ api }) => {
    await shop.tell(code(), trial(), first({ metadata: { hoplog_user_id: 'n' } }));
    expect((await shop.balance('r')).eligible).toBe(20);
    const other = await retold(api, []);
    await other.enroll('anna');
    await other.shop.post('/coupons', { code: 'ANNA20', external_user_id: 'anna' });
    await other.tell(code(), trial(), first({ customer_email: 'n@mail.example' }));
    expect((await other.balance('anna')).eligible).toBe(20);
  });
});

test('a purchase that is given up is in no list of unmatched ones, and no open decision', async () => {
  const unnamed = { customer: null, customer_email: null };
  await shop.tell(
    stripeEvent(
      'payment_intent.succeeded',
      intent('pi_1', 10_000, { invoice: null, metadata: { hoplog_user_id: 'n' } }),
      ago(59),
    ),
    paid(
      'in_1',
      10_000,
      { billing_reason: 'manual', subscription: null, metadata: { hoplog_user_id: 'n' } },
      ago(58),
    ),
    paid('in_2', 10_000, { ...unnamed, billing_reason: 'manual', subscription: null }, ago(57)),
    stripeEvent('invoice_payment.paid', invoicePayment('inpay_1', 'in_1', 'pi_1'), ago(50)),
  );
  type Listed = { purchases: { order_id: string }[] };
  const listed = async (query: string) =>
    (await shop.shop.get<Listed>(`/purchases?${query}`)).body.purchases.map((one) => one.order_id);
  expect(await listed('matched=false')).toEqual(['stripe:in_2']);
  expect(await listed('reason=same_payment')).toEqual(['stripe:in_1']);
  const { body } = await shop.shop.get<{ decisions: { unmatched_purchases: number } }>('/referrals/summary');
  expect(body.decisions.unmatched_purchases).toBe(1);
});

test('an order of Lemon Squeezy that a discount pays in full is no trial', async ({ api }) => {
  const sold = {
    ...lemon.order,
    customer_id: 7,
    total: 0,
    tax: 0,
    created_at: later(1),
    updated_at: later(1),
  };
  for (const [amounts, outcome] of [
    [{ subtotal: 10_000, discount_total: 10_000 }, ['ignored', 'nothing_paid']],
    [{ subtotal: 0, discount_total: 0 }, ['recorded', 'trial_nothing_paid']],
  ] as const) {
    const other = await providerShop(api, 'lemonsqueezy');
    await other.tell(lemon.lemonSqueezyEvent('order_created', '1', { ...sold, ...amounts }, BUYER));
    expect((await other.outcomes()).map((row) => row.slice(1))).toEqual([outcome]);
  }
});
