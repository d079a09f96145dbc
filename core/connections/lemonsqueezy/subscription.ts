import { buyerOf } from '../buyer.ts';
import type { Fact } from '../connector.ts';
import { maybeText, textAt } from '../fields.ts';
import type { LemonSqueezyObject } from './event-types.ts';
import { firstInvoiceRef } from './order.ts';

/**
 * Reads `subscription_created` and `subscription_updated`: which order began the subscription, so that the order and
 * the first invoice are one purchase. Source: https://docs.lemonsqueezy.com/api/subscriptions/the-subscription-object
 */
export function subscriptionFacts({ id, attributes, custom }: LemonSqueezyObject, at: number): Fact[] {
  const customer = maybeText(attributes, 'customer_id');
  const buyer = buyerOf(custom);
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    {
      kind: 'payment',
      refs: [textAt(attributes, 'order_id'), firstInvoiceRef(id)],
      customer,
      subscription: id,
      part: `subscription:${id}`,
      is: { at },
    },
  ];
}
