import { type Static, type TSchema, Type } from 'typebox';
import type { ClickRecord } from '../../core/clicks/field-names.ts';
import { FULFILMENT_PROVIDERS } from '../../core/referrals/fulfilment.ts';
import type { EventType, TEST_EVENT } from '../../core/webhooks/event-types.ts';
import type { GrantRecord as Grant } from '../../sql/referrals/grants.ts';
import type { CreditEvent, RecordEvent } from '../../sql/webhooks/outbox.ts';
import { Click } from '../clicks/schemas.ts';
import { DomainStatus } from '../domains/schemas.ts';
import { COMMISSION_FIELDS, CommissionStatus } from '../referrals/commissions/schemas.ts';
import { GrantRecord } from '../referrals/credits/schemas.ts';
import { PayoutStatus, Totals } from '../referrals/payouts/schemas.ts';
import { BlockReason } from '../referrals/schemas.ts';
import { Currency, Email, Instant, Nullable, OneOf, Uuid } from '../schemas.ts';

/** `data` of each event, as the code that writes the event types it. */
type EventData = { 'click.created': ClickRecord } & Record<CreditEvent, Grant> & {
    [Event in Exclude<RecordEvent, { type: CreditEvent }> as Event['type']]: Event['data'];
  };

/** `Schema`, if it describes every field of `Data` and no other. */
type Describes<Schema extends TSchema, Data> =
  Static<Schema> extends Data ? (keyof Data extends keyof Static<Schema> ? Schema : never) : never;

/** Fails to compile when the schema of an event is not that of its data. */
const dataOf =
  <Type extends keyof EventData>() =>
  <Schema extends TSchema>(schema: Schema & Describes<Schema, EventData[Type]>): TSchema =>
    schema;

const LEAD_FIELDS = {
  external_user_id: Type.String({ description: 'The user who signed up.' }),
  email: Nullable(Email),
  visitor_id: Nullable(Uuid),
  partner_id: Type.String({ format: 'uuid', description: 'The referrer.' }),
  program_id: Uuid,
  created_at: Instant,
};
const Lead = Type.Object(LEAD_FIELDS, { title: 'Lead' });
const BlockedLead = Type.Object({ ...LEAD_FIELDS, block_reason: BlockReason }, { title: 'BlockedLead' });

const Sale = Type.Object(
  {
    order_id: Type.String(),
    amount: Type.Number({ description: 'Major units of `currency`.' }),
    currency: Currency,
    external_user_id: Nullable(Type.String({ description: 'The buyer.' })),
    visitor_id: Nullable(Uuid),
    source: OneOf(['pixel', 'server'], {
      title: 'SaleSource',
      description: 'Who reported it. Anyone can send what the pixel sends: do not act on its amount.',
    }),
    created_at: Instant,
  },
  { title: 'Sale' },
);

const DisabledWebhook = Type.Object(
  {
    webhook_id: Uuid,
    url: Type.String({ format: 'uri' }),
    reason: OneOf(['gone', 'failing'], {
      title: 'DisabledReason',
      description: '`gone`: the receiver responded with 410. `failing`: every attempt of five days failed.',
    }),
    disabled_at: Instant,
  },
  { title: 'DisabledWebhook' },
);

const FailedFulfilment = Type.Object(
  {
    fulfilment_id: Uuid,
    delivery_id: Uuid,
    provider: OneOf(FULFILMENT_PROVIDERS),
    credit_id: Type.Integer({ description: 'The credit grant. It is still earned.' }),
    program_id: Uuid,
    partner_id: Uuid,
    external_user_id: Type.String({ description: 'The user who gets the credit.' }),
    credit_kind: Type.String(),
    amount: Type.Number({ description: 'Number of credits.' }),
    attempts: Type.Integer(),
    error: Type.String({ description: 'Why the last attempt failed.' }),
    failed_at: Instant,
  },
  { title: 'FailedFulfilment' },
);

const FailingDomain = Type.Object(
  {
    id: Uuid,
    domain: Type.String(),
    status: DomainStatus,
    problem: Nullable(Type.String({ description: 'What the last check found.' })),
    missing_since: Nullable(Instant),
    created_at: Instant,
  },
  { title: 'FailingDomain' },
);

const Commission = Type.Object(COMMISSION_FIELDS, { title: 'Commission' });
const UpdatedCommission = Type.Object(
  {
    ...COMMISSION_FIELDS,
    previous_status: {
      ...CommissionStatus,
      description: 'The status before. It equals `status` where a refund left a part of the commission.',
    },
  },
  { title: 'UpdatedCommission' },
);

const PAYOUT = {
  id: Type.String({ format: 'uuid', description: 'Also the `export_id`.' }),
  program_id: Nullable(Type.String({ format: 'uuid', description: 'Null: all programs.' })),
  status: PayoutStatus,
  totals: Totals,
  created_at: Instant,
};
const Payout = Type.Object(PAYOUT, { title: 'PayoutEventData' });
const FailedPayout = Type.Object(
  {
    ...PAYOUT,
    partner_id: Type.String({ format: 'uuid', description: 'The referrer of the line.' }),
    amount: Type.Number({ description: 'What is eligible again, in major units of `currency`.' }),
    currency: Currency,
    reason: Type.String(),
  },
  { title: 'FailedPayout' },
);

