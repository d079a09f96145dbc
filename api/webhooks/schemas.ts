import { type Static, Type } from 'typebox';
import { CHANNELS } from '../../core/enrich/channels.ts';
import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../core/webhooks/event-types.ts';
import { WEBHOOK_FORMATS } from '../../core/webhooks/formats.ts';
import { DELIVERY_STATUSES } from '../../sql/webhooks/deliveries.ts';
import {
  Body,
  Cursor,
  Instant,
  Limit,
  NextCursor,
  Nullable,
  OneOf,
  ReadBody,
  SecretShown,
  Url,
  Uuid,
} from '../schemas.ts';
import { RECEIVER_URL_LIMIT } from './receiver-url.ts';

const ReceiverUrl = Type.String({
  format: 'uri',
  minLength: 1,
  maxLength: RECEIVER_URL_LIMIT,
  description:
    'An `http://` or `https://` URL without credentials. With the format `get` it may have placeholders, `?order={order_id}`. A host that resolves to an address that is not globally reachable is a 400. A host that does not resolve yet is accepted.',
});
const EventType = OneOf(EVENT_TYPES, { title: 'EventType' });
const DeliveryStatus = OneOf(DELIVERY_STATUSES, { title: 'DeliveryStatus' });
const Events = Type.Array(EventType, { minItems: 1, maxItems: EVENT_TYPES.length });
const Description = Nullable(Type.String({ maxLength: 500 }));

/** Ids in one list of a filter, at most. */
const MOST_IDS = 100;
const Ids = (what: string) =>
  Type.Array(Uuid, { minItems: 1, maxItems: MOST_IDS, description: `Events of these ${what} only.` });
const Filter = ReadBody(
  {
    link_ids: Type.Optional(Ids('links')),
    folder_ids: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: MOST_IDS,
        description:
          'Events of links in these folders only. A click counts for the folder of its link at the click, and `link.updated` for the folders before and after it.',
      }),
    ),
    program_ids: Type.Optional(Ids('programs')),
    channels: Type.Optional(
      Type.Array(OneOf(CHANNELS), {
        minItems: 1,
        maxItems: CHANNELS.length,
        description: 'Events of links and clicks on these channels only.',
      }),
    ),
  },
  {
    title: 'WebhookFilter',
    description:
      'An event passes that matches every list given. An event without such a subject passes only without the list: no sale names a link. `{}` means no filter.',
  },
);
const Format = OneOf(WEBHOOK_FORMATS, {
  title: 'WebhookFormat',
  description:
    '`json`: the event. `slack` and `discord`: a message for an incoming webhook of Slack or Discord, or of a service that takes the same. `get`: a GET of `url`, unsigned, in which `{name}` is that field of the data of the event, percent-encoded, or empty; `{test}` is `true` for an example.',
});
const Batch = ReadBody(
  {
    max: Type.Integer({ minimum: 2, maximum: 1_000, description: 'Clicks of one delivery, at most.' }),
    seconds: Type.Integer({
      minimum: 1,
      maximum: 60,
      description: 'How long the first click waits, at most.',
    }),
  },
  {
    title: 'WebhookBatch',
    description:
      'Delivers clicks together: `{ id, type: "click.created.batch", created_at, data: [Click] }`. Other events come alone. Requires `click.created` in `events`, and another format than `get`.',
  },
);
const IsActive = Type.Boolean({
  description:
    'An inactive webhook receives nothing: pending deliveries fail when they are due. After reactivation it receives new events only.',
});

export const WebhookBody = Body(
  {
    url: ReceiverUrl,
    events: Events,
    description: Type.Optional(Description),
    filter: Type.Optional(Nullable(Filter)),
    format: Type.Optional(Format),
    batch: Type.Optional(Nullable(Batch)),
    is_active: Type.Optional(IsActive),
  },
  { title: 'CreateWebhook' },
);
export type WebhookBody = Static<typeof WebhookBody>;

export const WebhookChange = Body(
  {
    url: Type.Optional(ReceiverUrl),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    filter: Type.Optional(Nullable(Filter)),
    format: Type.Optional(Format),
    batch: Type.Optional(Nullable(Batch)),
    is_active: Type.Optional(IsActive),
  },
  { title: 'UpdateWebhook' },
);
export type WebhookChange = Static<typeof WebhookChange>;

