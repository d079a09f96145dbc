import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  charge,
  checkout,
  dispute,
  intent,
  invoice,
  invoicePayment,
  type StripeEvent,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { forgetPerson } from '../../sql/erasure/erased-persons.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { ago, stripeShop } from './rig.ts';

/** Stripe's events as they tell of purchases, one scenario a test. The referrer `r` brought the user `n`. */

const DAY = 86_400;

let api: TestApi;
let shop: Awaited<ReturnType<typeof stripeShop>>;
let partner: string;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await stripeShop(api);
  const referral = await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
  partner = referral.partner_id;
});
afterEach(async () => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
});
afterAll(() => api.close());

const signedUp = { metadata: { hoplog_user_id: 'n' } };
const session = (fields: object, at = ago(60)) =>
  stripeEvent('checkout.session.completed', checkout('cs_1', { ...signedUp, ...fields }), at);
const paid = (id: string, total: number, fields: object = {}, at = ago(60)) =>
  stripeEvent('invoice.paid', invoice(id, total, { subscription: 'sub_1', ...fields }), at);

/** By order: the buyer, amount, commissionable amount, what was refunded, what was earned, and why not. */
async function orders() {
  const { purchases } = await shop.ledger();
  return Object.fromEntries(
    purchases.map((one) => [
      one.order_id,
      {
        user: one.external_user_id,
        amount: one.amount_minor,
        base: one.commissionable_minor ?? one.amount_minor,
        renewal: one.is_renewal,
        refunded: one.refunded,
        earned: one.earned,
        ...(one.reason && { reason: one.reason }),
      },
    ]),
  );
}
const order = (amount: number, more: object = {}) => ({
  user: 'n',
  amount,
  base: amount,
  renewal: false,
  refunded: 0,
  earned: amount / 5,
  ...more,
});
const balance = async () => (await shop.balance('r')).eligible;

describe('a subscription', () => {
  test('counts its first payment and its renewals', async () => {
    await shop.tell(
      session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1' }),
      paid('in_1', 2_000),
      paid('in_2', 2_000, { billing_reason: 'subscription_cycle' }, ago(30)),
    );
    expect(await orders()).toEqual({
      'stripe:in_1': order(2_000),
      'stripe:in_2': order(2_000, { renewal: true }),
    });
    expect(await shop.outcomes()).toEqual([
      ['checkout.session.completed', 'recorded', null],
      ['invoice.paid', 'recorded', null],
      ['invoice.paid', 'recorded', null],
    ]);
  });

  test('counts the first paid invoice after a trial as the first sale, in any order of the events', async () => {
    const trial = paid('in_0', 0, {}, ago(40));
    const first = paid('in_1', 2_000, { billing_reason: 'subscription_cycle' }, ago(30));
    const second = paid('in_2', 2_000, { billing_reason: 'subscription_cycle' }, ago(20));
    const ties = stripeEvent(
      'customer.created',
      stripeObject('customer', { id: 'cus_1', ...signedUp }),
      ago(50),
    );
    await shop.tell(second, first, ties, trial);
    expect(await orders()).toEqual({
      'stripe:in_1': order(2_000),
      'stripe:in_2': order(2_000, { renewal: true }),
    });
    expect((await shop.outcomes()).at(-1)).toEqual(['invoice.paid', 'ignored', 'nothing_paid']);
  });

  test('counts what was paid of an upgrade with proration', async () => {
    await shop.tell(
      session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1' }),
      paid('in_1', 2_000),
      paid('in_2', 1_350, { billing_reason: 'subscription_update' }, ago(30)),
    );
    expect((await orders())['stripe:in_2']).toEqual(order(1_350, { renewal: true }));
  });

  test('pays no commission on tax and shipping', async () => {
    const taxed = {
      total_excluding_tax: 10_000,
      total_taxes: [{ amount: 1_900, tax_behavior: 'exclusive' }],
      shipping_cost: { amount_subtotal: 500, amount_tax: 95, amount_total: 595, shipping_rate: null },
    };
    await shop.tell(paid('in_1', 11_900, { customer_email: 'n@mail.example', ...taxed }));
    // A balance of the customer paid half of this one.
    await shop.tell(paid('in_2', 11_900, { customer_email: 'n@mail.example', ...taxed, amount_paid: 5_950 }));
    expect(await orders()).toMatchObject({
      'stripe:in_1': { amount: 11_900, base: 9_500, earned: 1_900 },
      'stripe:in_2': { amount: 5_950, base: 4_750, earned: 950 },
    });
  });
});

