import * as polar from '../../../core/connections/polar/fixtures/events.ts';
import type { SentEvent } from '../../../core/connections/sent-event.ts';
import {
  couponOf,
  emailOf,
  HOUR,
  iso,
  namesOf,
  payerOf,
  refundsOf,
  START,
  secondsOf,
  type Told,
} from './told.ts';

/** Events of Polar. */
export function polarEvents(told: Told): SentEvent[] {
  const { customer, order, polarEvent } = polar;
  const { tie, hasTrial, payments, key, currency } = told;
  const customer_id = payerOf(told).customer;
  const subscription_id = `polar-sub-${key}`;
  const sold = (
    id: string,
    amount: number,
    reason: string,
    at: number,
    email: string | null,
    fields: object,
  ) => ({
    ...order,
    id,
    customer_id,
    customer: { ...customer, id: customer_id, email, metadata: {}, external_id: null },
    subtotal_amount: amount,
    discount_amount: 0,
    net_amount: amount,
    tax_amount: 0,
    total_amount: amount,
    due_amount: amount,
    currency,
    billing_reason: reason,
    subscription_id,
    created_at: iso(at),
    ...fields,
  });
  const person = { ...customer, id: customer_id, email: null, metadata: namesOf(told), external_id: null };
  return [
    ...(tie === 'event' ? [polarEvent('customer.updated', person, iso(START))] : []),
    ...(hasTrial
      ? [
          polarEvent(
            'order.paid',
            sold(
              `order-${key}-trial`,
              0,
              'subscription_create',
              START + HOUR,
              emailOf(told, { email: told.trialEmail }),
              {},
            ),
            iso(START + HOUR),
          ),
        ]
      : []),
    ...payments.flatMap((one, index) => {
      const at = secondsOf(index);
      const reason = index === 0 && !hasTrial ? 'subscription_create' : 'subscription_cycle';
      const paid = sold(`order-${key}-${index}`, one.amount, reason, at, emailOf(told, one), {
        ...(one.isNamed && { metadata: namesOf(told) }),
        ...(one.hasCoupon && { discount: { id: `d${key}`, code: couponOf(told) } }),
      });
      return [
        polarEvent('order.paid', paid, iso(at)),
        ...refundsOf(one, at).map(({ nth, at: when, sum, failed }) =>
          failed === null
            ? polarEvent('order.refunded', { ...paid, refunded_amount: sum }, iso(when))
            : polarEvent(
                'refund.updated',
                {
                  id: `refund-${key}-${index}-${nth}`,
                  status: 'failed',
                  amount: failed,
                  tax_amount: 0,
                  currency,
                  order_id: paid.id,
                  customer_id,
                  subscription_id,
                },
                iso(when),
              ),
        ),
      ];
    }),
  ];
}
