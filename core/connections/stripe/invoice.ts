import { halfEven } from '../../money/money.ts';
import { buyerOf, metadataOf } from '../buyer.ts';
import type { PaymentFact } from '../connector.ts';
import {
  integerAt,
  isObject,
  type Json,
  maybeId,
  maybeInteger,
  maybeObject,
  maybeText,
  objectsIn,
  textAt,
} from '../fields.ts';
import { INVOICE } from '../payment-parts.ts';
import { moneyOf } from './amounts.ts';

/** Reads `invoice.paid`. API versions before 2025-03-31 name the payment and the subscription in other fields. */
export function invoiceFact(invoice: Json, at: number): PaymentFact {
  const id = textAt(invoice, 'id');
  const currency = textAt(invoice, 'currency');
  const paid = integerAt(invoice, 'amount_paid');
  const parent = maybeObject(maybeObject(invoice, 'parent'), 'subscription_details');
  const details = parent ?? maybeObject(invoice, 'subscription_details');
  const subscription = maybeId(parent, 'subscription') ?? maybeId(invoice, 'subscription');
  const buyer = buyerOf({ ...metadataOf(details), ...metadataOf(invoice) });
  const { minor, currency: code } = moneyOf(paid, currency);
  return {
    kind: 'payment',
    refs: [id, ...paymentRefs(invoice)],
    customer: maybeId(invoice, 'customer'),
    account: maybeId(invoice, 'customer_account'),
    subscription,
    part: `invoice:${id}`,
    is: {
      at,
      standing: 'invoice',
      ...(buyer && { buyer }),
      email: maybeText(invoice, 'customer_email'),
      codes: codesOf(invoice),
      sale: {
        precedence: INVOICE,
        ref: id,
        amountMinor: minor,
        commissionableMinor: moneyOf(commissionable(invoice, paid), currency).minor,
        currency: code,
        paidAt: (maybeInteger(maybeObject(invoice, 'status_transitions'), 'paid_at') ?? at / 1_000) * 1_000,
        cycle: cycleOf(invoice, subscription),
        isPriced: (maybeInteger(invoice, 'subtotal') ?? 0) > 0,
      },
    },
  };
}

/** Reads `invoice_payment.paid`: since API version 2025-03-31 only it says which payment paid an invoice. */
export function invoicePaymentFact(payment: Json, at: number): PaymentFact {
  const id = textAt(payment, 'id');
  const of = maybeObject(payment, 'payment');
  const invoice = maybeId(payment, 'invoice');
  return {
    kind: 'payment',
    refs: [invoice, maybeId(of, 'payment_intent'), maybeId(of, 'charge')].filter((ref) => ref !== null),
    customer: null,
    subscription: null,
    part: `invoice_payment:${id}`,
    is: { at, standing: 'invoice' },
  };
}

function paymentRefs(invoice: Json): string[] {
  const payments = objectsIn(maybeObject(invoice, 'payments')?.data).map((one) =>
    maybeObject(one, 'payment'),
  );
  return [invoice, ...payments]
    .flatMap((from) => [maybeId(from, 'payment_intent'), maybeId(from, 'charge')])
    .filter((ref) => ref !== null);
}

/**
 * Returns the part of what was paid that is neither tax nor shipping. A balance of the customer may have paid the rest
 * of the total: it covers goods, tax and shipping alike.
 */
function commissionable(invoice: Json, paid: number): number {
  const total = maybeInteger(invoice, 'total') ?? paid;
  if (total <= 0 || paid <= 0) return 0;
  const withoutTax =
    maybeInteger(invoice, 'total_excluding_tax') ?? total - (maybeInteger(invoice, 'tax') ?? 0);
  const shipping = maybeInteger(maybeObject(invoice, 'shipping_cost'), 'amount_subtotal') ?? 0;
  const goods = Math.min(Math.max(0, withoutTax - shipping), total);
  return Math.min(paid, Number(halfEven(BigInt(paid) * BigInt(goods), BigInt(total))));
}

function cycleOf(invoice: Json, subscription: string | null): 'first' | 'renewal' | 'none' {
  const reason = maybeText(invoice, 'billing_reason');
  if (reason === 'subscription_create') return 'first';
  return subscription === null || reason === 'manual' ? 'none' : 'renewal';
}

const codesOf = (invoice: Json): string[] => [...new Set(discountsOf(invoice).flatMap(codesOfDiscount))];

/** Returns the discounts of an invoice and of its lines: objects, or their ids where they are not expanded. */
export function discountsOf(invoice: Json): unknown[] {
  const lines = objectsIn(maybeObject(invoice, 'lines')?.data);
  return [invoice, ...lines].flatMap(({ discount, discounts, discount_amounts }) => [
    ...(isObject(discount) || typeof discount === 'string' ? [discount] : []),
    ...(Array.isArray(discounts) ? discounts : []),
    ...objectsIn(discount_amounts).map((amount) => amount.discount),
  ]);
}

/** Returns what a discount is called: the text and the id of its promotion code, its coupon, else its own id. */
export function codesOfDiscount(discount: unknown): string[] {
  if (typeof discount === 'string') return [discount];
  if (!isObject(discount)) return [];
  const names = [
    textOfDiscount(discount),
    maybeId(discount, 'promotion_code'),
    couponOfDiscount(discount),
  ].filter((name) => name !== null);
  return names.length > 0 ? names : [maybeText(discount, 'id') ?? []].flat();
}

/** The id of a discount's coupon. Newer API versions have it in `source`. */
export const couponOfDiscount = (discount: Json): string | null =>
  maybeId(discount, 'coupon') ?? maybeId(maybeObject(discount, 'source'), 'coupon');

/** The text of a discount's promotion code, where the code is expanded. */
export const textOfDiscount = (discount: Json): string | null =>
  isObject(discount.promotion_code) ? maybeText(discount.promotion_code, 'code') : null;