const EnrollmentChanged = Type.Object(
  { partner_id: Uuid, program_id: Uuid, external_user_id: Type.String(), created_at: Instant },
  { title: 'EnrollmentEventData' },
);

type EventSchema = { title: string; summary: string; description: string; data: TSchema };

/** Every event that a webhook receives. An event type without a schema does not compile. */
export const EVENT_SCHEMAS: Record<EventType | typeof TEST_EVENT, EventSchema> = {
  'click.created': {
    title: 'ClickCreatedEvent',
    summary: 'A click was recorded',
    description: 'Clicks of bots send no event.',
    data: dataOf<'click.created'>()(Click),
  },
  'lead.created': {
    title: 'LeadCreatedEvent',
    summary: 'A signup was matched to a referrer',
    description: 'A blocked signup sends `lead.blocked` instead.',
    data: dataOf<'lead.created'>()(Lead),
  },
  'lead.blocked': {
    title: 'LeadBlockedEvent',
    summary: 'A signup was matched to a referrer and blocked',
    description: 'It earns nothing. Sent also when a review rejects a signup.',
    data: dataOf<'lead.blocked'>()(BlockedLead),
  },
  'sale.created': {
    title: 'SaleCreatedEvent',
    summary: 'An order was recorded',
    description:
      'Sent once per order, whether the pixel, a server or `report-purchase` reports it first. `source` says which.',
    data: dataOf<'sale.created'>()(Sale),
  },
  'sale.updated': {
    title: 'SaleUpdatedEvent',
    summary: "A server's report replaced the pixel's",
    description: 'The order as the server reported it.',
    data: dataOf<'sale.updated'>()(Sale),
  },
  'commission.created': {
    title: 'CommissionCreatedEvent',
    summary: 'A commission was created',
    description:
      'Sent for each level that earns, for a bonus or claw-back, and for the negative commission of a refund.',
    data: dataOf<'commission.created'>()(Commission),
  },
  'commission.updated': {
    title: 'CommissionUpdatedEvent',
    summary: 'A commission changed its status',
    description: 'Also sent when a refund leaves a part of it: then only `remaining` changes.',
    data: dataOf<'commission.updated'>()(UpdatedCommission),
  },
  'credit.earned': {
    title: 'CreditEarnedEvent',
    summary: 'A credit was earned',
    description: 'A blocked signup sends no event.',
    data: dataOf<'credit.earned'>()(GrantRecord),
  },
  'credit.delivered': {
    title: 'CreditDeliveredEvent',
    summary: 'A credit was marked delivered',
    description: 'Sent once per grant.',
    data: dataOf<'credit.delivered'>()(GrantRecord),
  },
  'credit.revoked': {
    title: 'CreditRevokedEvent',
    summary: 'An earned credit was revoked',
    description: 'By a full refund, a correction, or `POST /credits/{id}/revoke`. Blocked signups send none.',
    data: dataOf<'credit.revoked'>()(GrantRecord),
  },
  'fulfilment.failed': {
    title: 'FulfilmentFailedEvent',
    summary: 'A credit could not be delivered',
    description: 'Every attempt failed. `POST /fulfilments/{id}/deliveries/{delivery_id}/retry` tries again.',
    data: dataOf<'fulfilment.failed'>()(FailedFulfilment),
  },
  'payout.created': {
    title: 'PayoutCreatedEvent',
    summary: 'A payout file was created',
    description: 'It changes no balance.',
    data: dataOf<'payout.created'>()(Payout),
  },
  'payout.paid': {
    title: 'PayoutPaidEvent',
    summary: 'Lines of a payout file were marked paid',
    description: 'Sent for each call that pays a line. `status` is `open` while other lines are not paid.',
    data: dataOf<'payout.paid'>()(Payout),
  },
  'payout.failed': {
    title: 'PayoutFailedEvent',
    summary: 'The payment of a line failed',
    description: 'The amount is eligible again.',
    data: dataOf<'payout.failed'>()(FailedPayout),
  },
  'enrollment.created': {
    title: 'EnrollmentCreatedEvent',
    summary: 'A user became a referrer',
    description: 'Sent once per referrer.',
    data: dataOf<'enrollment.created'>()(EnrollmentChanged),
  },
  'enrollment.payout_method_changed': {
    title: 'EnrollmentPayoutMethodChangedEvent',
    summary: 'The payout address of a referrer changed',
    description: 'The address is not in the event. `GET /enrollments/{id}/history` shows it masked.',
    data: dataOf<'enrollment.payout_method_changed'>()(EnrollmentChanged),
  },
  'domain.failing': {
    title: 'DomainFailingEvent',
    summary: 'The record that proves a domain has been missing for three days',
    description: 'Its links redirect as before, until another workspace proves the domain.',
    data: dataOf<'domain.failing'>()(FailingDomain),
  },
  'webhook.disabled': {
    title: 'WebhookDisabledEvent',
    summary: 'A webhook was disabled',
    description: 'Sent to the other webhooks of the workspace.',
    data: dataOf<'webhook.disabled'>()(DisabledWebhook),
  },
  'webhook.test': {
    title: 'WebhookTestEvent',
    summary: 'A test event',
    description: 'Sent by `POST /webhooks/{id}/test` only. Its `data` is empty.',
    data: Type.Object({}, { title: 'WebhookTest' }),
  },
};
