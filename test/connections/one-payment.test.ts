import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  invoice as lemonInvoice,
  lemonSqueezyEvent,
} from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import {
  charge,
  checkout,
  intent,
  invoice,
  invoicePayment,
  type StripeEvent,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { BUYER, later, lemonSqueezyStory } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { pass, type StripeShop } from './stripe-orders.ts';

/**
 * One payment is one purchase, whenever its ids are joined. The referrer `r` brought the user `n` and earns 20 percent
 * at once; every payment is of 100.
 */

let shop: StripeShop;
let partner: string;
/** Stripe's list of invoice payments. It is empty, because the lookup comes before the invoice is paid. */
let server: Server;

beforeAll(async () => {
  server = createServer((_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ object: 'list', data: [], has_more: false, url: '/v1/invoice_payments' })),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  partner = (await shop.referral({ commission_rate: 20, hold_days: 0 })).partner_id;
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({
    ok: true,
    wrong: [],
  });
});
afterAll(async () => {
  server.close();
});

const named = { metadata: { hoplog_user_id: 'n' } };
const balance = async () => (await shop.balance('r')).eligible;

type Listed = { order_id: string; matched: boolean; amount: number; refunded: number; reason: string | null };
const listed = async () => (await shop.shop.get<{ purchases: Listed[] }>('/purchases')).body.purchases;
/** The purchases that count. */
const counted = async () =>
  (await listed())
    .filter(({ reason }) => reason !== 'same_payment')
    .map(({ order_id, amount, refunded }) => ({ order_id, amount, refunded }));

/** API version 2024-06-20: a payment and an invoice name each other, or have null there. */
const OLD = { api_version: '2024-06-20' };
const oldInvoice = (fields: object = {}) => {
  const { parent: _, ...object } = invoice('in_1', 10_000, {
    billing_reason: 'manual',
    ...named,
    ...fields,
  }) as Record<string, unknown>;
  return stripeEvent(
    'invoice.paid',
    { payment_intent: null, charge: null, subscription: null, ...object },
    ago(58),
    OLD,
  );
};
const oldIntent = () =>
  stripeEvent(
    'payment_intent.succeeded',
    intent('pi_1', 10_000, { invoice: null, latest_charge: 'ch_1', ...named }),
    ago(59),
    OLD,
  );
const bothNamed = () =>
  stripeEvent(
    'checkout.session.completed',
    checkout('cs_1', {
      mode: 'payment',
      payment_intent: 'pi_1',
      invoice: 'in_1',
      invoice_creation: { enabled: true },
      amount_total: 10_000,
      currency: 'usd',
      ...named,
    }),
    ago(57),
    OLD,
  );
const refundedAll = () =>
  stripeEvent(
    'charge.refunded',
    charge('ch_1', 10_000, { payment_intent: 'pi_1', amount_refunded: 10_000 }),
    ago(10),
  );
/** API versions from 2025-03-31. */
const newIntent = () =>
  stripeEvent(
    'payment_intent.succeeded',
    intent('pi_1', 10_000, { latest_charge: 'ch_1', ...named }),
    ago(59),
  );
const newInvoice = (id = 'in_1') =>
  stripeEvent('invoice.paid', invoice(id, 10_000, { billing_reason: 'manual', ...named }), ago(58));
const joined = () => stripeEvent('invoice_payment.paid', invoicePayment('inpay_1', 'in_1', 'pi_1'), ago(50));

async function expectOne(order: string) {
  expect(await counted()).toEqual([{ order_id: order, amount: 100, refunded: 0 }]);
  expect(await balance()).toBe(20);
}

