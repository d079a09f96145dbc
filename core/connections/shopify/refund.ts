import { decimalAt } from '../amounts.ts';
import type { Fact } from '../connector.ts';
import { type Json, objectsIn, textAt } from '../fields.ts';
import { instantAt, maybeInstant } from '../instants.ts';

/**
 * Reads `refunds/create`: one refund, whose successful transactions moved money, in the buyer's currency. Source: "The Refund resource",
 * https://shopify.dev/docs/api/admin-rest/latest/resources/refund
 */
export function refundFacts(refund: Json): Fact[] {
  const at = maybeInstant(refund, 'processed_at') ?? instantAt(refund, 'created_at');
  const given = objectsIn(refund.transactions).filter(
    (transaction) => transaction.kind === 'refund' && transaction.status === 'success',
  );
  const [first] = given;
  // Goods came back and no money was given.
  if (!first) return [];
  const currency = textAt(first, 'currency');
  const minor = given.reduce((sum, transaction) => sum + decimalAt(transaction, 'amount', currency).minor, 0);
  return [
    {
      kind: 'payment',
      refs: [textAt(refund, 'order_id')],
      customer: null,
      subscription: null,
      part: `refund:${textAt(refund, 'id')}`,
      is: { at, refunded: { minor, currency: currency.toLowerCase() } },
    },
  ];
}
