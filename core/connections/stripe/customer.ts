import { buyerOf, metadataOf } from '../buyer.ts';
import type { TieFact } from '../connector.ts';
import { type Json, textAt } from '../fields.ts';

/** Reads `customer.created` and `customer.updated`: a customer's metadata may say which user it is. */
export function customerFact(customer: Json): TieFact | null {
  const buyer = buyerOf(metadataOf(customer));
  return buyer ? { kind: 'tie', customer: textAt(customer, 'id'), subscription: null, ...buyer } : null;
}
