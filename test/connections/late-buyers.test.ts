import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import {
  checkout,
  intent,
  invoicePayment,
  type StripeEvent,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { settleNamed } from '../../sql/connections/named-payments.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { forgetPerson } from '../../sql/erasure/erased-persons.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { later } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { order, ordersOf, paid, pass, type StripeShop } from './stripe-orders.ts';

/**
 * A buyer who signs up after the provider reported payments ends like one who signed up before, whatever name, visitor
 * or email the payment or its customer has, and whichever event reports it. The referrer `r` earns 20 percent at once;
 * `late` is the user.
 */

let shop: StripeShop;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({
    ok: true,
    wrong: [],
  });
});

const balance = async () => (await shop.balance('r')).eligible;
const late = { email: 'late@mail.example' };
const signUp = async (more: object = late) =>
  shop.signup('late', { ref_code: (await shop.enroll('r')).ref, ...more });
const first = () => paid('in_1', 10_000, { customer_email: late.email });
const renewal = (id: string, fields: object = {}, at = ago(20)) =>
  paid(id, 10_000, { billing_reason: 'subscription_cycle', ...fields }, at);

describe('a buyer who is named after all payments', () => {
  const both = {
    'stripe:in_1': order(10_000, { user: 'late' }),
    'stripe:in_2': order(10_000, { user: 'late', renewal: true }),
  };

  async function isNamedBy(api: TestApi, name: () => Promise<unknown>) {
    expect(await balance()).toBe(0);
    await name();
    await shop.settleDue();
    expect(await ordersOf(shop)).toEqual(both);
    expect((await shop.outcomes()).map(([, ...outcome]) => outcome)).toEqual(
      Array(2).fill(['recorded', null]),
    );
    // Nothing was reversed on the way, and no work is pending.
    const { rows } = await api.stores.pool.query(
      'SELECT amount_minor FROM commissions WHERE workspace_id = $1',
      [shop.shop.workspace.id],
    );
    expect(rows).toEqual([{ amount_minor: 2_000 }, { amount_minor: 2_000 }]);
    const { rows: due } = await api.stores.pool.query(
      'SELECT FROM connection_payments WHERE due_at <= now()',
    );
    expect(due).toEqual([]);
  }

  test.for([
    ['without an email', null],
    ['with another email', 'other@x.example'],
  ])('by a signup is the buyer of the next invoice %s too', async ([_, customer_email], { api }) => {
    await shop.tell(first(), renewal('in_2', { customer_email }));
    await isNamedBy(api, () => signUp());
  });

  test('by a report by hand of an earlier payment is the buyer of the next', async ({ api }) => {
    await signUp({});
    await shop.tell(paid('in_1', 10_000), renewal('in_2'));
    await isNamedBy(api, () => shop.purchase('late', 'stripe:in_1', 100));
  });

  test('by an identify of a server is the buyer of all', async ({ api }) => {
    await signUp({});
    await shop.tell(first(), renewal('in_2'));
    await isNamedBy(api, () =>
      inTransaction(api.stores.pool, (tx) =>
        upsertIdentities(tx, [
          {
            workspaceId: shop.shop.workspace.id,
            visitorId: crypto.randomUUID(),
            email: late.email,
            externalUserId: 'late',
            byServer: true,
            ts: Date.now() * 1_000,
          },
        ]),
      ),
    );
  });

  test('by a customer with other names leads from one subscription to the next', async () => {
    await shop.tell(
      first(),
      renewal('in_2', { subscription: 'sub_2', customer_email: null }, ago(40)),
      renewal('in_3', { subscription: 'sub_2', customer: 'cus_2', customer_email: null }, ago(20)),
    );
    await signUp();
    await shop.settleDue();
    expect(await balance()).toBe(60);
  });

  test('is not looked for after 72 hours', async ({ api }) => {
    await shop.tell(first(), renewal('in_2'));
    await pass(api, shop, 73);
    await signUp();
    await shop.settleDue();
    expect(await balance()).toBe(20);
  });
});

