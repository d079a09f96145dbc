import { type Static, Type } from 'typebox';
import { CONNECTION_MODES, PROVIDERS } from '../../core/connections/providers.ts';
import { EVENT_STATUSES } from '../../sql/connections/events.ts';
import {
  Body,
  Cursor,
  Instant,
  Limit,
  Name,
  NextCursor,
  NextNumberCursor,
  Nullable,
  NumberCursor,
  OneOf,
  Uuid,
  VisibleText,
} from '../schemas.ts';

const SECRET_LIMIT = 500;

const Provider = OneOf(PROVIDERS, { title: 'BillingProvider' });

export const ConnectionStatus = OneOf(['incomplete', 'waiting', 'active'], {
  title: 'ConnectionStatus',
  description:
    '`incomplete`: no signing secret is set, and events are refused with 503. `waiting`: no event has arrived. `active`: events arrive.',
});
export type ConnectionStatus = Static<typeof ConnectionStatus>;

const Mode = OneOf(CONNECTION_MODES, {
  description: 'Which events count: those of live mode, or those of test mode. The others are ignored.',
});

const SigningSecret = Nullable(
  Type.String({
    minLength: 1,
    maxLength: SECRET_LIMIT,
    description:
      'The secret of the webhook at the provider. It is never returned. Null: none yet; the provider shows it once the address exists.',
  }),
);
const RestrictedKey = Nullable(
  Type.String({
    minLength: 1,
    maxLength: SECRET_LIMIT,
    description:
      "A restricted key of Stripe's API (`rk_live_…`). It is never returned. Null: the API is not called, as that of other providers.",
  }),
);

const Accounts = Type.Array(Name, {
  maxItems: 100,
  uniqueItems: true,
  description:
    'Accounts of Stripe Connect (`acct_...`) whose events count too. Those of other connected accounts are ignored (`connected_account`).',
});

const SettingsInput = Body(
  { mode: Type.Optional(Mode), accounts: Type.Optional(Accounts) },
  { title: 'ConnectionSettingsInput' },
);

export const ConnectionBody = Body(
  {
    provider: OneOf(PROVIDERS),
    signing_secret: Type.Optional(SigningSecret),
    restricted_key: Type.Optional(RestrictedKey),
    settings: Type.Optional(SettingsInput),
  },
  { title: 'CreateConnection' },
);
export type ConnectionBody = Static<typeof ConnectionBody>;

export const ConnectionChange = Body(
  {
    signing_secret: Type.Optional(SigningSecret),
    restricted_key: Type.Optional(RestrictedKey),
    settings: Type.Optional(SettingsInput),
  },
  { title: 'UpdateConnection' },
);
export type ConnectionChange = Static<typeof ConnectionChange>;

export const ConnectionRecord = Type.Object(
  {
    id: Uuid,
    provider: Provider,
    status: ConnectionStatus,
    webhook_url: Type.String({
      format: 'uri',
      description: 'Where the provider sends its events: enter it there as the address of a webhook.',
    }),
    event_types: Type.Array(Type.String(), {
      description: 'The events to select at the provider. Others are ignored.',
    }),
    signing_secret_set: Type.Boolean(),
    restricted_key_set: Type.Boolean(),
    settings: Type.Object({ mode: Mode, accounts: Type.Optional(Accounts) }, { title: 'ConnectionSettings' }),
    last_event_at: Nullable(Instant),
    last_refused_at: Nullable({
      ...Instant,
      description:
        'When a call was last refused for its signature, to the minute. If it is later than `last_event_at`, the signing secret may be wrong. A new signing secret clears it.',
    }),
    created_at: Instant,
  },
  { title: 'Connection' },
);
export type ConnectionRecord = Static<typeof ConnectionRecord>;

export const ConnectionQuery = Type.Object({ limit: Limit(100, 50), cursor: Type.Optional(Cursor) });

export const ConnectionList = Type.Object(
  { connections: Type.Array(ConnectionRecord), next_cursor: NextCursor },
  { title: 'ConnectionList' },
);

const EventStatus = OneOf(EVENT_STATUSES, {
  title: 'ConnectionEventStatus',
  description:
    '`pending`: not processed yet. `recorded`: its purchase, refund or customer is recorded. `unmatched`: it is recorded as far as it is known, and its buyer or purchase is not known. `ignored`: it does not matter. `failed`: it could not be processed; it can be replayed.',
});

const EventReason = Nullable(
  Type.String({
    description:
      'Why. `ignored`: `test_mode`, `live_mode`, `type_not_used`, `says_nothing`, `connected_account` (of Stripe Connect, and not in `settings.accounts`), `nothing_paid`. `unmatched`: `no_buyer` (no one is named), `unknown_buyer` (the named user has no signup), `unknown_code: ` and the ids of discount codes whose texts are not known, `no_purchase` (no event has told of the payment yet), `waits_for_invoice` (the payment may be of an invoice), `refund_in_other_currency` (a refund in a currency that the payment does not tell the amount of). `recorded`: `trial_nothing_paid` (the first invoice of a subscription is 0; the first paid one is the first sale), `also_refunded_by_hand` (a refund that was reported by hand counts too). `failed`: `amount_too_large`, `reported_for_another_user`, `internal_error`, or what can not be read.',
  }),
);

export const ConnectionEvent = Type.Object(
  {
    id: Uuid,
    event_id: Type.String({ description: "The provider's id of the event." }),
    type: Type.String({ description: "The provider's type." }),
    status: EventStatus,
    reason: EventReason,
    order_id: Nullable(Type.String({ description: 'The order that the event tells of.' })),
    received_at: Instant,
  },
  { title: 'ConnectionEvent' },
);

export const EventQuery = Type.Object({
  status: Type.Optional(EventStatus),
  limit: Limit(100, 50),
  cursor: Type.Optional(NumberCursor),
});

export const EventList = Type.Object(
  { events: Type.Array(ConnectionEvent), next_cursor: NextNumberCursor },
  { title: 'ConnectionEventList' },
);

export const EventParams = Type.Object({
  id: Uuid,
  event_id: VisibleText(255, "The provider's id of the event."),
});

export const AssignBody = Body(
  { partner_id: Type.String({ format: 'uuid', description: 'The referrer.' }) },
  { title: 'AssignPurchase' },
);