describe('a payment', () => {
  const bought = (fields: object = {}) =>
    session(
      { mode: 'payment', payment_intent: 'pi_1', amount_total: 5_000, currency: 'usd', ...fields },
      ago(50),
    );
  const succeeded = (fields: object = {}) =>
    stripeEvent(
      'payment_intent.succeeded',
      intent('pi_1', 5_000, { latest_charge: 'ch_1', ...fields }),
      ago(49),
    );
  const charged = (fields: object = {}) =>
    stripeEvent('charge.succeeded', charge('ch_1', 5_000, { payment_intent: 'pi_1', ...fields }), ago(49));

  test.each([
    ['intent, charge, session', () => [succeeded(), charged(), bought()]],
    ['session, charge, intent', () => [bought(), charged(), succeeded()]],
    ['charge, session, intent', () => [charged(), bought(), succeeded()]],
  ])('of a checkout is one purchase: %s', async (_, events) => {
    await shop.tell(...events());
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000) });
    expect((await shop.outcomes()).map(([, status]) => status)).toEqual(Array(3).fill('recorded'));
  });

  test('of a checkout has its tax and shipping from the session, also when that comes later', async () => {
    const total_details = { amount_discount: 0, amount_tax: 800, amount_shipping: 200 };
    await shop.tell(succeeded({ invoice: null, ...signedUp }));
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000) });
    await shop.tell(bought({ total_details }));
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000, { base: 4_000, earned: 800 }) });
    expect(await balance()).toBe(8);
  });

  test('of an invoice is the invoice’s purchase, which API versions from 2025-03 say in an event of its own', async () => {
    const events = [
      succeeded(),
      charged(),
      paid('in_1', 5_000, { customer_email: 'n@mail.example' }),
      stripeEvent('invoice_payment.paid', invoicePayment('inpay_1', 'in_1', 'pi_1'), ago(48)),
    ];
    await shop.tell(...events);
    expect(await orders()).toEqual({ 'stripe:in_1': order(5_000) });
    await shop.tell(
      stripeEvent('charge.refunded', charge('ch_1', 5_000, { amount_refunded: 5_000 }), ago(10)),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(5_000, { refunded: 5_000, earned: 0 }) });
  });

  test('of an invoice in older API versions is the invoice’s purchase at once', async () => {
    await shop.tell(
      succeeded({ invoice: 'in_1' }),
      charged({ invoice: 'in_1' }),
      paid('in_1', 5_000, { ...signedUp, payment_intent: 'pi_1', charge: 'ch_1' }),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(5_000) });
  });

  test('that may be of an invoice waits 72 hours for it', async () => {
    await shop.tell(succeeded(signedUp));
    expect(await shop.outcomes()).toEqual([['payment_intent.succeeded', 'unmatched', 'waits_for_invoice']]);
    await shop.settleDue();
    expect(await orders()).toEqual({});
    await pass(73);
    await shop.settleDue();
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000) });
    expect(await shop.outcomes()).toEqual([['payment_intent.succeeded', 'recorded', null]]);
  });

  test('that is only authorized is none until it is captured', async () => {
    const old = { payment_intent: null, invoice: null, ...signedUp };
    await shop.tell(charged({ ...old, captured: false, amount_captured: 0 }));
    expect(await orders()).toEqual({});
    await shop.tell(stripeEvent('charge.captured', charge('ch_1', 4_000, old), ago(20)));
    expect(await orders()).toEqual({ 'stripe:ch_1': order(4_000) });
  });

  test('in yen has no decimals, one in dinars three', async () => {
    await shop.tell(
      paid('in_jpy', 5_000, { customer_email: 'n@mail.example', currency: 'jpy' }),
      paid('in_kwd', 5_120, { customer_email: 'n@mail.example', currency: 'kwd' }),
      paid('in_isk', 150_000, { customer_email: 'n@mail.example', currency: 'isk' }),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.amount_minor, one.currency])).toEqual([
      ['stripe:in_isk', 1_500, 'isk'],
      ['stripe:in_jpy', 5_000, 'jpy'],
      ['stripe:in_kwd', 5_120, 'kwd'],
    ]);
    const listed = await shop.shop.get<{ purchases: { order_id: string; amount: number }[] }>('/purchases');
    expect(listed.body.purchases.map((one) => [one.order_id, one.amount]).sort()).toEqual([
      ['stripe:in_isk', 1_500],
      ['stripe:in_jpy', 5_000],
      ['stripe:in_kwd', 5.12],
    ]);
  });
});

