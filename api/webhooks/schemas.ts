import { type Static, Type } from 'typebox';
import { EVENT_TYPES, TEST_EVENT } from '../../core/webhooks/event-types.ts';
import { DELIVERY_STATUSES } from '../../sql/webhooks/deliveries.ts';
import { Body, Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';
import { RECEIVER_URL_LIMIT } from './receiver-url.ts';

const Url = Type.String({
  minLength: 1,
  maxLength: RECEIVER_URL_LIMIT,
  description:
    'An http:// or https:// address without credentials. One that resolves to an address which is not globally reachable is a 400; one that does not resolve yet is accepted.',
});
const Events = Type.Array(OneOf(EVENT_TYPES), { minItems: 1, maxItems: 20 });
const Description = Nullable(Type.String({ maxLength: 500 }));
const IsActive = Type.Boolean({
  description:
    'A webhook that is not active gets nothing: what is still to be delivered fails when it is due. Switched on again, it gets what happens from then on.',
});

export const WebhookBody = Body({
  url: Url,
  events: Events,
  description: Type.Optional(Description),
  is_active: Type.Optional(IsActive),
});
export type WebhookBody = Static<typeof WebhookBody>;

export const WebhookChange = Body({
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  description: Type.Optional(Description),
  is_active: Type.Optional(IsActive),
});
export type WebhookChange = Static<typeof WebhookChange>;

const FIELDS = {
  id: Uuid,
  url: Type.String(),
  events: Type.Array(OneOf(EVENT_TYPES)),
  description: Nullable(Type.String()),
  is_active: Type.Boolean(),
  disabled_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When it was disabled because it had only failed for five days; null: it was not.',
    }),
  ),
  created_at: Instant,
  updated_at: Instant,
};

export const WebhookRecord = Type.Object(FIELDS);
export type WebhookRecord = Static<typeof WebhookRecord>;

const LastDelivery = Type.Object({
  id: Uuid,
  type: Type.String(),
  status: OneOf(DELIVERY_STATUSES),
  attempts: Type.Integer(),
  response_status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  created_at: Instant,
});

/** A webhook as it is read: with what its newest delivery came to. */
export const WebhookShown = Type.Object({
  ...FIELDS,
  last_delivery: Type.Unsafe<Static<typeof LastDelivery> | null>({
    ...LastDelivery,
    type: ['object', 'null'],
    description: 'The newest delivery of the log; null: there is none.',
  }),
});
export type WebhookShown = Static<typeof WebhookShown>;

export const WebhookWithSecret = Type.Object({
  ...FIELDS,
  secret: Type.String({
    description: 'The signing secret: `whsec_` and base64. Shown here only.',
  }),
});

export const WebhookList = Type.Object({
  webhooks: Type.Array(WebhookShown),
  next_cursor: Nullable(Instant),
});

const Cursor = Type.Optional(Type.String({ format: 'date-time' }));

export const WebhookQuery = Type.Object({ limit: Limit(500, 100), cursor: Cursor });

const DELIVERY_FIELDS = {
  id: Uuid,
  event_id: Type.String({ format: 'uuid', description: "The `webhook-id`, and the body's `id`." }),
  type: Type.String({ description: 'The event, or `webhook.test`.' }),
  status: OneOf(DELIVERY_STATUSES),
  attempts: Type.Integer(),
  response_status: Nullable(Type.Integer()),
  response_body: Nullable(Type.String({ description: 'Up to 64 KiB of it.' })),
  error: Nullable(Type.String({ description: 'Why the last attempt did not deliver.' })),
  next_attempt_at: Nullable(Instant),
  created_at: Instant,
  delivered_at: Nullable(Instant),
};

export const Delivery = Type.Object(DELIVERY_FIELDS);

const Headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Those that the service set, the signature of that attempt among them.',
});

export const DeliveryWithRequest = Type.Object({
  ...DELIVERY_FIELDS,
  request: Type.Object(
    {
      url: Nullable(Type.String()),
      headers: Nullable(Headers as typeof Headers & { type: string }),
      body: Type.String({ description: 'The very bytes that every attempt sends and signs.' }),
    },
    {
      description:
        'What the last attempt sent. `url` and `headers` are null while nothing was sent: before the first attempt, where the address was refused, and for attempts older than this field.',
    },
  ),
});
export type DeliveryWithRequest = Static<typeof DeliveryWithRequest>;

export const DeliveryList = Type.Object({
  deliveries: Type.Array(Delivery),
  next_cursor: Nullable(Instant),
});

export const DeliveryQuery = Type.Object({
  status: Type.Optional(OneOf(DELIVERY_STATUSES)),
  type: Type.Optional(OneOf([...EVENT_TYPES, TEST_EVENT])),
  limit: Limit(500, 100),
  cursor: Cursor,
});

export const DeliveryParams = Type.Object({ id: Uuid, delivery_id: Uuid });
