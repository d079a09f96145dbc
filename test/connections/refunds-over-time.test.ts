import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import { charge, invoicePayment, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { BUYER, later } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { order as orderOf, ordersOf, paid, type StripeShop } from './stripe-orders.ts';

/**
 * Refunds that fail, refunds that are reported twice, and sums that change. Payments are of 100, commission is 20
 * percent.
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
const refunded = async () => (await ordersOf(shop))['stripe:in_1'];
const bought = () =>
  paid('in_1', 10_000, { customer_email: 'n@mail.example', payment_intent: 'pi_1', charge: 'ch_1' });
const sumOf = (amount_refunded: number, at: number) =>
  stripeEvent('charge.refunded', charge('ch_1', 10_000, { payment_intent: 'pi_1', amount_refunded }), at);
/** https://docs.stripe.com/api/refunds/object */
const refundOf = (type: string, status: string, amount: number, at: number, fields: object = {}) =>
  stripeEvent(
    type,
    {
      id: 're_1',
      object: 'refund',
      amount,
      currency: 'usd',
      charge: 'ch_1',
      payment_intent: 'pi_1',
      status,
      reason: null,
      failure_reason: status === 'failed' ? 'expired_or_canceled_card' : null,
      ...fields,
    },
    at,
  );

describe('a refund of Stripe', () => {
  test.for<[type: string, status: string]>([
    ['refund.failed', 'failed'],
    ['refund.updated', 'canceled'],
    ['charge.refund.updated', 'failed'],
  ])('that ends as %s %s is given back, in any order', async ([type, status], { api }) => {
    const events = [bought(), sumOf(10_000, ago(30)), refundOf(type, status, 10_000, ago(20))];
    await shop.tell(...events);
    expect(await refunded()).toMatchObject({ refunded: 0, earned: 2_000 });
    expect(await balance()).toBe(20);
    const other = await stripeShop(api);
    await other.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
    await other.tell(...events.toReversed(), ...events);
    expect((await ordersOf(other))['stripe:in_1']).toMatchObject({ refunded: 0, earned: 2_000 });
  });

  test('that succeeded later is a refund', async () => {
    await shop.tell(
      bought(),
      sumOf(10_000, ago(30)),
      refundOf('refund.updated', 'succeeded', 10_000, ago(20)),
    );
    expect(await refunded()).toMatchObject({ refunded: 10_000, earned: 0 });
  });

  test('that failed does not lower a sum that is newer, nor twice', async () => {
    await shop.tell(
      bought(),
      sumOf(6_000, ago(40)),
      refundOf('refund.failed', 'failed', 6_000, ago(30)),
      sumOf(5_000, ago(20)),
      refundOf('refund.updated', 'failed', 6_000, ago(10)),
    );
    expect(await refunded()).toMatchObject({ refunded: 5_000 });
  });

  test('a later, smaller sum is believed, and an earlier one that comes late is not', async () => {
    await shop.tell(bought(), sumOf(10_000, ago(30)), sumOf(4_000, ago(20)), sumOf(10_000, ago(30)));
    expect(await refunded()).toMatchObject({ refunded: 4_000, earned: 1_200 });
  });

  test('out of band, by a credit note, is a refund until it is voided', async () => {
    const note = (status: string, at: number) =>
      stripeEvent(
        status === 'void' ? 'credit_note.voided' : 'credit_note.created',
        {
          id: 'cn_1',
          object: 'credit_note',
          amount: 3_000,
          currency: 'usd',
          customer: 'cus_1',
          invoice: 'in_1',
          out_of_band_amount: 3_000,
          status,
          type: 'post_payment',
        },
        at,
      );
    await shop.tell(bought(), note('issued', ago(20)));
    expect(await refunded()).toMatchObject({ refunded: 3_000, earned: 1_400 });
    await shop.tell(note('void', ago(10)));
    expect(await refunded()).toMatchObject({ refunded: 0, earned: 2_000 });
  });
});

describe('a refund that is reported by hand and by the provider', () => {
  test('of one amount is one refund, whichever comes first', async ({ api }) => {
    await shop.tell(bought());
    await shop.refund('by-hand', 'stripe:in_1', 50);
    await shop.tell(sumOf(5_000, ago(10)));
    expect(await refunded()).toMatchObject({ refunded: 5_000, earned: 1_000 });
    expect((await shop.outcomes()).at(-1)).toEqual(['charge.refunded', 'recorded', null]);
    await shop.tell(sumOf(8_000, ago(5)));
    expect(await refunded()).toMatchObject({ refunded: 8_000 });
    expect((await shop.refund('by-hand', 'stripe:in_1', 50)).status).toBe(200);

    const other = await stripeShop(api);
    await other.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
    await other.tell(bought(), sumOf(5_000, ago(10)));
    for (let count = 0; count < 2; count++)
      expect((await other.refund('by-hand', 'stripe:pi_1', 50)).body).toMatchObject({ matched: true });
    expect((await ordersOf(other))['stripe:in_1']).toMatchObject({ refunded: 5_000, earned: 1_000 });
    expect(await verifyLedger(api.stores.pool, [other.shop.workspace.id])).toMatchObject({ ok: true });
  });

  test('fails as one refund', async () => {
    await shop.tell(bought());
    await shop.refund('by-hand', 'stripe:in_1', 50);
    await shop.tell(sumOf(5_000, ago(10)), refundOf('refund.failed', 'failed', 5_000, ago(5)));
    expect(await refunded()).toMatchObject({ refunded: 0, earned: 2_000 });
  });

  test('of two amounts counts twice, and the event says so', async () => {
    await shop.tell(bought());
    await shop.refund('by-hand', 'stripe:in_1', 30);
    await shop.tell(sumOf(5_000, ago(10)));
    expect(await refunded()).toMatchObject({ refunded: 8_000 });
    expect((await shop.outcomes()).at(-1)).toEqual(['charge.refunded', 'recorded', 'also_refunded_by_hand']);
  });
});

describe("a refund by hand and the provider's, of an amount with tax", () => {
  const { transaction, adjustment, paddleEvent, totals } = paddle;
  const given = (total: number, tax: number): SentEvent => {
    const of = {
      ...adjustment.totals,
      total: String(total),
      tax: String(tax),
      subtotal: String(total - tax),
    };
    return paddleEvent(
      'adjustment.updated',
      { ...adjustment, transaction_id: 'txn_1', totals: of },
      later(5),
    );
  };
  const sold = paddleEvent(
    'transaction.completed',
    {
      ...transaction,
      id: 'txn_1',
      custom_data: BUYER,
      details: totals('USD', { total: 11_900, tax: 1_900 }),
      billed_at: later(1),
    },
    later(1),
  );
  const order = { ...polar.order, id: 'order-1', metadata: BUYER, created_at: later(1) };
  const refundedOrder = { ...order, refunded_amount: 4_500, refunded_tax_amount: 0 };

  test.for<[string, 'paddle' | 'polar', SentEvent, SentEvent, number, [number, number]]>([
    ['goods and tax', 'paddle', sold, given(5_007, 799), 50.07, [5_008, 1_158]],
    ['goods alone', 'paddle', sold, given(5_000, 0), 50, [5_950, 1_000]],
    ['tax alone', 'paddle', sold, given(1_900, 1_900), 19, [0, 2_000]],
    ['everything', 'paddle', sold, given(11_900, 1_900), 119, [11_900, 0]],
    [
      'goods alone of Polar',
      'polar',
      polar.polarEvent('order.paid', order, later(1)),
      polar.polarEvent('order.refunded', refundedOrder, later(5)),
      45,
      [4_860, 900],
    ],
  ])(
    'are one refund, whichever comes first: %s',
    async ([_, provider, paidEvent, refund, amount, expected], { api }) => {
      const orderId = provider === 'paddle' ? 'paddle:txn_1' : 'polar:order-1';
      for (const isFirst of [true, false]) {
        const other = await providerShop(api, provider);
        const report = async () =>
          expect((await other.refund('by-hand', orderId, amount)).body).toMatchObject({ matched: true });
        await other.tell(paidEvent);
        if (isFirst) await report();
        await other.tell(refund);
        if (!isFirst) await report();
        expect((await other.purchases()).map((row) => row.slice(6))).toEqual([expected]);
        expect((await other.outcomes()).at(-1)?.slice(1)).toEqual(['recorded', null]);
        expect(await verifyLedger(api.stores.pool, [other.shop.workspace.id])).toMatchObject({ ok: true });
      }
    },
  );
});

describe('a refund by hand whose id looks like the order', () => {
  const named = (refund: string, amount: number) => shop.refund(refund, 'stripe:in_1', amount);
  const joined = () =>
    stripeEvent('invoice_payment.paid', invoicePayment('inpay_1', 'in_1', 'pi_1'), ago(10));

  test('stays when a later event tells of no refund', async () => {
    await shop.tell(paid('in_1', 10_000, { customer_email: 'n@mail.example' }));
    await named('stripe:in_1/1', 30);
    expect(await balance()).toBe(14);
    await shop.tell(joined());
    expect(await balance()).toBe(14);
  });

  test('does not take the place of the one that the provider tells, before or after it', async ({ api }) => {
    await shop.tell(bought());
    await named('stripe:in_1/1', 30);
    await shop.tell(sumOf(5_000, ago(10)));
    expect(await refunded()).toMatchObject({ refunded: 8_000, earned: 400 });

    const other = await stripeShop(api);
    await other.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
    await other.tell(bought(), sumOf(5_000, ago(10)));
    for (const id of ['stripe:in_1/1', 'stripe:in_1/2']) await other.refund(id, 'stripe:in_1', 10);
    expect((await ordersOf(other))['stripe:in_1']).toMatchObject({ refunded: 7_000, earned: 600 });
    expect(await verifyLedger(api.stores.pool, [other.shop.workspace.id])).toMatchObject({ ok: true });
  });
});

describe('other providers', () => {
  const last = (rows: unknown[][]) => rows[0]?.slice(6);

  test('a refund of Polar that failed is given back', async ({ api }) => {
    const other = await providerShop(api, 'polar');
    const order = { ...polar.order, id: 'order-1', metadata: BUYER, created_at: later(1) };
    const refund = { id: 'refund-1', order_id: 'order-1', amount: 9_000, tax_amount: 720, currency: 'usd' };
    await other.tell(
      polar.polarEvent('order.paid', order, later(1)),
      polar.polarEvent(
        'order.refunded',
        { ...order, refunded_amount: 9_000, refunded_tax_amount: 720 },
        later(5),
      ),
    );
    expect(last(await other.purchases())).toEqual([9_720, 0]);
    await other.tell(polar.polarEvent('refund.updated', { ...refund, status: 'failed' }, later(9)));
    expect(last(await other.purchases())).toEqual([0, 1_800]);
  });

  test('an adjustment of Paddle that is reversed is given back', async ({ api }) => {
    const other = await providerShop(api, 'paddle');
    const { transaction, adjustment, paddleEvent, totals } = paddle;
    const sold = {
      ...transaction,
      id: 'txn_1',
      details: totals('USD', { total: 10_000 }),
      billed_at: later(1),
      custom_data: BUYER,
    };
    const given = (status: string, at: string) =>
      paddleEvent(
        'adjustment.updated',
        {
          ...adjustment,
          transaction_id: 'txn_1',
          status,
          totals: { ...adjustment.totals, total: '10000' },
        },
        at,
      );
    await other.tell(
      paddleEvent('transaction.completed', sold, later(1)),
      given('approved', later(5)),
      given('reversed', later(9)),
    );
    expect(last(await other.purchases())).toEqual([0, 2_000]);
  });

  test('a pending refund of Shopify counts once it succeeds, and not when it fails', async ({ api }) => {
    const [transaction] = shopify.refund.transactions;
    const sold = {
      ...shopify.order,
      test: false,
      total_price: '100.00',
      total_tax: '0.00',
      total_shipping_price_set: null,
      note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
      created_at: later(1),
      processed_at: later(1),
    };
    const of = (status: string, at: string) => ({
      ...transaction,
      amount: '40.00',
      status,
      processed_at: at,
    });
    const pending = shopify.shopifyEvent('refunds/create', {
      ...shopify.refund,
      processed_at: later(3),
      transactions: [of('pending', later(3))],
    });
    const became = (status: string): SentEvent =>
      shopify.shopifyEvent('order_transactions/create', { ...of(status, later(8)), created_at: later(8) });
    for (const [status, refundedMinor, earned] of [
      ['success', 4_000, 1_200],
      ['failure', 0, 2_000],
    ] as const) {
      const other = await providerShop(api, 'shopify');
      await other.tell(shopify.shopifyEvent('orders/paid', sold), pending);
      expect(last(await other.purchases())).toEqual([0, 2_000]);
      await other.tell(became(status));
      expect(last(await other.purchases())).toEqual([refundedMinor, earned]);
    }
  });

  test('an order of Shopify that is edited counts as it was paid last', async ({ api }) => {
    const sold = (total: string, updated: string) =>
      shopify.shopifyEvent('orders/paid', {
        ...shopify.order,
        test: false,
        total_price: total,
        total_tax: '0.00',
        total_shipping_price_set: null,
        note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
        created_at: later(1),
        processed_at: later(1),
        updated_at: updated,
      });
    const [first, second] = [sold('90.00', later(1)), sold('150.00', later(9))];
    for (const events of [
      [first, second],
      [second, first],
    ]) {
      const other = await providerShop(api, 'shopify');
      await other.tell(...events);
      expect((await other.purchases()).map((row) => [row[2], row[7]])).toEqual([[15_000, 3_000]]);
    }
  });

  test('a refund of tax or shipping alone takes no commission back, where the provider says it', async ({
    api,
  }) => {
    const polarOf = await providerShop(api, 'polar');
    const order = {
      ...polar.order,
      id: 'order-1',
      metadata: { hoplog_user_id: 'n' },
      created_at: later(1),
    };
    const polarRefund = (goods: number, tax: number, at: number) =>
      polar.polarEvent(
        'order.refunded',
        { ...order, refunded_amount: goods, refunded_tax_amount: tax },
        later(at),
      );
    await polarOf.tell(polar.polarEvent('order.paid', order, later(1)), polarRefund(0, 720, 2));
    expect((await polarOf.purchases()).map((row) => [row[6], row[7]])).toEqual([[0, 1_800]]);
    // Half of the goods earns half of the commission, whatever tax came with it.
    await polarOf.tell(polarRefund(4_500, 720, 3));
    expect((await polarOf.purchases()).map((row) => row[7])).toEqual([900]);
    await polarOf.tell(
      polar.polarEvent(
        'refund.updated',
        {
          id: 'refund-1',
          status: 'failed',
          amount: 4_500,
          tax_amount: 360,
          currency: order.currency,
          order_id: order.id,
        },
        later(4),
      ),
    );
    expect((await polarOf.purchases()).map((row) => row[7])).toEqual([1_800]);
    await polarOf.tell(polarRefund(9_000, 720, 5));
    expect((await polarOf.purchases()).map((row) => row[7])).toEqual([0]);

    const paddleOf = await providerShop(api, 'paddle');
    const { transaction, adjustment, paddleEvent, totals } = paddle;
    const sold = {
      ...transaction,
      id: 'txn_1',
      custom_data: { hoplog_user_id: 'n' },
      details: totals('USD', { total: 11_900, tax: 1_900 }),
      billed_at: later(1),
    };
    const tax = { ...adjustment.totals, subtotal: '0', tax: '1900', total: '1900' };
    await paddleOf.tell(
      paddleEvent('transaction.completed', sold, later(1)),
      paddleEvent('adjustment.updated', { ...adjustment, transaction_id: 'txn_1', totals: tax }, later(2)),
    );
    expect((await paddleOf.purchases()).map((row) => row[7])).toEqual([2_000]);
    const half = { ...adjustment.totals, subtotal: '5000', tax: '0', total: '5000' };
    await paddleOf.tell(
      paddleEvent(
        'adjustment.updated',
        { ...adjustment, id: 'adj_half', transaction_id: 'txn_1', totals: half },
        later(3),
      ),
    );
    expect((await paddleOf.purchases()).map((row) => row[7])).toEqual([1_000]);

    const [given] = shopify.refund.transactions;
    const shipping = {
      ...shopify.refund,
      processed_at: later(3),
      refund_line_items: [],
      order_adjustments: [{ id: 1, kind: 'shipping_refund', amount: '-10.00', tax_amount: '0.00' }],
      transactions: [{ ...given, id: '91', amount: '10.00' }],
    };
    const told = [
      shopify.shopifyEvent('refunds/create', shipping),
      shopify.shopifyEvent('order_transactions/create', {
        ...given,
        id: '91',
        order_id: shopify.refund.order_id,
        amount: '10.00',
        processed_at: later(4),
      }),
    ];
    for (const events of [told, told.toReversed()]) {
      const shopifyOf = await providerShop(api, 'shopify');
      await shopifyOf.tell(
        shopify.shopifyEvent('orders/paid', {
          ...shopify.order,
          test: false,
          total_price: '110.00',
          total_tax: '0.00',
          note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
          created_at: later(1),
          processed_at: later(1),
        }),
        ...events,
      );
      const [row] = await shopifyOf.purchases();
      expect([row?.[6], row?.[7]]).toEqual([0, Number(row?.[4]) / 5]);
      expect((await shopifyOf.outcomes()).map(([, status]) => status)).toEqual(Array(3).fill('recorded'));
    }
    const note = {
      id: 'cn_1',
      object: 'credit_note',
      invoice: 'in_1',
      customer: 'cus_1',
      currency: 'usd',
      status: 'issued',
      total: 1_900,
      total_excluding_tax: 0,
      out_of_band_amount: 1_900,
      shipping_cost: null,
    };
    await shop.tell(bought(), stripeEvent('credit_note.created', note, ago(30)));
    expect(await refunded()).toEqual(orderOf(10_000));
  });

  test('a credit note of Stripe tells what of its refund is goods, before the refund or after it', async () => {
    const sold = () =>
      paid('in_1', 11_900, {
        customer_email: 'n@mail.example',
        payment_intent: 'pi_1',
        charge: 'ch_1',
        total_excluding_tax: 10_000,
      });
    const note = (total: number, goods: number, fields: object) =>
      stripeEvent(
        'credit_note.created',
        {
          id: `cn_${total}`,
          object: 'credit_note',
          invoice: 'in_1',
          customer: 'cus_1',
          currency: 'usd',
          status: 'issued',
          total,
          total_excluding_tax: goods,
          out_of_band_amount: null,
          shipping_cost: null,
          customer_balance_transaction: null,
          ...fields,
        },
        ago(30),
      );
    const sum = (amount: number, at: number) =>
      stripeEvent(
        'charge.refunded',
        charge('ch_1', 11_900, { payment_intent: 'pi_1', amount_refunded: amount }),
        at,
      );
    // The refund is of goods and tax alike: Stripe Tax treats a refund without a note that way.
    await shop.tell(sold(), sum(1_900, ago(40)));
    expect(await balance()).toBe(16.81);
    await shop.tell(note(1_900, 0, { refunds: [{ refund: 're_1', amount_refunded: 1_900 }] }));
    expect(await balance()).toBe(20);
    // The refund is half of the goods, without their tax. Older API versions name the refund only.
    await shop.tell(note(5_000, 5_000, { refund: 're_2' }), sum(6_900, ago(20)));
    expect(await balance()).toBe(10);
    await shop.tell(sum(11_900, ago(10)));
    expect(await balance()).toBe(0);
  });

  test('tips and duties of Shopify earn nothing', async ({ api }) => {
    const other = await providerShop(api, 'shopify');
    const sold = {
      ...shopify.order,
      test: false,
      total_price: '115.00',
      total_tax: '0.00',
      total_shipping_price_set: null,
      total_tip_received: '10.00',
      original_total_duties_set: {
        shop_money: { amount: '15.00', currency_code: 'USD' },
        presentment_money: { amount: '15.00', currency_code: 'USD' },
      },
      note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
      created_at: later(1),
      processed_at: later(1),
    };
    await other.tell(shopify.shopifyEvent('orders/paid', sold));
    expect((await other.purchases()).map((row) => [row[2], row[4], row[7]])).toEqual([
      [11_500, 9_000, 1_800],
    ]);
  });
});