describe('a refund', () => {
  const bought = () => [
    session({ mode: 'payment', payment_intent: 'pi_1', amount_total: 5_000, currency: 'usd' }, ago(50)),
    stripeEvent('charge.succeeded', charge('ch_1', 5_000, { payment_intent: 'pi_1' }), ago(49)),
  ];
  const refunded = (amount: number, at = ago(20)) =>
    stripeEvent(
      'charge.refunded',
      charge('ch_1', 5_000, { payment_intent: 'pi_1', amount_refunded: amount }),
      at,
    );

  test('in parts and in full takes back what was earned, in any order', async () => {
    const events = [...bought(), refunded(1_000), refunded(5_000, ago(10))];
    await shop.tell(...events.slice(0, 3));
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000, { refunded: 1_000, earned: 800 }) });
    await shop.tell(...events.slice(3), refunded(1_000, ago(20)));
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000, { refunded: 5_000, earned: 0 }) });
    expect(await balance()).toBe(0);
  });

  test('before the purchase applies with it', async () => {
    await shop.tell(refunded(2_500));
    expect(await shop.outcomes()).toEqual([['charge.refunded', 'unmatched', 'no_purchase']]);
    await shop.tell(...bought());
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000, { refunded: 2_500, earned: 500 }) });
    expect((await shop.outcomes())[0]).toEqual(['charge.refunded', 'recorded', null]);
  });

  describe.each([
    ['of the whole amount', 5_000, 0],
    ['of a part', 2_000, 600],
  ])('by a dispute %s', (_, amount, left) => {
    const opened = () =>
      stripeEvent('charge.dispute.created', dispute('dp_1', 'ch_1', amount, 'needs_response'), ago(30));
    const closed = (status: string) =>
      stripeEvent('charge.dispute.closed', dispute('dp_1', 'ch_1', amount, status), ago(20));
    const gone = order(5_000, { refunded: amount, earned: left });

    test('that is lost stays', async () => {
      await shop.tell(...bought(), opened());
      expect(await orders()).toEqual({ 'stripe:pi_1': gone });
      await shop.tell(closed('lost'));
      expect(await orders()).toEqual({ 'stripe:pi_1': gone });
    });

    test('that is won comes back', async () => {
      await shop.tell(...bought(), opened(), closed('won'));
      expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000) });
      expect(await balance()).toBe(10);
    });

    test('that is won comes back also after the commission was paid', async () => {
      await shop.tell(...bought());
      await shop.shop.patch(`/enrollments/${partner}`, {
        payout_method: { method: 'paypal', email: 'r@pay.example' },
      });
      await api.stores.pool.query(`UPDATE commissions SET status = 'eligible' WHERE status = 'pending'`);
      const file = await shop.exportPayouts();
      await shop.tell(opened());
      expect(await balance()).toBe(left / 100);
      await shop.tell(closed('won'));
      expect(await balance()).toBe(10);
      await shop.pay(file.id);
      expect(await balance()).toBe(0);
    });

    test('that was closed before it was opened ends the same', async () => {
      await shop.tell(...bought(), closed('won'), opened());
      expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000) });
    });

    test('that is an inquiry takes nothing', async () => {
      const inquiry = dispute('dp_1', 'ch_1', amount, 'warning_needs_response');
      await shop.tell(...bought(), stripeEvent('charge.dispute.created', inquiry, ago(30)));
      expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000) });
      const taken = dispute('dp_1', 'ch_1', amount, 'needs_response');
      await shop.tell(stripeEvent('charge.dispute.funds_withdrawn', taken, ago(25)));
      expect(await orders()).toEqual({ 'stripe:pi_1': gone });
    });
  });
});

