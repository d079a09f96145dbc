import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import {
  charge,
  checkout,
  dispute,
  intent,
  invoice,
  invoicePayment,
  type StripeEvent,
  stripeEvent,
} from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { later } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { order, ordersOf, pass, type StripeShop } from './stripe-orders.ts';

/**
 * What providers report days after a payment: that two ids are one payment, that an order has another amount, and
 * partial refunds. The referrer `r` brought the user `n` and earns 20 percent at once; payments are of 100.
 */

let shop: StripeShop;
let partner: string;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  partner = (await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' }))
    .partner_id;
});
test.afterEach(async ({ api }) => {
  const checked = await verifyLedger(api.stores.pool, [shop.shop.workspace.id]);
  expect(checked).toMatchObject({ ok: true, wrong: [] });
});

const named = { metadata: { hoplog_user_id: 'n' } };
const balance = async () => (await shop.balance('r')).eligible;
/** The purchases that count, and the balance. */
const end = async () => {
  const orders = Object.entries(await ordersOf(shop)).filter(
    ([, one]) => (one as { reason?: string }).reason !== 'same_payment',
  );
  return { orders: Object.fromEntries(orders), balance: await balance() };
};

const paidIntent = (fields: object = {}, amount = 10_000) =>
  stripeEvent(
    'payment_intent.succeeded',
    intent('pi_1', amount, { customer: null, latest_charge: 'ch_1', invoice: null, ...fields }),
    ago(59),
  );
const paidInvoice = (fields: object = {}, total = 10_000, at = ago(58)) =>
  stripeEvent('invoice.paid', invoice('in_1', total, { billing_reason: 'manual', ...named, ...fields }), at);
const joined = () => stripeEvent('invoice_payment.paid', invoicePayment('inpay_1', 'in_1', 'pi_1'), ago(50));
const bothNamed = () =>
  stripeEvent(
    'checkout.session.completed',
    checkout('cs_1', { payment_intent: 'pi_1', invoice: 'in_1' }),
    ago(50),
  );
const refundedAll = () =>
  stripeEvent(
    'charge.refunded',
    charge('ch_1', 10_000, { customer: null, payment_intent: 'pi_1', amount_refunded: 10_000 }),
    ago(10),
  );

describe('two ids that are joined days later', () => {
  const LATE: [string, () => StripeEvent[]][] = [
    ['by an invoice payment', () => [paidInvoice(), joined()]],
    ['by an invoice payment that comes first', () => [joined(), paidInvoice()]],
    ['by a checkout', () => [paidInvoice(), bothNamed()]],
    ['by the invoice', () => [paidInvoice({ payment_intent: 'pi_1' })]],
  ];
  test.for(LATE)('have the buyer of either: %s', async ([_, events], { api }) => {
    await shop.tell(paidIntent());
    expect(await balance()).toBe(0);
    await pass(api, shop, 24 * 4);
    await shop.tell(...events());
    expect(await end()).toEqual({ orders: { 'stripe:pi_1': order(10_000) }, balance: 20 });
    await shop.tell(refundedAll());
    expect(await balance()).toBe(0);
  });

  test('have the buyer of either also where both are old', async ({ api }) => {
    await shop.tell(paidIntent(), paidInvoice());
    await pass(api, shop, 24 * 40);
    await shop.tell(bothNamed());
    expect(await end()).toEqual({ orders: { 'stripe:pi_1': order(10_000) }, balance: 20 });
  });

  const withTax = () => paidInvoice({ total_excluding_tax: 10_000 }, 11_900);
  test.for<[order: string, events: () => ReturnType<typeof joined>[]]>([
    ['invoice first', () => [withTax(), joined()]],
    ['invoice last', () => [joined(), withTax()]],
  ])('have the amount of the invoice: %s', async ([_, events], { api }) => {
    await shop.tell(paidIntent(named, 11_900));
    expect(await balance()).toBe(23.8);
    await pass(api, shop, 24 * 4);
    await shop.tell(...events());
    const orders = { 'stripe:pi_1': order(11_900, { base: 10_000, earned: 2_000 }) };
    expect(await end()).toEqual({ orders, balance: 20 });
  });
});

