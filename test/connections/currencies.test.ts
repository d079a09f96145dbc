import { expect, test } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { paymentState } from '../../core/connections/payment-parts.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import { charge, dispute, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { later } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { ordersOf, paid } from './stripe-orders.ts';

/** Money that a provider reports in two currencies. Commission is 20 percent. */

/** An order of 110 USD that the buyer saw as 100 EUR. */
const order = () =>
  shopify.shopifyEvent('orders/paid', {
    ...shopify.order,
    test: false,
    currency: 'USD',
    presentment_currency: 'EUR',
    total_price: '110.00',
    total_price_set: {
      shop_money: { amount: '110.00', currency_code: 'USD' },
      presentment_money: { amount: '100.00', currency_code: 'EUR' },
    },
    total_tax: '0.00',
    total_shipping_price_set: null,
    shipping_lines: [],
    note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
    created_at: later(1),
    processed_at: later(1),
  });
const refund = (id: string, amount: string, currency = 'EUR') =>
  shopify.shopifyEvent('refunds/create', {
    ...shopify.refund,
    id,
    processed_at: later(10),
    transactions: [{ ...shopify.refund.transactions[0], amount, currency }],
  });

apiTest.for([
  ['100.00', 11_000, 0],
  ['50.00', 5_500, 1_100],
  ['33.33', 3_666, 1_467],
] as const)(
  'a refund of %s EUR of an order of 110 USD for 100 EUR takes its share',
  async ([amount, refunded, left], { api }) => {
    for (const events of [
      [order(), refund('1', amount)],
      [refund('1', amount), order()],
    ]) {
      const shop = await providerShop(api, 'shopify');
      await shop.tell(...events);
      expect((await shop.purchases()).map((row) => [row[3], row[6], row[7]])).toEqual([
        ['usd', refunded, left],
      ]);
      expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
    }
  },
);

apiTest(
  'a refund in a currency that the order does not tell the amount of takes nothing, and says so',
  async ({ api }) => {
    const shop = await providerShop(api, 'shopify');
    await shop.tell(order(), refund('1', '5000', 'JPY'));
    expect((await shop.purchases()).map((row) => row[6])).toEqual([0]);
    expect((await shop.outcomes()).at(-1)).toEqual([
      'refunds/create',
      'unmatched',
      'refund_in_other_currency',
    ]);
  },
);

apiTest(
  'a dispute in the currency of the card network is converted by what was withdrawn',
  async ({ api }) => {
    const shop = await stripeShop(api);
    await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
    const object = {
      ...dispute('dp_1', 'ch_1', 12_000, 'needs_response'),
      currency: 'eur',
      balance_transactions: [
        { id: 'txn_1', object: 'balance_transaction', amount: -10_000, currency: 'usd', fee: 1_500 },
      ],
    };
    await shop.tell(
      paid('in_1', 10_000, { customer_email: 'n@mail.example', payment_intent: 'pi_1', charge: 'ch_1' }),
      stripeEvent('charge.dispute.created', object, ago(10)),
    );
    expect((await ordersOf(shop))['stripe:in_1']).toMatchObject({ refunded: 10_000, earned: 0 });
  },
);

apiTest(
  'the refund of an order that was reported by hand in another currency takes the same part',
  async ({ api }) => {
    const shop = await stripeShop(api);
    await shop.referral({ commission_rate: 20, hold_days: 0, currency: 'eur' });
    await shop.purchase('n', 'stripe:in_1', 90, { currency: 'eur' });
    await shop.tell(
      paid('in_1', 10_000, { charge: 'ch_1', payment_intent: 'pi_1' }),
      stripeEvent('charge.refunded', charge('ch_1', 10_000, { amount_refunded: 5_000 }), ago(10)),
    );
    expect((await ordersOf(shop))['stripe:in_1']).toMatchObject({
      amount: 9_000,
      refunded: 4_500,
      earned: 900,
    });
  },
);

test('no amount is subtracted from one of another currency', () => {
  const sale = {
    precedence: 10,
    ref: '1',
    amountMinor: 11_000,
    commissionableMinor: 11_000,
    currency: 'usd',
    paidAt: 0,
    cycle: 'none' as const,
  };
  const eur = { minor: 10_000, currency: 'eur' };
  const stateWith = (part: object) => {
    const { refundedMinor, isUnconverted } = paymentState(
      { order: { at: 0, sale }, given: { at: 1, ...part } },
      false,
    );
    return [refundedMinor, isUnconverted];
  };
  expect(stateWith({ refunded: eur })).toEqual([0, true]);
  expect(stateWith({ dispute: { ...eur, state: 'taken' } })).toEqual([0, true]);
  expect(stateWith({ dispute: { ...eur, state: 'won' } })).toEqual([0, false]);
  const pair = [{ minor: 11_000, currency: 'usd' }, eur] as const;
  expect(stateWith({ refunded: eur, pair })).toEqual([11_000, false]);
  expect(stateWith({ refunded: { minor: 1_100, currency: 'usd' }, pair })).toEqual([1_100, false]);
});
