import { decimalAt } from '../amounts.ts';
import type { Fact } from '../connector.ts';
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
  return objectsIn(refund.transactions).flatMap((transaction) => transactionFact(transaction, order, at));
}

/**
 * Reads `order_transactions/create`: a transaction that succeeded or failed, also one that was pending before. Source: "The
 * Transaction resource", https://shopify.dev/docs/api/admin-rest/latest/resources/transaction
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
    {
      kind: 'payment',
      refs: [order],
      customer: null,
      subscription: null,
      part: `refund:${textAt(transaction, 'id')}`,
      is: { at, refunded: status === 'success' ? money : { ...money, minor: 0 } },
    },
  ];
}