describe('an order that has another amount days later', () => {
  const changed = (total: number, at: number, fields: object = {}) => paidInvoice(fields, total, at);
  const payAll = async () => {
    const file = await shop.exportPayouts();
    await shop.pay(file.id);
  };

  test.beforeEach(async ({ api }) => {
    await shop.tell(changed(10_000, ago(60)));
    await pass(api, shop, 24 * 4);
  });

  test('earns what it amounts to now, and an older state changes nothing', async () => {
    await shop.tell(changed(15_000, ago(40)));
    expect(await end()).toEqual({ orders: { 'stripe:in_1': order(15_000) }, balance: 30 });
    await shop.tell(changed(5_000, ago(50)));
    expect(await balance()).toBe(30);
    await shop.tell(changed(5_000, ago(30)));
    expect(await end()).toEqual({ orders: { 'stripe:in_1': order(5_000) }, balance: 10 });
  });

  test('keeps its buyer', async () => {
    await shop.enroll('r2');
    await shop.tell(changed(15_000, ago(40), { metadata: { hoplog_user_id: 'other' } }));
    expect(await end()).toEqual({ orders: { 'stripe:in_1': order(15_000) }, balance: 30 });
  });

  test.each([
    ['more', 15_000, 10],
    ['less', 5_000, -10],
    ['nothing', 0, -20],
  ])('changes the next payout when it was paid: %s', async (_, total, left) => {
    await payAll();
    expect(await balance()).toBe(0);
    await shop.tell(changed(total, ago(40)));
    expect(await balance()).toBe(left);
    // The same event again changes nothing, and the former amount reverses all of it.
    await shop.tell(changed(total, ago(40)));
    expect(await balance()).toBe(left);
    await shop.tell(changed(10_000, ago(30)));
    expect(await balance()).toBe(0);
  });

  test('changes the next payout when it is in an open file', async () => {
    const file = await shop.exportPayouts();
    await shop.tell(changed(15_000, ago(40)));
    expect(await balance()).toBe(30);
    await shop.pay(file.id);
    expect(await balance()).toBe(10);
    await shop.tell(changed(8_000, ago(30)));
    expect(await balance()).toBe(-4);
    await shop.fail(file.id, partner);
    expect(await balance()).toBe(16);
  });

  test('has refunds of what it amounts to now', async () => {
    await payAll();
    const refundOf = (amount_refunded: number, at: number) =>
      stripeEvent(
        'charge.refunded',
        charge('ch_1', 10_000, { payment_intent: 'pi_1', invoice: 'in_1', amount_refunded }),
        at,
      );
    await shop.tell(refundOf(5_000, ago(50)));
    expect(await balance()).toBe(-10);
    await shop.tell(changed(15_000, ago(40)));
    expect(await balance()).toBe(0);
    await shop.tell(refundOf(15_000, ago(35)));
    expect(await balance()).toBe(-20);
    const won = (status: string, at: number) =>
      stripeEvent(
        `charge.dispute.${status === 'won' ? 'closed' : 'created'}`,
        dispute('dp_1', 'ch_1', 5_000, status),
        at,
      );
    await shop.tell(refundOf(6_000, ago(30)), won('needs_response', ago(29)));
    expect(await balance()).toBe(-12);
    await shop.tell(won('won', ago(28)));
    expect(await balance()).toBe(-2);
    await shop.tell(changed(10_000, ago(20)));
    expect(await balance()).toBe(-12);
  });

  test('that was refunded in full earns what is left of more', async () => {
    await shop.tell(
      stripeEvent(
        'charge.refunded',
        charge('ch_1', 10_000, { invoice: 'in_1', amount_refunded: 10_000 }),
        ago(50),
      ),
    );
    expect(await balance()).toBe(0);
    await shop.tell(changed(15_000, ago(40)));
    expect(await balance()).toBe(10);
  });
});

