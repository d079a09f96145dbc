import { buyerOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { type Json, maybeObject, maybeText, textAt } from '../fields.ts';

/** Reads `customer.created` and `customer.updated`: a customer's custom data may say which user it is. */
export function customerFacts(customer: Json): Fact[] {
  const buyer = buyerOf(maybeObject(customer, 'custom_data'));
  return buyer ? [{ kind: 'tie', customer: textAt(customer, 'id'), subscription: null, ...buyer }] : [];
}

/** Reads `discount.created` and `discount.updated`. One without a code is applied by the merchant. */
export function discountFacts(discount: Json): Fact[] {
  const code = maybeText(discount, 'code');
  return code === null ? [] : [{ kind: 'code', codeId: textAt(discount, 'id'), code }];
}
