import { type Static, Type } from 'typebox';
import { FULFILMENT_PROVIDERS, GRANT_DELIVERY_STATUSES } from '../../../core/referrals/fulfilment.ts';
import {
  Body,
  Currency,
  CurrencyInput,
  Cursor,
  Instant,
  Limit,
  NextCursor,
  NextNumberCursor,
  Nullable,
  NumberCursor,
  OneOf,
  SecretShown,
  STRIPE_KEY,
  Url,
  Uuid,
} from '../../schemas.ts';
import { RECEIVER_URL_LIMIT } from '../../webhooks/receiver-url.ts';

const Provider = OneOf(FULFILMENT_PROVIDERS, {
  title: 'FulfilmentProvider',
  description:
    "`stripe_balance`: a transaction that adds to the balance of the user's Stripe customer. `webhook`: a signed call.",
});
const Status = OneOf(GRANT_DELIVERY_STATUSES, {
  title: 'CreditDeliveryStatus',
  description:
    '`failed`: every attempt failed. `canceled`: the credit was revoked, or marked delivered, before an attempt.',
});

const SETTINGS = {
  url: Type.Optional(
    Type.String({
      format: 'uri',
      minLength: 1,
      maxLength: RECEIVER_URL_LIMIT,
      description: 'Of `webhook`, required: an `http://` or `https://` URL as of a webhook.',
    }),
  ),
  restricted_key: Type.Optional(
    Type.String({
      pattern: STRIPE_KEY,
      description:
        "Of `stripe_balance`: a restricted key of Stripe that may write Customers. It is not shown again. Without it, the key of the workspace's Stripe connection is used.",
    }),
  ),
  currency: Type.Optional({
    ...CurrencyInput,
    description: "Of `stripe_balance`: ISO 4217 code. By default the program's.",
  }),
  credit_value: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description:
        'Of `stripe_balance`: what one credit is worth, in major units of `currency`. 1 by default.',
    }),
  ),
};
const Settings = Type.Object(SETTINGS, { title: 'FulfilmentSettings', additionalProperties: false });

export const FulfilmentBody = Body(
  {
    provider: Provider,
    program_id: Uuid,
    settings: Settings,
    include_earlier: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Also deliver the credits that are earned, and not delivered, already.',
      }),
    ),
  },
  { title: 'CreateFulfilment' },
);
export type FulfilmentBody = Static<typeof FulfilmentBody>;

export const FulfilmentChange = Body({ settings: Settings }, { title: 'UpdateFulfilment' });
export type SettingsInput = Static<typeof Settings>;

const ShownSettings = Type.Object(
  {
    url: Type.Optional(Url),
    currency: Type.Optional(Currency),
    credit_value: Type.Optional(Type.Number()),
    restricted_key_set: Type.Optional(Type.Boolean()),
  },
  { title: 'FulfilmentSettingsShown', description: 'Those of the provider, without the key.' },
);

const Counts = Type.Object(
  {
    pending: Type.Integer(),
    delivered: Type.Integer(),
    failed: Type.Integer(),
    canceled: Type.Integer(),
  },
  { title: 'CreditDeliveryCounts', description: 'Deliveries by status.' },
);

const FIELDS = {
  id: Uuid,
  provider: Provider,
  program_id: Uuid,
  settings: ShownSettings,
  deliveries: Counts,
  created_at: Instant,
  updated_at: Instant,
};

export const FulfilmentRecord = Type.Object(FIELDS, { title: 'Fulfilment' });
export type FulfilmentRecord = Static<typeof FulfilmentRecord>;

export const FulfilmentWithSecret = Type.Object(
  {
    ...FIELDS,
    secret_shown: SecretShown,
    secret: Type.Optional(
      Type.String({
        pattern: '^whsec_[A-Za-z0-9+/]+=*$',
        description:
          'Of `webhook`: the signing secret, `whsec_` and base64. Shown only in this response; a replay by `Idempotency-Key` lacks it.',
      }),
    ),
  },
  { title: 'FulfilmentWithSecret' },
);

export const FulfilmentList = Type.Object(
  { fulfilments: Type.Array(FulfilmentRecord), next_cursor: NextCursor },
  { title: 'FulfilmentList' },
);

export const FulfilmentQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  limit: Limit(500, 100),
  cursor: Type.Optional(Cursor),
});

export const CreditDelivery = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Of `webhook`: the `webhook-id` header, and `id` of the body.',
    }),
    credit_id: Type.Integer({ description: 'The credit grant.' }),
    external_user_id: Type.String({ description: 'The user who gets the credit.' }),
    credit_kind: Type.String(),
    amount: Type.Number({ description: 'Number of credits.' }),
    status: Status,
    attempts: Type.Integer(),
    reference: Nullable(
      Type.String({ description: 'Of `stripe_balance`: the id of the balance transaction.' }),
    ),
    response_status: Nullable(Type.Integer()),
    response_body: Nullable(Type.String({ description: 'Of the last attempt: the first 4,096 characters.' })),
    error: Nullable(Type.String({ description: 'Why the last attempt failed, or why there is none.' })),
    next_attempt_at: Nullable(Instant),
    created_at: Instant,
    delivered_at: Nullable(Instant),
  },
  { title: 'CreditDelivery' },
);

export const CreditDeliveryList = Type.Object(
  { deliveries: Type.Array(CreditDelivery), next_cursor: NextNumberCursor },
  { title: 'CreditDeliveryList' },
);

export const CreditDeliveryQuery = Type.Object({
  status: Type.Optional(OneOf(GRANT_DELIVERY_STATUSES)),
  limit: Limit(500, 100),
  cursor: Type.Optional(NumberCursor),
});

export const CreditDeliveryParams = Type.Object({ id: Uuid, delivery_id: Uuid });
