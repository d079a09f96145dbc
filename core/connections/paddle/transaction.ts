import { maybeMinor, minorAt, shareOf } from '../amounts.ts';
import { buyerOf } from '../buyer.ts';
import type { Fact, PartSale } from '../connector.ts';
import { type Json, maybeObject, maybeText, objectAt, textAt } from '../fields.ts';
import { maybeInstant } from '../instants.ts';
import { INVOICE } from '../payment-parts.ts';

/**
 * Reads `transaction.completed`. Amounts are text in the lowest denomination of the currency, as ISO 4217 counts it.
 * Source: https://developer.paddle.com/api-reference/transactions
 */
export function transactionFacts(transaction: Json, at: number): Fact[] {
  const id = textAt(transaction, 'id');
  const customer = maybeText(transaction, 'customer_id');
  const buyer = buyerOf(maybeObject(transaction, 'custom_data'));
  const totals = objectAt(objectAt(transaction, 'details'), 'totals');
  const total = minorAt(totals, 'total');
  // The total after credits of the customer.
  const paid = minorAt(totals, 'grand_total');
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    {
      kind: 'payment',
      refs: [id],
      customer,
      subscription: maybeText(transaction, 'subscription_id'),
      part: `transaction:${id}`,
      is: {
        at,
        ...(buyer && { buyer }),
        codes: [maybeText(transaction, 'discount_id') ?? []].flat(),
        sale: {
          precedence: INVOICE,
          ref: id,
          amountMinor: paid,
          commissionableMinor: shareOf(paid, total - maybeMinor(totals, 'tax'), total),
          currency: textAt(totals, 'currency_code').toLowerCase(),
          paidAt: maybeInstant(transaction, 'billed_at') ?? at,
          cycle: cycleOf(transaction),
          isPriced: maybeMinor(totals, 'subtotal') > 0,
        },
      },
    },
  ];
}

/**
 * Reads `subscription.created`: the transaction that began it, which need not name it. Source:
 * https://developer.paddle.com/webhooks/subscriptions/subscription-created ("transaction_id")
 */
export function subscriptionFacts(subscription: Json, at: number): Fact[] {
  const id = textAt(subscription, 'id');
  const transaction = maybeText(subscription, 'transaction_id');
  const customer = maybeText(subscription, 'customer_id');
  const buyer = buyerOf(maybeObject(subscription, 'custom_data'));
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    ...(transaction
      ? [
          {
            kind: 'payment' as const,
            refs: [transaction],
            customer,
            subscription: id,
            part: `subscription:${id}`,
            is: { at, ...(buyer && { buyer }) },
          },
        ]
      : []),
  ];
}

/** `web` and `api`: a checkout or an invoice, which may begin a subscription; the others are of one that exists. */
function cycleOf(transaction: Json): PartSale['cycle'] {
  return maybeText(transaction, 'origin')?.startsWith('subscription_') ? 'renewal' : 'first';
}
