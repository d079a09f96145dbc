import { describe, expect, test } from 'vitest';
import type { Connector } from './connector.ts';
import { paddle } from './paddle/connector.ts';
import { adjustment, paddleEvent } from './paddle/fixtures/events.ts';
import { type Parts, paymentState, withPart } from './payment-parts.ts';
import type { SentEvent } from './sent-event.ts';
import { shopify } from './shopify/connector.ts';
import { order, refund, shopifyEvent } from './shopify/fixtures/events.ts';
import { stripe } from './stripe/connector.ts';
import { charge, dispute, intent, stripeEvent } from './stripe/fixtures/events.ts';

/** What the parts of one payment come to. Minor units. */

const AT = '2026-11-20T10:00:00Z';

/** Returns the parts of events as they came. */
function partsOf(connector: Connector, events: readonly SentEvent[]): Parts {
  let parts: Parts = {};
  for (const { body, headers } of events) {
    const json: unknown = JSON.parse(body);
    const reading = connector.read(json, connector.envelope(json, headers));
    if (!('facts' in reading)) throw new Error(reading.ignored);
    for (const fact of reading.facts) if (fact.kind === 'payment') parts = withPart(parts, fact);
  }
  return parts;
}
const stateOf = (connector: Connector, events: readonly SentEvent[]) =>
  paymentState(partsOf(connector, events), true);
const sent = (event: object): SentEvent => ({ body: JSON.stringify(event), headers: {} });

describe('an order of Shopify of goods, tax, and shipping', () => {
  /** Goods of 100, with tax and shipping. */
  const sold = (total: string, tax: string, shipping: string, fields: object = {}) =>
    shopifyEvent('orders/paid', {
      ...order,
      test: false,
      total_price: total,
      total_tax: tax,
      total_shipping_price_set: { shop_money: { amount: shipping, currency_code: 'USD' } },
      ...fields,
    });
  const lines = (subtotal: string, total_tax: string) => [{ id: 1, quantity: 1, subtotal, total_tax }];
  const shipped = (amount: string, tax_amount = '0.00') => ({
    id: 2,
    kind: 'shipping_refund',
    amount,
    tax_amount,
  });
  const given = (fields: object, ...amounts: string[]) =>
    shopifyEvent('refunds/create', {
      ...refund,
      ...fields,
      processed_at: AT,
      transactions: amounts.map((amount, nth) => ({ ...refund.transactions[0], id: `9${nth}`, amount })),
    });
  const without = sold('130.00', '19.00', '11.00');
  /** The prices include the tax. */
  const included = sold('130.00', '19.00', '11.00', { taxes_included: true, shipping_lines: [] });

  test.each<[string, SentEvent, SentEvent, number]>([
    [
      'all goods with their tax',
      without,
      given({ refund_line_items: lines('100.00', '19.00') }, '119.00'),
      13_000,
    ],
    [
      'half of the goods with tax',
      without,
      given({ refund_line_items: lines('50.00', '9.50') }, '59.50'),
      6_500,
    ],
    [
      'half of the goods, and all shipping',
      without,
      given({ refund_line_items: lines('50.00', '9.50'), order_adjustments: [shipped('-11.00')] }, '70.50'),
      6_500,
    ],
    [
      'half of the goods and all shipping in two transactions',
      without,
      given(
        { refund_line_items: lines('50.00', '9.50'), order_adjustments: [shipped('-11.00')] },
        '30.50',
        '40.00',
      ),
      6_500,
    ],
    [
      'shipping lines of newer versions',
      without,
      given(
        {
          refund_line_items: lines('50.00', '9.50'),
          refund_shipping_lines: [
            { id: 3, subtotal_amount_set: { presentment_money: { amount: '11.00', currency_code: 'USD' } } },
          ],
        },
        '70.50',
      ),
      6_500,
    ],
    [
      'half of goods whose prices include the tax',
      included,
      given({ refund_line_items: lines('59.50', '9.50') }, '59.50'),
      6_500,
    ],
    ['shipping alone', without, given({ order_adjustments: [shipped('-11.00')] }, '11.00'), 0],
    [
      'duties alone',
      without,
      given({ duties: [{ duty_id: 1, amount_set: { presentment_money: { amount: '5.00' } } }] }, '5.00'),
      0,
    ],
    [
      'less than the lines',
      without,
      given(
        {
          refund_line_items: lines('100.00', '19.00'),
          order_adjustments: [{ kind: 'refund_discrepancy', amount: '59.50', tax_amount: '0.00' }],
        },
        '59.50',
      ),
      6_500,
    ],
    ['an amount alone', without, given({}, '65.00'), 6_500],
    ['everything', without, given({}, '130.00'), 13_000],
  ])('takes back what a refund says of goods: %s', (_, paid, refunded, expected) => {
    for (const events of [
      [paid, refunded],
      [refunded, paid],
    ])
      expect(stateOf(shopify, events).refundedMinor).toBe(expected);
  });

  const became = (status: string, at: string) =>
    shopifyEvent('order_transactions/create', {
      ...refund.transactions[0],
      id: '90',
      order_id: refund.order_id,
      amount: '70.50',
      status,
      processed_at: at,
    });
  const mixed = { refund_line_items: lines('50.00', '9.50'), order_adjustments: [shipped('-11.00')] };
  test('counts goods alone when a transaction tells again of the refund', () => {
    const all = [without, given(mixed, '70.50'), became('success', AT)];
    expect(stateOf(shopify, all).refundedMinor).toBe(6_500);
    expect(stateOf(shopify, all.toReversed()).refundedMinor).toBe(6_500);
  });

  test.each([AT, '2026-11-20T11:00:00Z'])('has no refund that failed, at the same time too: %s', (at) => {
    const all = [without, given(mixed, '70.50'), became('failure', at)];
    expect(stateOf(shopify, all).refundedMinor).toBe(0);
    expect(stateOf(shopify, all.toReversed()).refundedMinor).toBe(0);
  });
});

