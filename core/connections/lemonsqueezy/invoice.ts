import { maybeMinor, minorAt } from '../amounts.ts';
import { buyerOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeText, textAt } from '../fields.ts';
import { instantAt } from '../instants.ts';
import { INVOICE } from '../payment-parts.ts';
import type { LemonSqueezyObject } from './event-types.ts';
import { firstInvoiceRef, invoiceRef, REFUNDED, refundedPart } from './order.ts';

/**
 * Reads `subscription_payment_success`. The first invoice has no sale: the order that is always sent with it has.
 * Source: https://docs.lemonsqueezy.com/api/subscription-invoices/the-subscription-invoice-object
 */
export function invoiceFacts({ id, attributes, custom }: LemonSqueezyObject, at: number): Fact[] {
  const customer = maybeText(attributes, 'customer_id');
  const buyer = buyerOf(custom);
  const total = minorAt(attributes, 'total');
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    {
      ...ofInvoice(id, attributes),
      part: `invoice:${id}`,
      is: {
        at,
        ...(buyer && { buyer }),
        email: maybeText(attributes, 'user_email'),
        ...(!isFirst(attributes) && {
          sale: {
            precedence: INVOICE,
            ref: invoiceRef(id),
            amountMinor: total,
            commissionableMinor: Math.max(0, total - maybeMinor(attributes, 'tax')),
            currency: textAt(attributes, 'currency').toLowerCase(),
            paidAt: instantAt(attributes, 'created_at'),
            cycle: 'renewal' as const,
          },
        }),
      },
    },
  ];
}

/** Reads `subscription_payment_refunded`: the invoice with the sum of its refunds. */
export function refundedInvoiceFacts({ id, attributes }: LemonSqueezyObject, at: number): Fact[] {
  return [{ ...ofInvoice(id, attributes), part: REFUNDED, is: refundedPart(attributes, at) }];
}

const isFirst = (attributes: Json) => maybeText(attributes, 'billing_reason') === 'initial';

function ofInvoice(id: string, attributes: Json) {
  const subscription = textAt(attributes, 'subscription_id');
  return {
    kind: 'payment' as const,
    refs: [invoiceRef(id), ...(isFirst(attributes) ? [firstInvoiceRef(subscription)] : [])],
    customer: maybeText(attributes, 'customer_id'),
    subscription,
  };
}
