import type { EventStatus } from './responses.ts';

export const STATUS_NAMES: Record<EventStatus, string> = {
  pending: 'Pending',
  recorded: 'Recorded',
  unmatched: 'Unmatched',
  ignored: 'Ignored',
  failed: 'Failed',
};

const REASONS: Record<string, string> = {
  test_mode: 'It is of test mode, and this connection counts live mode.',
  live_mode: 'It is of live mode, and this connection counts test mode.',
  type_not_used: 'Events of this type report no purchase.',
  says_nothing: 'It names no user, visitor or payment.',
  trial_nothing_paid: 'Trial, nothing paid. The first paid invoice is the first sale.',
  nothing_paid: 'Nothing was paid.',
  no_buyer: 'No known user has its metadata, customer, or email.',
  unknown_buyer: 'It names a user whose signup was not reported.',
  no_purchase: 'No event has told of its payment yet.',
  waits_for_invoice: 'Its payment may be of an invoice. Without one, it is a purchase after 72 hours.',
  amount_too_large: 'The amount is larger than Hoplog records.',
  reported_for_another_user: 'The order was reported for another user.',
  internal_error: 'Hoplog could not process it. Try again.',
};

/** Returns why an event has its status, as a sentence; null where there is nothing to say. */
export function reasonOf(reason: string | null): string | null {
  if (reason === null) return null;
  return REASONS[reason] ?? `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
}