describe('who bought', () => {
  test('metadata comes before a tied customer, and that before an email', async () => {
    await shop.enroll('r2');
    for (const user of ['a', 'b', 'c']) await shop.signup(user, { email: `${user}@mail.example` });
    const ties = stripeObject('customer', { id: 'cus_1', metadata: { hoplog_user_id: 'b' } });
    await shop.tell(
      stripeEvent('customer.created', ties, ago(90)),
      paid('in_1', 1_000, { customer_email: 'c@mail.example', metadata: { hoplog_user_id: 'a' } }),
      paid('in_2', 1_000, { customer_email: 'c@mail.example', metadata: { hoplog_user_id: 'nobody' } }),
      paid('in_3', 1_000, { customer_email: 'c@mail.example', customer: 'cus_2' }),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_1', 'a'],
      ['stripe:in_2', 'b'],
      ['stripe:in_3', 'c'],
    ]);
  });

  test('a checkout that comes after its invoice corrects a buyer who was found by email', async () => {
    await shop.enroll('r2');
    const r2 = await shop.enroll('r2');
    await shop.signup('m', { ref_code: r2.ref, email: 'm@mail.example' });
    const invoiced = paid('in_1', 2_000, { customer_email: 'm@mail.example' });
    await shop.tell(invoiced);
    expect((await orders())['stripe:in_1']).toMatchObject({ user: 'm', earned: 400 });
    await shop.tell(session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1' }, ago(59)));
    expect((await orders())['stripe:in_1']).toEqual(order(2_000));
    expect([(await shop.balance('r2')).eligible, await balance()]).toEqual([0, 4]);
  });

  test('no one who is known leaves an order that is matched when the signup is reported', async () => {
    const r2 = await shop.enroll('r2');
    await shop.tell(
      paid('in_1', 2_000, { customer_email: 'late@mail.example' }),
      paid('in_2', 2_000, { customer: 'cus_2', metadata: { hoplog_user_id: 'late2' } }),
    );
    expect((await shop.outcomes()).map(([, status, reason]) => [status, reason])).toEqual([
      ['unmatched', 'no_buyer'],
      ['unmatched', 'unknown_buyer'],
    ]);
    await shop.signup('late', { ref_code: r2.ref, email: 'late@mail.example' });
    await shop.signup('late2', { ref_code: r2.ref });
    expect((await shop.balance('r2')).eligible).toBe(8);
    expect((await shop.outcomes()).map(([, status, reason]) => [status, reason])).toEqual(
      Array(2).fill(['recorded', null]),
    );
    expect(await shop.events('?status=unmatched')).toEqual([]);
  });

  test('two customers with one email are the users that they are tied to', async () => {
    for (const user of ['a', 'b']) await shop.signup(user, { email: 'one@mail.example' });
    const tie = (customer: string, user: string) =>
      stripeEvent(
        'customer.updated',
        stripeObject('customer', {
          id: customer,
          email: 'one@mail.example',
          metadata: { hoplog_user_id: user },
        }),
        ago(90),
      );
    const fields = { customer_email: 'one@mail.example' };
    await shop.tell(
      tie('cus_a', 'a'),
      paid('in_a', 1_000, { ...fields, customer: 'cus_a' }),
      paid('in_b', 1_000, { ...fields, customer: 'cus_b' }),
      tie('cus_b', 'b'),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_a', 'a'],
      ['stripe:in_b', 'b'],
    ]);
  });

  test('a customer who is merged into another user buys as the former one before, in any order', async () => {
    await shop.signup('m', { email: 'm@mail.example' });
    const tie = (user: string, at: number) =>
      stripeEvent(
        'customer.updated',
        stripeObject('customer', { id: 'cus_1', metadata: { hoplog_user_id: user } }),
        at,
      );
    await shop.tell(
      paid('in_2', 1_000, { billing_reason: 'manual' }, ago(10)),
      tie('m', ago(20)),
      paid('in_1', 1_000, { billing_reason: 'manual' }, ago(30)),
      tie('n', ago(40)),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_1', 'n'],
      ['stripe:in_2', 'm'],
    ]);
  });

  test('an unmatched purchase is assigned to a referrer, also a day later', async () => {
    const lost = paid('in_1', 2_000);
    await shop.tell(lost);
    await pass(100);
    await shop.tell(session({ mode: 'subscription', invoice: 'in_1' }, ago(1)));
    expect(await shop.outcomes()).toEqual([
      ['invoice.paid', 'unmatched', 'no_buyer'],
      ['checkout.session.completed', 'unmatched', 'no_buyer'],
    ]);
    const path = `/connections/${shop.connectionId}/events/${lost.id}/assign`;
    const assigned = await shop.shop.post<{ status: string }>(path, { partner_id: partner });
    expect([assigned.status, assigned.body.status]).toEqual([200, 'recorded']);
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000, { user: 'stripe:cus_1' }) });
    expect((await shop.shop.post(path, { partner_id: partner })).status).toBe(409);
    expect((await shop.shop.post(path, { partner_id: crypto.randomUUID() })).status).toBe(404);
    await shop.tell(paid('in_2', 2_000, { billing_reason: 'subscription_cycle' }, ago(5)));
    expect(await balance()).toBe(8);
  });
});

