import type { Fact } from '../connector.ts';
import type { Json } from '../fields.ts';
import { customerFacts, failedRefundFacts, orderFacts, refundedOrderFacts } from './order.ts';

/** The events that are understood. Source of each: https://polar.sh/docs/integrate/webhooks/events */
export const EVENT_READERS: Readonly<Record<string, (object: Json, at: number) => readonly Fact[]>> = {
  // "Sent when an order is paid": a purchase, and each cycle of a subscription. `order.created` may not be paid yet.
  'order.paid': orderFacts,
  // "Sent when an order is fully or partially refunded". It has the sum of the order's refunds.
  'order.refunded': refundedOrderFacts,
  // "Sent when a refund is updated." One that failed was counted by `order.refunded`.
  'refund.updated': failedRefundFacts,
  'customer.created': customerFacts,
  'customer.updated': customerFacts,
};

/** The types to select at the provider. */
export const EVENT_TYPES: readonly string[] = Object.keys(EVENT_READERS);