test('a refund of Paddle that is rejected in the moment of its approval is none', () => {
  const sold = paddleEvent(
    'transaction.completed',
    {
      id: adjustment.transaction_id,
      details: {
        totals: { total: '10000', tax: '0', grand_total: '10000', subtotal: '10000', currency_code: 'USD' },
      },
    },
    AT,
  );
  const of = (status: string) =>
    paddleEvent(
      'adjustment.updated',
      {
        ...adjustment,
        status,
        totals: { ...adjustment.totals, total: '5000', tax: '0', currency_code: 'USD' },
      },
      AT,
    );
  for (const events of [
    [sold, of('approved'), of('rejected')],
    [sold, of('reversed'), of('approved')],
  ])
    expect(stateOf(paddle, events).refundedMinor).toBe(0);
});

describe('states of Stripe in one second', () => {
  const at = Math.floor(Date.parse(AT) / 1_000);
  const paid = sent(
    stripeEvent(
      'payment_intent.succeeded',
      intent('pi_1', 10_000, { invoice: null, latest_charge: 'ch_1' }),
      at,
    ),
  );
  const disputed = (status: string) =>
    sent(stripeEvent('charge.dispute.closed', dispute('dp_1', 'ch_1', 10_000, status), at));
  const summed = (amount_refunded: number) =>
    sent(
      stripeEvent('charge.refunded', charge('ch_1', 10_000, { payment_intent: 'pi_1', amount_refunded }), at),
    );

  test.each<[string, SentEvent, SentEvent, number]>([
    ['a dispute that was lost is won', disputed('lost'), disputed('won'), 0],
    ['a dispute is lost', disputed('needs_response'), disputed('lost'), 10_000],
    ['an inquiry becomes a dispute', disputed('warning_needs_response'), disputed('needs_response'), 10_000],
    ['another refund adds to the sum', summed(9_000), summed(10_000), 10_000],
  ])('end the same in either order: %s', (_, first, second, expected) => {
    expect(stateOf(stripe, [paid, first, second]).refundedMinor).toBe(expected);
    expect(stateOf(stripe, [paid, second, first]).refundedMinor).toBe(expected);
  });
});
