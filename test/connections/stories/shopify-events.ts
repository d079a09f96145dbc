import type { SentEvent } from '../../../core/connections/sent-event.ts';
import * as shopify from '../../../core/connections/shopify/fixtures/events.ts';
import type { StoryEvents } from './events.ts';
import { SHOWN } from './model.ts';
import { emailOf, iso, numberOf, payerOf, refundsOf, secondsOf, type Told, userOf } from './told.ts';

/**
 * Events of Shopify. A buyer may see and pay in another currency than the store's, and refunds are reported in the
 * buyer's.
 */
export function shopifyEvents(told: Told): StoryEvents {
  const { payments, key } = told;
  const { order, refund, shopifyEvent } = shopify;
  const [transaction] = refund.transactions;
  const decimal = (minor: number) => (minor / 100).toFixed(2);
  const currency = told.currency.toUpperCase();
  const { customer } = payerOf(told);
  const shown = told.isShownInOther ? SHOWN : { currency, times: 1, more: 0 };
  const late: SentEvent[] = [];
  const events = payments.flatMap((one, index) => {
    const at = secondsOf(index);
    const order_id = String(numberOf(told, index));
    const given = (nth: number, amount: number, status: string, when: number) => ({
      ...transaction,
      id: `9${order_id}${nth}`,
      currency: shown.currency,
      order_id,
      status,
      amount: decimal(amount * shown.times),
      processed_at: iso(when),
    });
    const email = emailOf(told, one);
    const paid = (amount: number, updated: number) =>
      shopifyEvent('orders/paid', {
        ...order,
        id: order_id,
        test: false,
        email,
        customer: { ...order.customer, id: customer, email },
        currency,
        total_price: decimal(amount),
        total_price_set: {
          shop_money: { amount: decimal(amount), currency_code: currency },
          presentment_money: {
            amount: decimal(amount * shown.times + shown.more),
            currency_code: shown.currency,
          },
        },
        total_shipping_price_set: null,
        shipping_lines: [],
        note_attributes: one.isNamed ? [{ name: 'hoplog_user_id', value: userOf({ key }) }] : [],
        created_at: iso(at),
        processed_at: iso(at),
        updated_at: iso(updated),
      });
    if (one.edited !== null) late.push(paid(one.edited, at + 700));
    return [
      paid(one.amount, at),
      ...refundsOf(one, at).map(({ nth, at: when, added, failed }) =>
        failed === null
          ? shopifyEvent('refunds/create', {
              ...refund,
              id: `8${order_id}${nth}`,
              order_id,
              processed_at: iso(when),
              transactions: [given(nth, added, 'success', when)],
            })
          : shopifyEvent('order_transactions/create', given(nth, failed, 'failure', when)),
      ),
    ];
  });
  return { events, late };
}
