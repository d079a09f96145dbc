import { buyerOf, metadataOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeText, textAt } from '../fields.ts';

/** Reads `customer.created` and `customer.updated`: its metadata may say which user a customer is, and its email. */
export function customerFacts(object: Json): Fact[] {
  const customer = textAt(object, 'id');
  const buyer = buyerOf(metadataOf(object));
  const email = maybeText(object, 'email');
  return [
    ...(buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    ...(email ? [{ kind: 'customer', customer, email } as const] : []),
  ];
}
