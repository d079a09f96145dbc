/** What the API answers about webhooks, as far as these pages use it. Instants are ISO 8601. */

export type Webhook = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  is_active: boolean;
  /** When it was disabled for failing; null: it was not. */
  disabled_at: string | null;
  created_at: string;
  updated_at: string;
};

export const STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof STATUSES)[number];

type Result = {
  id: string;
  /** An event, or `webhook.test`. */
  type: string;
  status: DeliveryStatus;
  attempts: number;
  response_status: number | null;
  error: string | null;
  created_at: string;
};

/** `GET /webhooks/:id` */
export type ShownWebhook = Webhook & { last_delivery: Result | null };

/** `GET /webhooks` */
export type Webhooks = { webhooks: ShownWebhook[]; next_cursor: string | null };

/** `POST /webhooks` and `POST /webhooks/:id/rotate-secret` */
export type WebhookWithSecret = Webhook & { secret: string };

export type Delivery = Result & {
  event_id: string;
  response_body: string | null;
  next_attempt_at: string | null;
  delivered_at: string | null;
};

/** `GET /webhooks/:id/deliveries` */
export type Deliveries = { deliveries: Delivery[]; next_cursor: string | null };

/** `GET /webhooks/:id/deliveries/:delivery_id`; what the last attempt sent is null while nothing was. */
export type DeliveryDetail = Delivery & {
  request: { url: string | null; headers: Record<string, string> | null; body: string };
};
