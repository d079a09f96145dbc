import type { Fact } from '../connector.ts';
import type { Json } from '../fields.ts';
import { invoiceFacts, refundedInvoiceFacts } from './invoice.ts';
import { orderFacts, refundedOrderFacts } from './order.ts';
import { subscriptionFacts } from './subscription.ts';

/** The data of an event, and what the checkout was given as custom data. */
export type LemonSqueezyObject = { id: string; attributes: Json; custom: Json | null };

/** The events that are understood. Source of each: https://docs.lemonsqueezy.com/help/webhooks/event-types */
export const EVENT_READERS: Readonly<
  Record<string, (object: LemonSqueezyObject, at: number) => readonly Fact[]>
> = {
  // "Occurs when a new order is successfully placed." Also for the first payment of a subscription.
  order_created: orderFacts,
  // "Occurs when a full or partial refund is made on an order."
  order_refunded: refundedOrderFacts,
  // "An order_created event will always be sent alongside a subscription_created event." Joins order and invoice.
  subscription_created: subscriptionFacts,
  subscription_updated: subscriptionFacts,
  // "Occurs when a subscription payment is successful", the first one too.
  subscription_payment_success: invoiceFacts,
  // "Occurs when a subscription payment is refunded."
  subscription_payment_refunded: refundedInvoiceFacts,
};

/** The types to select at the provider. */
export const EVENT_TYPES: readonly string[] = Object.keys(EVENT_READERS);