/** Payments whose buyer is named only by a later event of the same payment, or of its customer. */
const LATER: Record<string, () => StripeEvent[]> = {
  'the email of an invoice after its payment intent without one': () => [
    stripeEvent('payment_intent.succeeded', intent('pi_1', 10_000, { receipt_email: null }), ago(60)),
    paid('in_1', 10_000, { customer_email: late.email }),
    stripeEvent('invoice_payment.paid', invoicePayment('inpay_1', 'in_1', 'pi_1'), ago(50)),
  ],
  'the email of an invoice that comes before its intent with another': () => [
    stripeEvent(
      'payment_intent.succeeded',
      intent('pi_1', 10_000, { invoice: null, receipt_email: 'card@work.example' }),
      ago(60),
    ),
    paid('in_1', 10_000, { customer_email: late.email, payment_intent: 'pi_1' }),
  ],
  'the email of an invoice beside that of its checkout': () => [
    stripeEvent(
      'checkout.session.completed',
      checkout('cs_1', { invoice: 'in_1', customer_details: { email: 'desk@work.example' } }),
      ago(60),
    ),
    paid('in_1', 10_000, { customer_email: late.email }),
  ],
  'the email of a customer who is told of after the payment': () => [
    paid('in_1', 10_000, { customer_email: null }),
    stripeEvent('customer.created', stripeObject('customer', { id: 'cus_1', ...late }), ago(90)),
  ],
  'the email of a customer beside that of the payment': () => [
    paid('in_1', 10_000, { customer_email: 'other@work.example' }),
    stripeEvent('customer.created', stripeObject('customer', { id: 'cus_1', ...late }), ago(90)),
  ],
  'the email beside metadata of an unknown user': () => [
    paid('in_1', 10_000, { customer_email: late.email, metadata: { hoplog_user_id: 'no one' } }),
  ],
  'the metadata of a session after the invoice': () => [
    paid('in_1', 10_000, { customer_email: null }),
    stripeEvent(
      'checkout.session.completed',
      checkout('cs_1', { invoice: 'in_1', metadata: { hoplog_user_id: 'late' } }),
      ago(60),
    ),
  ],
  'the second of two names': () => [
    paid('in_1', 10_000, { customer_email: null, metadata: { hoplog_user_id: 'no one' } }),
    stripeEvent(
      'checkout.session.completed',
      checkout('cs_1', { invoice: 'in_1', client_reference_id: 'late' }),
      ago(60),
    ),
  ],
  'the email of the trial': () => [
    paid('in_0', 0, { customer_email: late.email, subtotal: 0 }, ago(90)),
    paid('in_1', 10_000, { customer_email: 'bills@work.example', billing_reason: 'subscription_cycle' }),
  ],
};

test.each(Object.entries(LATER))('a signup after all events is found by %s', async (_, events) => {
  await shop.tell(...events());
  expect(await balance()).toBe(0);
  await signUp();
  await shop.settleDue();
  expect(await balance()).toBe(20);
  expect(Object.values(await ordersOf(shop))).toEqual([order(10_000, { user: 'late' })]);
  expect(await shop.shop.get('/purchases?matched=false')).toMatchObject({ body: { purchases: [] } });
});

test.each(Object.entries(LATER))('a signup before all events is found by %s', async (_, events) => {
  await signUp();
  await shop.tell(...events());
  expect(Object.values(await ordersOf(shop))).toEqual([order(10_000, { user: 'late' })]);
});

test('an unmatched order has the email and visitor that its last event told', async ({ api }) => {
  const visitor = crypto.randomUUID();
  await shop.tell(
    paid('in_1', 10_000, { customer_email: null }),
    paid('in_1', 10_000, { customer_email: late.email, metadata: { hoplog_visitor_id: visitor } }, ago(50)),
  );
  const { rows } = await api.stores.pool.query(
    `SELECT o.email, o.visitor_id, u.email AS waits_for, u.visitor_id AS waits_for_visitor
     FROM orders o JOIN unmatched_orders u ON u.order_internal_id = o.internal_id WHERE o.workspace_id = $1`,
    [shop.shop.workspace.id],
  );
  const both = { email: late.email, visitor_id: visitor };
  expect(rows).toEqual([{ ...both, waits_for: late.email, waits_for_visitor: visitor }]);
});

test.for([
  ['a name in the metadata', { hoplog_user_id: 'late' }],
  ['a visitor', { hoplog_visitor_id: '8d0f6e1c-6f1c-4b8e-9c55-3f1f1a7f5a11' }],
])(
  'a coupon’s order that %s says is of a user who signs up later is their referrer’s',
  async ([_, metadata], { api }) => {
    await shop.enroll('owner');
    await shop.shop.post('/coupons', { code: 'ANNA', external_user_id: 'owner' });
    await shop.tell(
      stripeEvent(
        'promotion_code.created',
        stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA' }),
        ago(90),
      ),
      paid('in_1', 10_000, {
        discounts: [{ promotion_code: 'promo_1' }],
        customer_email: late.email,
        metadata,
      }),
    );
    expect((await shop.balance('owner')).eligible).toBe(20);
    const { hoplog_visitor_id: visitor_id } = metadata as { hoplog_visitor_id?: string };
    if (visitor_id)
      await inTransaction(api.stores.pool, (tx) =>
        upsertIdentities(tx, [
          {
            workspaceId: shop.shop.workspace.id,
            visitorId: visitor_id,
            email: null,
            externalUserId: 'late',
            byServer: true,
            ts: Date.now() * 1_000,
          },
        ]),
      );
    // A signup without a referrer leaves the order to the coupon's owner, and no work is pending.
    await shop.signup('late', { ref_code: null });
    await shop.settleDue();
    expect((await shop.balance('owner')).eligible).toBe(20);
    const due = 'SELECT FROM connection_payments WHERE due_at IS NOT NULL';
    await shop.settleDue();
    expect((await api.stores.pool.query(due)).rows).toEqual([]);
    await signUp({});
    await shop.settleDue();
    expect([await balance(), (await shop.balance('owner')).eligible]).toEqual([20, 0]);
  },
);

