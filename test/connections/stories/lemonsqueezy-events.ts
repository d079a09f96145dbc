import * as lemon from '../../../core/connections/lemonsqueezy/fixtures/events.ts';
import type { SentEvent } from '../../../core/connections/sent-event.ts';
import { emailOf, iso, namesOf, numberOf, payerOf, refundsOf, secondsOf, type Told } from './told.ts';

/** Events of Lemon Squeezy. */
export function lemonSqueezyEvents(told: Told): SentEvent[] {
  const { invoice: bill, lemonSqueezyEvent, order, subscription } = lemon;
  const { payments, key } = told;
  const order_id = numberOf(told, 0);
  return payments.flatMap((one, index) => {
    const at = secondsOf(index);
    const named = one.isNamed ? namesOf(told) : undefined;
    const of = {
      customer_id: Number(payerOf(told).customer),
      currency: told.currency.toUpperCase(),
      user_email: emailOf(told, one),
      total: one.amount,
      tax: 0,
      created_at: iso(at),
      updated_at: iso(at),
    };
    const paid = {
      ...bill,
      ...of,
      subscription_id: key,
      billing_reason: index === 0 ? 'initial' : 'renewal',
    };
    const invoiceId = String(numberOf(told, index));
    return [
      ...(index === 0
        ? [
            lemonSqueezyEvent('order_created', String(order_id), { ...order, ...of }, named),
            lemonSqueezyEvent(
              'subscription_created',
              String(key),
              { ...subscription, ...of, order_id },
              named,
            ),
          ]
        : []),
      lemonSqueezyEvent('subscription_payment_success', invoiceId, paid, named),
      // It reports only the sum: after a failed refund, the sum is smaller.
      ...refundsOf(one, at).map(({ at: when, sum }) =>
        index === 0
          ? lemonSqueezyEvent('order_refunded', String(order_id), {
              ...order,
              ...of,
              refunded_amount: sum,
              updated_at: iso(when),
            })
          : lemonSqueezyEvent('subscription_payment_refunded', invoiceId, {
              ...paid,
              refunded_amount: sum,
              updated_at: iso(when),
            }),
      ),
    ];
  });
}
