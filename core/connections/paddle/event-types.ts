import type { Fact } from '../connector.ts';
import type { Json } from '../fields.ts';
import { adjustmentFacts } from './adjustment.ts';
import { customerFacts, discountFacts } from './customer.ts';
import { subscriptionFacts, transactionFacts } from './transaction.ts';

/**
 * The events that are understood. Source of each: https://developer.paddle.com/webhooks/overview, the page of its type.
 */
export const EVENT_READERS: Readonly<Record<string, (object: Json, at: number) => readonly Fact[]>> = {
  // "Occurs when a transaction is completed": paid and processed. Also for one of 0, when a trial begins.
  'transaction.completed': transactionFacts,
  // It has the transaction that began the subscription.
  'subscription.created': subscriptionFacts,
  // "Occurs when an adjustment is created", by a refund or a chargeback; most refunds wait for approval.
  'adjustment.created': adjustmentFacts,
  'adjustment.updated': adjustmentFacts,
  'customer.created': customerFacts,
  'customer.updated': customerFacts,
  // Transactions name their discount by its id only.
  'discount.created': discountFacts,
  'discount.updated': discountFacts,
};

/** The types to select at the provider. */
export const EVENT_TYPES: readonly string[] = Object.keys(EVENT_READERS);
