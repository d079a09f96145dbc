/** The events that a webhook can subscribe to. */
export const EVENT_TYPES = [
  'click.created',
  'lead.created',
  'sale.created',
  'commission.created',
  'credit.earned',
  'credit.delivered',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What `POST /webhooks/:id/test` sends, whatever the webhook subscribes to. */
export const TEST_EVENT = 'webhook.test';

/** The event of the stream, which may be a thousand a second: not every delivery of it is kept. */
export const CLICK_EVENT = 'click.created' satisfies EventType;
