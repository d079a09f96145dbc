import { maybeMinor, minorAt, shareOf } from '../amounts.ts';
import { buyerOf } from '../buyer.ts';
import type { Buyer, Fact, PartSale } from '../connector.ts';
import { type Json, maybeObject, maybeText, textAt } from '../fields.ts';
import { maybeInstant } from '../instants.ts';
import { INVOICE } from '../payment-parts.ts';

/**
 * Reads `order.paid`. Amounts are integers "in cents". Polar's documents name no currency with other than two digits,
 * so minor units are taken as ISO 4217 counts them. Source: https://polar.sh/docs/api-reference/webhooks/order.paid,
 * and models/components/order.ts of `@polar-sh/sdk` 0.49.
 */
export function orderFacts(order: Json, at: number): Fact[] {
  const id = textAt(order, 'id');
  const customer = maybeText(order, 'customer_id');
  const person = maybeObject(order, 'customer');
  const buyer = nearest(buyerOf(maybeObject(order, 'metadata')), buyerOfCustomer(person));
  const total = minorAt(order, 'total_amount');
  // A balance of the customer pays a part, or adds to what is due.
  const paid = Math.max(0, total + maybeMinor(order, 'applied_balance_amount'));
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    {
      kind: 'payment',
      refs: [id],
      customer,
      subscription: maybeText(order, 'subscription_id'),
      part: `order:${id}`,
      is: {
        at,
        ...(buyer && { buyer }),
        email: maybeText(person, 'email'),
        codes: [maybeText(maybeObject(order, 'discount'), 'code') ?? []].flat(),
        sale: {
          precedence: INVOICE,
          ref: id,
          amountMinor: paid,
          commissionableMinor: shareOf(paid, minorAt(order, 'net_amount'), total),
          currency: textAt(order, 'currency').toLowerCase(),
          paidAt: maybeInstant(order, 'created_at') ?? at,
          cycle: cycleOf(order),
          isPriced: maybeMinor(order, 'subtotal_amount') > 0,
        },
      },
    },
  ];
}

/** Reads `order.refunded`: the order with the sum of its refunds, whichever of them it is about. */
export function refundedOrderFacts(order: Json, at: number): Fact[] {
  const goods = minorAt(order, 'refunded_amount');
  const minor = goods + maybeMinor(order, 'refunded_tax_amount');
  return [
    {
      kind: 'payment',
      refs: [textAt(order, 'id')],
      customer: maybeText(order, 'customer_id'),
      subscription: maybeText(order, 'subscription_id'),
      part: REFUNDED,
      is: {
        at,
        refunded: { minor, goods, currency: textAt(order, 'currency').toLowerCase() },
      },
    },
  ];
}

/** Reads `customer.created` and `customer.updated`. */
export function customerFacts(object: Json): Fact[] {
  const customer = textAt(object, 'id');
  const buyer = buyerOfCustomer(object);
  const email = maybeText(object, 'email');
  return [
    ...(buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    ...(email ? [{ kind: 'customer', customer, email } as const] : []),
  ];
}

/**
 * Reads `refund.updated`: a refund that failed or was canceled. Source:
 * https://polar.sh/docs/api-reference/webhooks/refund.updated
 */
export function failedRefundFacts(refund: Json, at: number): Fact[] {
  const status = maybeText(refund, 'status');
  if (status !== 'failed' && status !== 'canceled') return [];
  return [
    {
      kind: 'payment',
      refs: [textAt(refund, 'order_id')],
      customer: maybeText(refund, 'customer_id'),
      subscription: maybeText(refund, 'subscription_id'),
      part: `failed_refund:${textAt(refund, 'id')}`,
      is: {
        at,
        rank: -at,
        failedRefund: {
          minor: minorAt(refund, 'amount') + maybeMinor(refund, 'tax_amount'),
          goods: minorAt(refund, 'amount'),
          currency: textAt(refund, 'currency').toLowerCase(),
          of: REFUNDED,
        },
      },
    },
  ];
}

/** Name of the part that has the sum of an order's refunds. */
const REFUNDED = 'refunded';

/** The names of a customer: its metadata, and its id in the merchant's system (`external_id`). */
const buyerOfCustomer = (customer: Json | null): Buyer | null =>
  buyerOf(maybeObject(customer, 'metadata'), customer?.external_id);

/** Returns the names of an order, with those of its customer where the order has none. */
function nearest(own: Buyer | null, customers: Buyer | null): Buyer | null {
  if (!own || !customers) return own ?? customers;
  return {
    externalUserId: own.externalUserId ?? customers.externalUserId,
    visitorId: own.visitorId ?? customers.visitorId,
    reference: own.reference ?? customers.reference,
  };
}

function cycleOf(order: Json): PartSale['cycle'] {
  const reason = maybeText(order, 'billing_reason');
  if (reason === 'subscription_create') return 'first';
  return reason === 'subscription_cycle' || reason === 'subscription_update' ? 'renewal' : 'none';
}
