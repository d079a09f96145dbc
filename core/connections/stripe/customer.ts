import { buyerOf, metadataOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeText, textAt } from '../fields.ts';

/**
 * Reads `customer.created` and `customer.updated`: its metadata may say which user a customer is, and its email.
 *
 * @param former the fields that the event changed, as they were
 */
export function customerFacts(object: Json, _at: number, former: Json | null): Fact[] {
  const customer = textAt(object, 'id');
  const buyer = buyerOf(metadataOf(object));
  const email = maybeText(object, 'email');
  return [
    ...(buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    ...(email ? [{ kind: 'customer', customer, email, ...changeOf(former) } as const] : []),
  ];
}

/** Stripe writes whole seconds: of two emails of one second the one that replaced another is the newer one. */
function changeOf(former: Json | null): { isChange?: boolean; former?: string } {
  if (former === null || !('email' in former)) return {};
  const email = maybeText(former, 'email');
  return { isChange: true, ...(email !== null && { former: email }) };
}