test('a coupon’s order that only an email says is of a user who signs up later stays its owner’s', async () => {
  await shop.enroll('owner');
  await shop.shop.post('/coupons', { code: 'ANNA', external_user_id: 'owner' });
  await shop.tell(
    stripeEvent(
      'promotion_code.created',
      stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA' }),
      ago(90),
    ),
    paid('in_1', 10_000, { discounts: [{ promotion_code: 'promo_1' }], customer_email: late.email }),
  );
  await signUp();
  await shop.settleDue();
  expect([await balance(), (await shop.balance('owner')).eligible]).toEqual([0, 20]);
});

/** Events of the other providers whose second email or name is the user's. */
const OTHERS: Record<'paddle' | 'polar' | 'shopify', () => SentEvent[]> = {
  paddle: () => [
    paddle.paddleEvent(
      'transaction.completed',
      {
        ...paddle.transaction,
        id: 'txn_1',
        customer_id: paddle.customer.id,
        custom_data: null,
        billed_at: later(1),
        details: paddle.totals('USD', { total: 10_000 }),
      },
      later(1),
    ),
    paddle.paddleEvent('customer.updated', { ...paddle.customer, ...late, custom_data: null }, later(2)),
  ],
  polar: () => [
    polar.polarEvent(
      'order.paid',
      { ...polar.order, created_at: later(1), customer: { ...polarPerson, email: 'first@work.example' } },
      later(1),
    ),
    polar.polarEvent('customer.updated', { ...polarPerson, ...late }, later(2)),
  ],
  shopify: () =>
    [null, late.email].map((email, index) =>
      shopify.shopifyEvent('orders/paid', {
        ...shopify.order,
        test: false,
        note_attributes: [],
        email,
        customer: { ...shopify.order.customer, email: null },
        created_at: later(0),
        processed_at: later(0),
        updated_at: later(index),
      }),
    ),
};
const polarPerson = { ...polar.customer, metadata: {}, external_id: null };

test.for(['paddle', 'polar', 'shopify'] as const)(
  'a signup after all events of %s is found by the email that a later one told',
  async (provider, { api }) => {
    const other = await providerShop(api, provider);
    await other.tell(...OTHERS[provider]());
    expect((await other.purchases()).map(([, user]) => user)).toEqual([]);
    await other.signup('late', { ref_code: (await other.enroll('r')).ref, ...late });
    await other.settleDue();
    expect((await other.purchases()).map(([, user]) => user)).toEqual(['late']);
  },
);

test('what may name a buyer yet is forgotten with the person', async ({ api }) => {
  const { workspace } = shop.shop;
  await shop.tell(first());
  const names = async () =>
    (
      await api.stores.pool.query('SELECT names FROM connection_payments WHERE workspace_id = $1', [
        workspace.id,
      ])
    ).rows;
  expect(await names()).toEqual([{ names: ['email:late@mail.example'] }]);
  await inTransaction(api.stores.pool, (tx) =>
    forgetPerson(tx, workspace.id, late.email, { now: new Date(), by: 'operator' }),
  );
  expect(await names()).toEqual([{ names: [] }]);
});

test('payments that wait for a name are looked at some at a time, each once a round', async ({ api }) => {
  const { pool } = api.stores;
  const since = new Date(Date.now() - 1);
  const nameless = (id: string) =>
    paid(id, 10_000, { customer: `cus_${id}`, customer_email: `${id}@x.example` });
  await shop.tell(...['in_1', 'in_2', 'in_3'].map(nameless));
  const { rows } = await pool.query(
    `SELECT p.id, p.created_at::text AS "createdAt" FROM connection_payments p WHERE workspace_id = $1
     ORDER BY created_at, id`,
    [shop.shop.workspace.id],
  );
  expect(await settleNamed(pool, since, null, 2)).toEqual(rows[1]);
  expect(await settleNamed(pool, since, rows[1], 2)).toBeNull();
  await shop.signup('late', { ref_code: (await shop.enroll('r')).ref, email: 'in_3@x.example' });
  await settleNamed(pool, since, null, 2);
  const due = async () =>
    (await pool.query('SELECT id FROM connection_payments WHERE due_at IS NOT NULL')).rows.map(
      ({ id }) => id,
    );
  expect(await due()).toEqual([]);
  await settleNamed(pool, since, rows[1], 2);
  expect(await due()).toEqual([rows[2]?.id]);
  await shop.settleDue();
  expect(await balance()).toBe(20);
});
