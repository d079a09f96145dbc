import type { ResponseOf } from '../../api/responses.ts';

export type Webhooks = ResponseOf<'/webhooks'>;
export type ShownWebhook = ResponseOf<'/webhooks/{id}'>;
export type Webhook = Omit<ShownWebhook, 'last_delivery'>;
export type WebhookWithSecret = ResponseOf<'/webhooks', 'post'>;

export type Deliveries = ResponseOf<'/webhooks/{id}/deliveries'>;
export type Delivery = Deliveries['deliveries'][number];
export type DeliveryDetail = ResponseOf<'/webhooks/{id}/deliveries/{delivery_id}'>;
export type DeliveryStatus = Delivery['status'];

export const STATUSES = ['pending', 'delivered', 'failed'] as const satisfies DeliveryStatus[];