describe('an intent and an invoice that a later checkout joins', () => {
  const orders: [string, () => StripeEvent[], string][] = [
    ['intent, invoice, checkout', () => [oldIntent(), oldInvoice(), bothNamed()], 'stripe:pi_1'],
    ['invoice, intent, checkout', () => [oldInvoice(), oldIntent(), bothNamed()], 'stripe:in_1'],
    ['intent, checkout, invoice', () => [oldIntent(), bothNamed(), oldInvoice()], 'stripe:pi_1'],
    ['checkout, invoice, intent', () => [bothNamed(), oldInvoice(), oldIntent()], 'stripe:in_1'],
  ];
  test.each(orders)('are one purchase: %s', async (_, events, kept) => {
    await shop.tell(...events());
    await expectOne(kept);
    await shop.tell(refundedAll());
    expect(await balance()).toBe(0);
    expect(await counted()).toEqual([{ order_id: kept, amount: 100, refunded: 100 }]);
  });

  test('keep the older purchase, and reverse the other by entries with its reason', async ({ api }) => {
    await shop.tell(oldIntent(), oldInvoice());
    expect(await balance()).toBe(40);
    await pass(api, shop, 24 * 40);
    await shop.tell(bothNamed());
    expect((await listed()).map(({ order_id, matched, reason }) => [order_id, matched, reason])).toEqual([
      ['stripe:in_1', false, 'same_payment'],
      ['stripe:pi_1', true, null],
    ]);
    expect((await shop.stats('r')).affiliate.balance.eligible).toBe(20);
    const { entries } = (
      await shop.shop.get<{ entries: { order_id: string; amount: number; cause: string }[] }>('/ledger')
    ).body;
    expect(entries.map((one) => [one.order_id, one.amount, one.cause])).toEqual([
      ['stripe:in_1', -20, 'correction'],
      ['stripe:in_1', 20, 'sale'],
      ['stripe:pi_1', 20, 'sale'],
    ]);
    // A repeated event changes nothing.
    await shop.tell(bothNamed(), oldInvoice(), oldIntent());
    await expectOne('stripe:pi_1');
  });

  test('take a refund of the purchase that is given up along', async () => {
    await shop.tell(oldIntent(), oldInvoice());
    await shop.refund('by-hand', 'stripe:in_1', 30);
    expect(await balance()).toBe(34);
    await shop.tell(bothNamed());
    expect(await counted()).toEqual([{ order_id: 'stripe:pi_1', amount: 100, refunded: 30 }]);
    expect(await balance()).toBe(14);
    // The same report again is the same refund, under either id.
    for (const order of ['stripe:in_1', 'stripe:pi_1'])
      expect((await shop.refund('by-hand', order, 30)).status).toBe(200);
    expect(await balance()).toBe(14);
  });

  test('take a full refund of the purchase that is given up along', async () => {
    await shop.tell(oldIntent(), oldInvoice());
    await shop.refund('by-hand', 'stripe:in_1');
    await shop.tell(bothNamed());
    expect(await counted()).toEqual([{ order_id: 'stripe:pi_1', amount: 100, refunded: 100 }]);
    expect(await balance()).toBe(0);
  });

  test('take back from the next payout what both were paid', async () => {
    await shop.tell(oldIntent(), oldInvoice());
    await shop.pay((await shop.exportPayouts()).id);
    expect(await balance()).toBe(0);
    await shop.tell(bothNamed());
    expect(await balance()).toBe(-20);
    await shop.tell(refundedAll());
    expect(await balance()).toBe(-40);
  });
});

test('an answer that came before the invoice was paid costs no second commission', async ({ api }) => {
  const { port } = server.address() as AddressInfo;
  shop = await stripeShop(api, { restricted_key: 'rk_live_of_test' }, `http://127.0.0.1:${port}`);
  await shop.referral({ commission_rate: 20, hold_days: 0 });
  await shop.tell(newIntent());
  await shop.settleDue();
  await shop.tell(newInvoice());
  expect(await balance()).toBe(40);
  await shop.tell(joined());
  await expectOne('stripe:pi_1');
  await shop.tell(refundedAll());
  expect(await balance()).toBe(0);
});

test('a charge without an intent is one purchase with its invoice', async () => {
  const object = { payment_intent: null, invoice: null, ...named };
  const of = stripeObject('invoice_payment', {
    id: 'inpay_1',
    invoice: 'in_1',
    status: 'paid',
    payment: { type: 'charge', charge: 'ch_1' },
  });
  await shop.tell(
    stripeEvent('charge.succeeded', charge('ch_1', 10_000, object), ago(59)),
    newInvoice(),
    stripeEvent('invoice_payment.paid', of, ago(50)),
  );
  await expectOne('stripe:ch_1');
});

test('an intent that is attached to an invoice later is one purchase with it', async () => {
  const alone = checkout('cs_1', { mode: 'payment', payment_intent: 'pi_1', ...named });
  await shop.tell(stripeEvent('checkout.session.completed', alone, ago(70)), newIntent());
  expect(await balance()).toBe(20);
  await shop.tell(newInvoice(), joined());
  await expectOne('stripe:pi_1');
});