const FIELDS = {
  id: Uuid,
  url: Url,
  events: Type.Array(EventType),
  description: Nullable(Type.String()),
  filter: Nullable(Filter),
  format: Format,
  batch: Nullable(Batch),
  is_active: Type.Boolean(),
  disabled_at: Nullable(
    Type.String({
      format: 'date-time',
      description:
        'When the service disabled the webhook: it responded with 410, or only failed for five days. Null if it did not.',
    }),
  ),
  created_at: Instant,
  updated_at: Instant,
};

export const WebhookRecord = Type.Object(FIELDS, { title: 'Webhook' });
export type WebhookRecord = Static<typeof WebhookRecord>;

const LastDelivery = Type.Object(
  {
    id: Uuid,
    type: Type.String(),
    status: DeliveryStatus,
    attempts: Type.Integer(),
    response_status: Nullable(Type.Integer()),
    error: Nullable(Type.String()),
    created_at: Instant,
  },
  { title: 'LastDelivery', description: 'The newest delivery in the log. Null if there is none.' },
);

/** A webhook with the outcome of its newest delivery. */
export const WebhookShown = Type.Object(
  {
    ...FIELDS,
    last_delivery: Type.Unsafe<Static<typeof LastDelivery> | null>({
      ...LastDelivery,
      type: ['object', 'null'],
    }),
  },
  { title: 'WebhookWithLastDelivery' },
);
export type WebhookShown = Static<typeof WebhookShown>;

export const WebhookWithSecret = Type.Object(
  {
    ...FIELDS,
    secret_shown: SecretShown,
    secret: Type.Optional(
      Type.String({
        pattern: '^whsec_[A-Za-z0-9+/]+=*$',
        description:
          'The signing secret: `whsec_` and base64. Shown only in this response; a replay by `Idempotency-Key` lacks it.',
      }),
    ),
  },
  { title: 'WebhookWithSecret' },
);

export const WebhookList = Type.Object(
  { webhooks: Type.Array(WebhookShown), next_cursor: NextCursor },
  { title: 'WebhookList' },
);

export const WebhookQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(Cursor) });

const DELIVERY_FIELDS = {
  id: Uuid,
  event_id: Type.String({ format: 'uuid', description: 'The `webhook-id` header, and `id` of the body.' }),
  type: Type.String({ description: 'The event type, or `webhook.test`.' }),
  status: DeliveryStatus,
  attempts: Type.Integer(),
  response_status: Nullable(Type.Integer()),
  response_body: Nullable(Type.String({ description: 'The first 64 KiB.' })),
  error: Nullable(Type.String({ description: 'Why the last attempt failed.' })),
  next_attempt_at: Nullable(Instant),
  created_at: Instant,
  delivered_at: Nullable(Instant),
};

export const Delivery = Type.Object(DELIVERY_FIELDS, { title: 'Delivery' });

const Headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Headers set by the service, including the signature of that attempt.',
});

const SentRequest = Type.Object(
  {
    url: Nullable(Url),
    headers: Nullable(Headers as typeof Headers & { type: string }),
    body: Type.String({
      description:
        'The exact bytes that an attempt sends and signs, in the format of the webhook now. Empty for a GET.',
    }),
  },
  {
    title: 'SentRequest',
    description:
      'The request of the last attempt. `url` and `headers` are null before the first attempt, if the address was refused, and for attempts older than this field.',
  },
);

export const DeliveryWithRequest = Type.Object(
  { ...DELIVERY_FIELDS, request: SentRequest },
  { title: 'DeliveryWithRequest' },
);
export type DeliveryWithRequest = Static<typeof DeliveryWithRequest>;

export const DeliveryList = Type.Object(
  { deliveries: Type.Array(Delivery), next_cursor: NextCursor },
  { title: 'DeliveryList' },
);

export const DeliveryQuery = Type.Object({
  status: Type.Optional(OneOf(DELIVERY_STATUSES)),
  type: Type.Optional(OneOf([...EVENT_TYPES, CLICK_BATCH, TEST_EVENT])),
  limit: Limit(500, 100),
  cursor: Type.Optional(Cursor),
});

export const DeliveryParams = Type.Object({ id: Uuid, delivery_id: Uuid });
