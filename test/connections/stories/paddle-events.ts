import * as paddle from '../../../core/connections/paddle/fixtures/events.ts';
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

/** Events of Paddle. */
export function paddleEvents(told: Told): SentEvent[] {
  const { adjustment, customer, discount, paddleEvent, totals, transaction } = paddle;
  const { tie, hasTrial, payments, key } = told;
  const currency = told.currency.toUpperCase();
  const customer_id = payerOf(told).customer;
  const subscription_id = `sub_${key}`;
  const sold = (id: string, amount: number, origin: string, at: number, fields: object) =>
    paddleEvent(
      'transaction.completed',
      {
        ...transaction,
        id,
        customer_id,
        origin,
        subscription_id,
        details: totals(currency, { total: amount }),
        billed_at: iso(at),
        ...fields,
      },
      iso(at),
    );
  const email = emailOf(told, payments[0] ?? { email: 'none' });
  const custom_data = tie === 'event' ? namesOf(told) : null;
  const person = { ...customer, id: customer_id, email, custom_data };
  const codes = payments.some(({ hasCoupon }) => hasCoupon)
    ? [paddleEvent('discount.created', { ...discount, id: `dsc_${key}`, code: couponOf(told) }, iso(START))]
    : [];
  return [
    ...(email === null && custom_data === null ? [] : [paddleEvent('customer.updated', person, iso(START))]),
    ...(told.isCodeLate ? [] : codes),
    ...(hasTrial ? [sold(`txn_${key}_trial`, 0, 'web', START + HOUR, {})] : []),
    ...payments.flatMap((one, index) => {
      const at = secondsOf(index);
      const adjusted = (id: string, action: string, status: string, amount: number, when: number) =>
        paddleEvent(
          'adjustment.updated',
          {
            ...adjustment,
            id,
            action,
            status,
            customer_id,
            transaction_id: `txn_${key}_${index}`,
            subscription_id,
            totals: {
              ...adjustment.totals,
              currency_code: currency,
              subtotal: String(amount),
              tax: '0',
              total: String(amount),
            },
          },
          iso(when),
        );
      const dispute = (status: string, when: number) =>
        adjusted(`adj_${key}_${index}_chargeback`, 'chargeback', status, one.amount, when);
      return [
        sold(
          `txn_${key}_${index}`,
          one.amount,
          index === 0 && !hasTrial ? 'web' : 'subscription_recurring',
          at,
          {
            ...(one.isNamed && { custom_data: namesOf(told) }),
            ...(one.hasCoupon && { discount_id: `dsc_${key}` }),
          },
        ),
        ...refundsOf(one, at).map(({ nth, at: when, added, failed }) =>
          failed === null
            ? adjusted(`adj_${key}_${index}_${nth}`, 'refund', 'approved', added, when)
            : adjusted(`adj_${key}_${index}_${nth}`, 'refund', 'reversed', failed, when),
        ),
        ...(one.dispute === 'none' ? [] : [dispute('approved', at + 500)]),
        ...(one.dispute === 'won' ? [dispute('reversed', at + 600)] : []),
      ];
    }),
    ...(told.isCodeLate ? codes : []),
  ];
}
