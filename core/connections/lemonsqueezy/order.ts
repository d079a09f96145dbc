import { maybeMinor, minorAt } from '../amounts.ts';
import { buyerOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeText, textAt } from '../fields.ts';
import { instantAt } from '../instants.ts';
import { INVOICE } from '../payment-parts.ts';
import type { LemonSqueezyObject } from './event-types.ts';

/**
 * Reads `order_created`. Amounts are integers "in cents". The documents do not say how currencies without minor units
 * are counted, so they are taken as ISO 4217 counts them. Source:
 * https://docs.lemonsqueezy.com/api/orders/the-order-object
 */
export function orderFacts({ id, attributes, custom }: LemonSqueezyObject, at: number): Fact[] {
  // `pending` and `failed` orders are not paid.
  if (!PAID.has(textAt(attributes, 'status'))) return [];
  const customer = maybeText(attributes, 'customer_id');
  const buyer = buyerOf(custom);
  const total = minorAt(attributes, 'total');
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    {
      kind: 'payment',
      refs: [id],
      customer,
      subscription: null,
      part: `order:${id}`,
      is: {
        at,
        ...(buyer && { buyer }),
        email: maybeText(attributes, 'user_email'),
        sale: {
          precedence: INVOICE,
          ref: id,
          amountMinor: total,
          commissionableMinor: Math.max(0, total - maybeMinor(attributes, 'tax')),
          currency: textAt(attributes, 'currency').toLowerCase(),
          paidAt: instantAt(attributes, 'created_at'),
          // An order does not tell whether it begins a subscription; `subscription_created` does.
          cycle: 'first',
          isPriced: maybeMinor(attributes, 'discount_total') > 0,
        },
      },
    },
  ];
}

/** Reads `order_refunded`: the order with the sum of its refunds. */
export function refundedOrderFacts({ id, attributes }: LemonSqueezyObject, at: number): Fact[] {
  return [
    {
      kind: 'payment',
      refs: [id],
      customer: maybeText(attributes, 'customer_id'),
      subscription: null,
      part: REFUNDED,
      is: refundedPart(attributes, at),
    },
  ];
}

const PAID = new Set(['paid', 'refunded', 'partial_refund']);

/**
 * Name of the part with what was refunded. An order and its subscription's first invoice share it: their events are
 * about the same refund, and the newer sum counts.
 */
export const REFUNDED = 'refunded';

/** Before `refunded_amount` was added there were full refunds only, of the whole total. */
export function refundedPart(attributes: Json, at: number) {
  const minor =
    attributes.refunded_amount === undefined
      ? minorAt(attributes, 'total')
      : minorAt(attributes, 'refunded_amount');
  return { at, refunded: { minor, currency: textAt(attributes, 'currency').toLowerCase() } };
}

/**
 * Returns the order id of a subscription's first invoice. Each type of object counts its own ids, so only the ids of
 * orders are order ids as they are.
 */
export const firstInvoiceRef = (subscription: string) => `first_invoice_of_${subscription}`;
export const invoiceRef = (id: string) => `invoice_${id}`;
