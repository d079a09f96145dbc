import { decimalAt } from '../amounts.ts';
import type { Fact, Part, PaymentFact } from '../connector.ts';
import { type Json, maybeText, objectsIn, textAt } from '../fields.ts';
import { instantAt, maybeInstant } from '../instants.ts';

/**
 * Reads `refunds/create`: one refund, whose successful transactions moved money, in the buyer's currency. One that is
 * pending may fail: `order_transactions/create` tells. Source: "The Refund resource",
 * https://shopify.dev/docs/api/admin-rest/latest/resources/refund
 */
export function refundFacts(refund: Json): Fact[] {
  const at = maybeInstant(refund, 'processed_at') ?? instantAt(refund, 'created_at');
  const order = textAt(refund, 'order_id');
  const transactions = objectsIn(refund.transactions);
  if (isOfShipping(refund)) return transactions.flatMap((one) => shippingFact(one, order, at));
  return transactions.flatMap((transaction) => transactionFact(transaction, order, at));
}

/** Whether only shipping was refunded: no goods, and no other amount. */
function isOfShipping(refund: Json): boolean {
  const adjustments = objectsIn(refund.order_adjustments);
  const shipping = [
    ...adjustments.filter(({ kind }) => kind === 'shipping_refund'),
    ...objectsIn(refund.refund_shipping_lines),
  ];
  return (
    shipping.length > 0 &&
    objectsIn(refund.refund_line_items).length === 0 &&
    adjustments.every(({ kind }) => kind === 'shipping_refund')
  );
}

/** A refund of shipping takes no commission back, whatever its transaction says before or after. */
function shippingFact(transaction: Json, order: string, at: number): Fact[] {
  if (transaction.kind !== 'refund') return [];
  const { currency } = decimalAt(transaction, 'amount', textAt(transaction, 'currency'));
  return [partOf(transaction, order, { at, rank: 1, refunded: { minor: 0, currency } })];
}

/**
 * Reads `order_transactions/create`: a transaction that succeeded or failed, also one that was pending before. Source:
 * "The Transaction resource", https://shopify.dev/docs/api/admin-rest/latest/resources/transaction
 */
export function transactionFacts(transaction: Json): Fact[] {
  const at = maybeInstant(transaction, 'processed_at') ?? instantAt(transaction, 'created_at');
  return transactionFact(transaction, textAt(transaction, 'order_id'), at);
}

function transactionFact(transaction: Json, order: string, at: number): Fact[] {
  const status = maybeText(transaction, 'status');
  if (transaction.kind !== 'refund' || status === 'pending') return [];
  const money = decimalAt(transaction, 'amount', textAt(transaction, 'currency'));
  return [
    partOf(transaction, order, { at, refunded: status === 'success' ? money : { ...money, minor: 0 } }),
  ];
}

const partOf = (transaction: Json, order: string, is: Part): PaymentFact => ({
  kind: 'payment',
  refs: [order],
  customer: null,
  subscription: null,
  part: `refund:${textAt(transaction, 'id')}`,
  is,
});