test('an invoice that two payments paid is one purchase of the whole sum', async () => {
  const part = (id: string, amount: number) =>
    stripeEvent(
      'payment_intent.succeeded',
      intent(id, amount, { invoice: null, latest_charge: `ch_${id}`, ...named }),
      ago(59),
      OLD,
    );
  const pays = (id: string) =>
    stripeEvent('invoice_payment.paid', invoicePayment(`inpay_${id}`, 'in_1', id), ago(50));
  await shop.tell(part('pi_1', 4_000), part('pi_2', 6_000), newInvoice(), pays('pi_1'), pays('pi_2'));
  await expectOne('stripe:pi_1');
});

describe('a report by hand with any id of the payment', () => {
  test('before the invoice is the purchase, and stays', async () => {
    await shop.purchase('n', 'stripe:pi_1', 100);
    await shop.tell(oldInvoice({ payment_intent: 'pi_1' }));
    await expectOne('stripe:pi_1');
    await shop.tell(refundedAll());
    expect(await balance()).toBe(0);
  });

  test('before the ids are joined keeps the purchase', async () => {
    await shop.purchase('n', 'stripe:pi_1', 100);
    await shop.tell(newInvoice());
    expect(await balance()).toBe(40);
    await shop.tell(joined());
    await expectOne('stripe:pi_1');
    await shop.tell(refundedAll());
    expect(await balance()).toBe(0);
  });

  test.each(['stripe:pi_1', 'stripe:in_1', 'stripe:cs_1', 'stripe:ch_1'])(
    'after the events is the same purchase: %s',
    async (order) => {
      const { purchases } = await shop.ledger();
      expect(purchases).toEqual([]);
      await shop.tell(oldIntent(), bothNamed(), oldInvoice());
      const again = await shop.purchase('n', order, 100);
      expect(again.status).toBe(200);
      await expectOne('stripe:pi_1');
      await shop.refund('by-hand', order, 100);
      expect(await balance()).toBe(0);
    },
  );

  test('of a refund before anything else of the payment counts', async () => {
    await shop.refund('by-hand', 'stripe:pi_1', 40);
    await shop.tell(oldInvoice({ payment_intent: 'pi_1' }));
    expect(await counted()).toEqual([{ order_id: 'stripe:in_1', amount: 100, refunded: 40 }]);
    expect(await balance()).toBe(12);
  });
});

test('the first sale stays the only one when two of its ids are joined', async ({ api }) => {
  shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, hold_days: 0, first_sale_only: true });
  await shop.tell(oldInvoice(), oldIntent(), bothNamed());
  await expectOne('stripe:in_1');
  const next = intent('pi_2', 10_000, { invoice: null, latest_charge: 'ch_2', ...named });
  await shop.tell(stripeEvent('payment_intent.succeeded', next, ago(20), OLD));
  expect(await balance()).toBe(20);
});

test('reports of links count a joined payment once', async ({ api }) => {
  await shop.tell(oldIntent(), oldInvoice(), bothNamed());
  const { rows } = await api.stores.pool.query(
    `SELECT order_id, amount_minor, same_as IS NOT NULL AS given_up FROM orders WHERE workspace_id = $1 ORDER BY 1`,
    [shop.shop.workspace.id],
  );
  expect(rows).toEqual([
    { order_id: 'stripe:in_1', amount_minor: 0, given_up: true },
    { order_id: 'stripe:pi_1', amount_minor: 10_000, given_up: false },
  ]);
  expect(partner).toEqual(expect.any(String));
});

test('a report by hand of the first invoice of Lemon Squeezy is its order', async ({ api }) => {
  const lemon = await providerShop(api, 'lemonsqueezy');
  await lemon.tell(...lemonSqueezyStory().first);
  const paid = await lemon.balances();
  await lemon.purchase('n', 'lemonsqueezy:invoice_1', 119);
  expect(await lemon.balances()).toEqual(paid);
  expect((await lemon.purchases()).map(([order]) => order)).toEqual(['lemonsqueezy:1']);
  const renewal = {
    ...lemonInvoice,
    customer_id: 7,
    total: 11_900,
    tax: 1_900,
    billing_reason: 'renewal',
    subscription_id: 5,
    created_at: later(9),
    updated_at: later(9),
  };
  await lemon.purchase('n', 'lemonsqueezy:invoice_2', 119);
  await lemon.tell(lemonSqueezyEvent('subscription_payment_success', '2', renewal, BUYER));
  expect((await lemon.purchases()).map(([order]) => order)).toEqual([
    'lemonsqueezy:1',
    'lemonsqueezy:invoice_2',
  ]);
});
