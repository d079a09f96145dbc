import { buyerOf, metadataOf } from '../buyer.ts';
import type { Buyer, TieFact } from '../connector.ts';
import { type Json, textAt } from '../fields.ts';

/** Reads `customer.created` and `customer.updated`: a customer's metadata may say which user it is. */
export function customerFact(customer: Json): TieFact | null {
  const buyer = buyerOf(metadataOf(customer));
  return buyer ? tieFact(textAt(customer, 'id'), buyer) : null;
}

/** @param buyer with at least one name */
export function tieFact(customer: string, buyer: Buyer): TieFact {
  return { kind: 'tie', customer, ...buyer };
}
