import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  charge,
  dispute,
  intent,
  invoicePayment,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, stripeShop } from './rig.ts';
import { order, ordersOf, paid, pass, type StripeShop, session, signedUp } from './stripe-orders.ts';

/** Purchases and refunds in Stripe's events, one scenario a test. The referrer `r` brought the user `n`. */

let shop: StripeShop;
let partner: string;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  const referral = await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
  partner = referral.partner_id;
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
});

const orders = () => ordersOf(shop);
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
    expect((await shop.outcomes()).at(-1)).toEqual(['invoice.paid', 'recorded', 'trial_nothing_paid']);
  });

  test('does not call a first invoice that a discount pays in full a trial', async () => {
    await shop.tell(
      paid('in_free', 0, { ...signedUp, subtotal: 2_000 }, ago(40)),
      paid('in_1', 2_000, { ...signedUp, billing_reason: 'subscription_cycle' }, ago(30)),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000) });
    expect((await shop.outcomes())[0]).toEqual(['invoice.paid', 'ignored', 'nothing_paid']);
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

  test('that may be of an invoice waits 72 hours for it', async ({ api }) => {
    await shop.tell(succeeded(signedUp));
    expect(await shop.outcomes()).toEqual([['payment_intent.succeeded', 'unmatched', 'waits_for_invoice']]);
    await shop.settleDue();
    expect(await orders()).toEqual({});
    await pass(api, shop, 73);
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

  test('in yen has no decimals, one in dinars three, and guilders of the Caribbean are known', async () => {
    await shop.tell(
      paid('in_jpy', 5_000, { customer_email: 'n@mail.example', currency: 'jpy' }),
      paid('in_kwd', 5_120, { customer_email: 'n@mail.example', currency: 'kwd' }),
      paid('in_isk', 150_000, { customer_email: 'n@mail.example', currency: 'isk' }),
      paid('in_xcg', 5_050, { customer_email: 'n@mail.example', currency: 'xcg' }),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.amount_minor, one.currency])).toEqual([
      ['stripe:in_isk', 1_500, 'isk'],
      ['stripe:in_jpy', 5_000, 'jpy'],
      ['stripe:in_kwd', 5_120, 'kwd'],
      ['stripe:in_xcg', 5_050, 'xcg'],
    ]);
    const listed = await shop.shop.get<{ purchases: { order_id: string; amount: number }[] }>('/purchases');
    expect(listed.body.purchases.map((one) => [one.order_id, one.amount]).sort()).toEqual([
      ['stripe:in_isk', 1_500],
      ['stripe:in_jpy', 5_000],
      ['stripe:in_kwd', 5.12],
      ['stripe:in_xcg', 50.5],
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

  test('more than 72 hours after the purchase counts too, and a later checkout changes its buyer no more', async ({
    api,
  }) => {
    await shop.signup('m', {});
    await shop.tell(...bought());
    await pass(api, shop, 100);
    const named = { mode: 'payment', payment_intent: 'pi_1', metadata: { hoplog_user_id: 'm' } };
    await shop.tell(refunded(1_000), session(named, ago(5)));
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000, { refunded: 1_000, earned: 800 }) });
    await shop.tell(stripeEvent('charge.dispute.created', dispute('dp_1', 'ch_1', 4_000, 'lost'), ago(4)));
    expect(await orders()).toEqual({ 'stripe:pi_1': order(5_000, { refunded: 5_000, earned: 0 }) });
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

    test('that is won comes back also after the commission was paid', async ({ api }) => {
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
