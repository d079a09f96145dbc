import { buyerOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeObject, maybeText, textAt } from '../fields.ts';

/**
 * Reads `customer.created` and `customer.updated`: a customer's custom data may say which user it is. Transactions do
 * not have the customer's email.
 */
export function customerFacts(object: Json): Fact[] {
  const customer = textAt(object, 'id');
  const buyer = buyerOf(maybeObject(object, 'custom_data'));
  const email = maybeText(object, 'email');
  return [
    ...(buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    ...(email ? [{ kind: 'customer', customer, email } as const] : []),
  ];
}

/** Reads `discount.created` and `discount.updated`. One without a code is applied by the merchant. */
export function discountFacts(discount: Json): Fact[] {
  const code = maybeText(discount, 'code');
  return code === null ? [] : [{ kind: 'code', codeId: textAt(discount, 'id'), code }];
}
