import { maybeMinor, minorAt } from '../amounts.ts';
import type { Fact, Part } from '../connector.ts';
import { type Json, maybeText, objectAt, textAt } from '../fields.ts';

/**
 * Reads `adjustment.created` and `adjustment.updated`. A refund counts once Paddle approves it. A chargeback is
 * `reversed` when Paddle wins it, and then has an adjustment `chargeback_reverse` beside it, which says the same again.
 * Credits lower what a later transaction costs.
 *
 * Source: https://developer.paddle.com/api-reference/adjustments
 */
export function adjustmentFacts(adjustment: Json, at: number): Fact[] {
  const is = partOf(adjustment, at);
  if (!is) return [];
  return [
    {
      kind: 'payment',
      refs: [textAt(adjustment, 'transaction_id')],
      customer: maybeText(adjustment, 'customer_id'),
      subscription: maybeText(adjustment, 'subscription_id'),
      part: `adjustment:${textAt(adjustment, 'id')}`,
      is,
    },
  ];
}

function partOf(adjustment: Json, at: number): Part | null {
  const action = textAt(adjustment, 'action');
  const status = textAt(adjustment, 'status');
  const totals = objectAt(adjustment, 'totals');
  const money = { minor: minorAt(totals, 'total'), currency: textAt(totals, 'currency_code').toLowerCase() };
  // A refund that is reversed or rejected after its approval was not given, and is not approved again.
  if (action === 'refund') {
    if (status === 'pending_approval') return null;
    if (status !== 'approved') return { at, rank: 1, refunded: { ...money, minor: 0 } };
    return { at, refunded: { ...money, goods: money.minor - maybeMinor(totals, 'tax') } };
  }
  if (action !== 'chargeback') return null;
  if (status === 'approved') return { at, rank: 1, dispute: { ...money, state: 'taken' } };
  return status === 'reversed' ? { at, rank: 2, dispute: { ...money, state: 'won' } } : null;
}
