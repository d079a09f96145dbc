import type { Connection, EventStatus } from './responses.ts';

export const PROVIDER_NAMES: Record<Connection['provider'], string> = {
  stripe: 'Stripe',
  paddle: 'Paddle',
  lemonsqueezy: 'Lemon Squeezy',
  polar: 'Polar',
  shopify: 'Shopify',
};

/** Where each provider's webhooks are, and what it says of their secret. `hasModes`: its events tell test mode. */
export const PROVIDER_PLACES: Record<
  Connection['provider'],
  { place: string; secret: string; hasModes: boolean }
> = {
  stripe: {
    place: 'open Developers, then Webhooks, and add a destination with this address:',
    secret: 'Stripe shows it at the webhook that you have added. It begins with whsec_.',
    hasModes: true,
  },
  paddle: {
    place: 'open Developer tools, then Notifications, and add a destination of type URL with this address:',
    secret: 'The secret key of the destination that you have added. It begins with pdl_ntfset_.',
    hasModes: false,
  },
  lemonsqueezy: {
    place: 'open Settings, then Webhooks, and add a webhook with this address:',
    secret: 'The signing secret that you choose for the webhook: 6 to 40 characters.',
    hasModes: true,
  },
  polar: {
    place: 'open Settings, then Webhooks, and add an endpoint with format Raw and this address:',
    secret: 'Polar generates it for the endpoint. Copy it whole.',
    hasModes: false,
  },
  shopify: {
    place:
      'open Settings, then Notifications, then Webhooks, and create one for each event, as JSON, with this address:',
    secret: 'Shopify shows it below the webhooks that you have created.',
    hasModes: true,
  },
};

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
  nothing_paid: 'Nothing was paid, as when a trial begins.',
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
