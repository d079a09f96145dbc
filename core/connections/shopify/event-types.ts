import type { Fact } from '../connector.ts';
import type { Json } from '../fields.ts';
import { orderFacts } from './order.ts';
import { refundFacts, transactionFacts } from './refund.ts';

/** The topics that are understood. Source of each: https://shopify.dev/docs/api/webhooks/latest */
export const EVENT_READERS: Readonly<Record<string, (object: Json) => readonly Fact[]>> = {
  // "Occurs whenever an order is paid."
  'orders/paid': orderFacts,
  // "Occurs whenever a new refund is created without errors on an order, independent from the movement of money."
  'refunds/create': refundFacts,
  // "Occurs when an order transaction is created or when its status is updated": a pending refund succeeds or fails.
  'order_transactions/create': transactionFacts,
};

/** The types to select at the provider. */
export const EVENT_TYPES: readonly string[] = Object.keys(EVENT_READERS);