describe('an event', () => {
  const events = (): StripeEvent[] => [
    session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1' }),
    paid('in_1', 2_000),
  ];

  test('a day late counts', async () => {
    await shop.tell(
      paid('in_1', 2_000, {}, ago(DAY)),
      session({ mode: 'subscription', invoice: 'in_1' }, ago(DAY)),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000) });
  });

  test('twice counts once, and again when it is replayed', async () => {
    const [first, second] = events();
    if (!first || !second) throw new Error('no events');
    await shop.tell(first, second, first, second);
    await shop.replay(second);
    expect((await shop.events())[0]?.status).toBe('pending');
    await shop.work();
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000) });
    expect(await balance()).toBe(4);
    expect(await shop.events()).toHaveLength(2);
  });

  test('of test mode does not count beside live ones, unless the connection is for test mode', async () => {
    const testing = await stripeShop(api, { settings: { mode: 'test' } });
    const test = { ...paid('in_1', 2_000), livemode: false };
    await shop.tell(test);
    await testing.tell(test, paid('in_2', 2_000));
    expect(await shop.outcomes()).toEqual([['invoice.paid', 'ignored', 'test_mode']]);
    expect(await testing.outcomes()).toEqual([
      ['invoice.paid', 'unmatched', 'no_buyer'],
      ['invoice.paid', 'ignored', 'live_mode'],
    ]);
  });

  test('of an unknown API version counts, one of an unknown type is ignored, one that can’t be read fails', async () => {
    await shop.tell(
      { ...paid('in_1', 2_000, { customer_email: 'n@mail.example' }), api_version: '2099-01-01.future' },
      stripeEvent('plan.created', stripeObject('customer'), ago(1)),
      paid('in_2', 2_000, { amount_paid: '2000' }),
      paid('in_3', 2_000, { currency: 'zzz' }),
    );
    expect(await shop.outcomes()).toEqual([
      ['invoice.paid', 'recorded', null],
      ['plan.created', 'ignored', 'type_not_used'],
      ['invoice.paid', 'failed', "can't be read: `amount_paid` must be an integer"],
      ['invoice.paid', 'failed', 'can\'t be read: currency "zzz"'],
    ]);
  });

  test('about an order that was reported by hand changes only what it refunds', async () => {
    await shop.purchase('n', 'stripe:in_1', 30);
    await shop.tell(...events());
    expect(await orders()).toEqual({ 'stripe:in_1': order(3_000) });
    await shop.tell(
      stripeEvent(
        'charge.refunded',
        charge('ch_1', 2_000, { invoice: 'in_1', amount_refunded: 500 }),
        ago(1),
      ),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(3_000, { refunded: 500, earned: 500 }) });
  });

  test('about an order of another user fails with the reason', async () => {
    await shop.signup('other', {});
    await shop.purchase('other', 'stripe:in_1', 20);
    await shop.tell(...events());
    expect((await shop.outcomes()).at(-1)).toEqual(['invoice.paid', 'failed', 'reported_for_another_user']);
  });
});

test('erasing a person removes the email from payments and received events', async () => {
  const mine = { customer_email: 'Gone@mail.example' };
  await shop.tell(paid('in_1', 2_000, mine), paid('in_2', 2_000, { customer_email: 'n@mail.example' }));
  const origin = { now: new Date(), by: 'operator' };
  await inTransaction(api.stores.pool, (tx) =>
    forgetPerson(tx, shop.shop.workspace.id, 'gone@mail.example', origin),
  );
  const { rows } = await api.stores.pool.query<{ stored: string }>(
    `SELECT parts::text AS stored FROM connection_payments WHERE connection_id = $1
     UNION ALL SELECT body FROM connection_events WHERE connection_id = $1`,
    [shop.connectionId],
  );
  expect(rows.filter(({ stored }) => /gone@/i.test(stored))).toEqual([]);
  expect(rows.filter(({ stored }) => stored.includes('n@mail.example'))).toHaveLength(2);
});

/** Lets hours pass for all payments of the shop. */
async function pass(hours: number): Promise<void> {
  await api.stores.pool.query(
    `UPDATE connection_payments SET created_at = created_at - make_interval(hours => $2),
       due_at = due_at - make_interval(hours => $2) WHERE connection_id = $1`,
    [shop.connectionId, hours],
  );
}
