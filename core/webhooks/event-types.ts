/** The events that a webhook can subscribe to. */
export const EVENT_TYPES = [
  'click.created',
  'lead.created',
  'lead.blocked',
  'sale.created',
  'sale.updated',
  'commission.created',
  'commission.updated',
  'credit.earned',
  'credit.delivered',
  'credit.revoked',
  'fulfilment.failed',
  'payout.created',
  'payout.paid',
  'payout.failed',
  'enrollment.created',
  'enrollment.payout_method_changed',
  'domain.failing',
  'webhook.disabled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The event of `POST /webhooks/:id/test`, whatever the webhook subscribes to. */
export const TEST_EVENT = 'webhook.test';

/** The event that may come a thousand times a second; only some of its deliveries are stored. */
export const CLICK_EVENT = 'click.created' satisfies EventType;