test('a flat commission that is paid stays, and its refunds are of the new amount', async ({ api }) => {
  shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, commission_type: 'flat', hold_days: 0 });
  await shop.tell(paidInvoice());
  await shop.pay((await shop.exportPayouts()).id);
  await shop.refund('by-hand', 'stripe:in_1', 50);
  expect(await balance()).toBe(-10);
  await shop.tell(paidInvoice({}, 20_000, ago(40)));
  expect(await balance()).toBe(-5);
});

describe('a refund that is told by hand of one id and by the provider of the other', () => {
  const own = () =>
    stripeEvent(
      'charge.refunded',
      charge('ch_1', 10_000, { customer: null, payment_intent: 'pi_1', amount_refunded: 5_000 }),
      ago(30),
    );
  const note = () =>
    stripeEvent(
      'credit_note.created',
      {
        id: 'cn_1',
        object: 'credit_note',
        currency: 'usd',
        invoice: 'in_1',
        out_of_band_amount: 5_000,
        status: 'issued',
      },
      ago(30),
    );
  test.each([
    ['the provider of the older', 'stripe:in_1', own],
    ['the provider of the other', 'stripe:pi_1', note],
  ])('counts once when they are joined: %s', async (_, byHand, provider) => {
    await shop.tell(paidIntent(named), paidInvoice());
    await shop.refund('by-hand', byHand, 50);
    await shop.tell(provider());
    await shop.tell(joined());
    const orders = { 'stripe:pi_1': order(10_000, { refunded: 5_000, earned: 1_000 }) };
    expect(await end()).toEqual({ orders, balance: 10 });
    expect((await shop.refund('by-hand', 'stripe:in_1', 50)).status).toBe(200);
    expect(await balance()).toBe(10);
  });

  test('counts twice when it has another amount', async () => {
    await shop.tell(paidIntent(named), paidInvoice());
    await shop.refund('by-hand', 'stripe:in_1', 30);
    await shop.tell(own(), joined());
    expect(await balance()).toBe(4);
  });
});

test.for<[shopMoney: string, shown: string, parts: number]>([
  ['100.01', '90.00', 10],
  ['33.34', '300.00', 7],
])(
  'refunds in another currency leave nothing of %s when all of it is given back in parts',
  async ([shopMoney, shown, parts], { api }) => {
    const other = await providerShop(api, 'shopify');
    const [transaction] = shopify.refund.transactions;
    const cents = Math.round(Number(shown) * 100);
    const pair = {
      shop_money: { amount: shopMoney, currency_code: 'USD' },
      presentment_money: { amount: shown, currency_code: 'EUR' },
    };
    await other.tell(
      shopify.shopifyEvent('orders/paid', {
        ...shopify.order,
        test: false,
        currency: 'USD',
        total_price: shopMoney,
        total_price_set: pair,
        total_tax: '0.00',
        total_shipping_price_set: null,
        note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
        created_at: later(1),
        processed_at: later(1),
      }),
    );
    const sold = Math.round(Number(shopMoney) * 100);
    let given = 0;
    for (let part = 1; part <= parts; part++) {
      const upTo = Math.round((cents * part) / parts);
      const amount = ((upTo - given) / 100).toFixed(2);
      given = upTo;
      await other.tell(
        shopify.shopifyEvent('refunds/create', {
          ...shopify.refund,
          id: `7${part}`,
          processed_at: later(10 + part),
          transactions: [{ ...transaction, id: `9${part}`, amount, currency: 'EUR' }],
        }),
      );
      const [, , , , , , refunded] = (await other.purchases())[0] ?? [];
      expect(Math.abs(Number(refunded) - (given * sold) / cents)).toBeLessThanOrEqual(0.5);
    }
    expect((await other.purchases()).map((row) => [row[6], row[7]])).toEqual([[sold, 0]]);
  },
);
