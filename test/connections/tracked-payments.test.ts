import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  charge,
  checkout,
  intent,
  invoice,
  stripeEvent,
} from '../../core/connections/stripe/fixtures/events.ts';
import type { OrderEvent } from '../../core/events/types.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { storeReports } from '../../workers/lane/store-reports.ts';
import { createOrderEvaluator } from '../../workers/referrals/tracked-purchases.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { ago, stripeShop } from './rig.ts';
import type { StripeShop } from './stripe-orders.ts';

/**
 * Orders that `POST /track/order` and the pixel report under any id of a payment belong to that payment. The referrer
 * `r` brought the user `n` and earns 20 percent at once; the payment is of 100.
 */

let api: TestApi;
let shop: StripeShop;
const VISITOR = randomUUID();

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, hold_days: 0 });
});
afterEach(async () => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({
    ok: true,
    wrong: [],
  });
});
afterAll(() => api.close());

const named = { metadata: { hoplog_user_id: 'n' } };
const paid = () =>
  stripeEvent(
    'payment_intent.succeeded',
    intent('pi_1', 10_000, { latest_charge: 'ch_1', invoice: null, ...named }),
    ago(59),
  );
const billed = () =>
  stripeEvent('invoice.paid', invoice('in_1', 10_000, { billing_reason: 'manual', ...named }), ago(58));
const joined = () =>
  stripeEvent(
    'checkout.session.completed',
    checkout('cs_1', { mode: 'payment', payment_intent: 'pi_1', invoice: 'in_1', ...named }),
    ago(57),
  );
const refunded = () =>
  stripeEvent(
    'charge.refunded',
    charge('ch_1', 10_000, { payment_intent: 'pi_1', amount_refunded: 10_000 }),
    ago(10),
  );

/** Stores reports of orders as a worker does that reads them from the event log. */
async function store(...reports: (Partial<OrderEvent> & { orderId: string })[]) {
  const orders = reports.map((fields, index) => ({
    event: {
      kind: 'order' as const,
      ts: Date.now() * 1_000 + index,
      workspaceId: uuidToBytes(shop.shop.workspace.id),
      visitorId: null,
      amountMinor: 10_000,
      commissionableMinor: null,
      currency: 'usd',
      isRenewal: false,
      email: null,
      externalUserId: 'n',
      source: 'server' as const,
      ...fields,
    },
    ordinal: 0,
    sequence: BigInt(index),
  }));
  await inTransaction(api.stores.pool, (tx) => storeReports(tx, { identifies: [], orders }));
}
const evaluate = () => createOrderEvaluator(api.stores)(new Date());
/** Stores reports, and evaluates their orders. */
async function track(...reports: Parameters<typeof store>) {
  await store(...reports);
  await evaluate();
}
const byPixel = { source: 'pixel', visitorId: uuidToBytes(VISITOR), externalUserId: null } as const;

/** All revenue belongs to one order, and its commission is paid once. */
async function expectOnce(orderId: string, fields: object = {}) {
  const { rows } = await api.stores.pool.query(
    `SELECT order_id, source, coalesce(visitor_id, pixel_visitor_id) AS visitor FROM orders
     WHERE workspace_id = $1 AND amount_minor > 0`,
    [shop.shop.workspace.id],
  );
  expect(rows).toEqual([{ order_id: orderId, source: 'server', visitor: null, ...fields }]);
  expect((await shop.balance('r')).eligible).toBe(20);
  await shop.tell(refunded());
  expect((await shop.balance('r')).eligible).toBe(0);
}

describe('an order reported by a server under another id of a payment', () => {
  test.each(['stripe:ch_1', 'stripe:in_1', 'stripe:cs_1', 'stripe:pi_1'])('after it: %s', async (orderId) => {
    await shop.tell(paid(), joined(), billed());
    await track({ orderId });
    await expectOnce('stripe:pi_1');
  });

  test('between its events', async () => {
    await shop.tell(paid());
    await track({ orderId: 'stripe:in_1' }, { orderId: 'stripe:ch_1' });
    await shop.tell(billed(), joined());
    await expectOnce('stripe:pi_1');
  });

  test('before its events', async () => {
    await track({ orderId: 'stripe:ch_1' });
    await shop.tell(paid(), billed(), joined());
    await expectOnce('stripe:ch_1');
  });

  test('without a buyer, before events of which the last names one', async () => {
    await track({ orderId: 'stripe:pi_1', externalUserId: null });
    const unnamed = { latest_charge: 'ch_1', invoice: null, customer: null };
    await shop.tell(
      stripeEvent('payment_intent.succeeded', intent('pi_1', 10_000, unnamed), ago(59)),
      billed(),
      joined(),
    );
    await expectOnce('stripe:pi_1');
  });

  test('that was given up stays given up when it is reported again', async () => {
    await shop.tell(billed(), paid(), joined());
    await track({ orderId: 'stripe:pi_1', ts: ago(70) * 1_000_000 });
    await expectOnce('stripe:in_1');
  });

  test('is not evaluated once it is given up', async () => {
    await shop.tell(billed());
    await store({ orderId: 'stripe:pi_1' });
    await shop.tell(paid(), joined());
    await evaluate();
    await expectOnce('stripe:in_1');
  });

  test('while its payment waits for an invoice, twice at once', async () => {
    await shop.tell(paid());
    await track({ orderId: 'stripe:ch_1' }, { orderId: 'stripe:pi_1' });
    await shop.tell(billed(), joined());
    const { rows } = await api.stores.pool.query(
      'SELECT sum(amount_minor) AS amount FROM orders WHERE workspace_id = $1',
      [shop.shop.workspace.id],
    );
    expect(Number(rows[0]?.amount)).toBe(10_000);
  });
});

describe('an order of the pixel under another id of a payment', () => {
  test.each(['stripe:ch_1', 'stripe:cs_1'])('after it adds its visitor: %s', async (orderId) => {
    await shop.tell(paid(), joined(), billed());
    await track({ orderId, ...byPixel });
    await expectOnce('stripe:pi_1', { visitor: VISITOR });
  });

  test('before it becomes its order', async () => {
    await track({ orderId: 'stripe:cs_1', ...byPixel, amountMinor: 999_900 });
    await shop.tell(paid(), joined(), billed());
    await expectOnce('stripe:pi_1', { visitor: VISITOR });
  });

  test('before all that names it becomes its order', async () => {
    await track({ orderId: 'stripe:cs_1', ...byPixel, amountMinor: 999_900 });
    await shop.tell(joined(), paid(), billed());
    await expectOnce('stripe:cs_1', { visitor: VISITOR });
  });
});
