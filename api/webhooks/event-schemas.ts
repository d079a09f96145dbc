import { type Static, type TSchema, Type } from 'typebox';
import type { ClickRecord } from '../../core/clicks/field-names.ts';
import { FULFILMENT_PROVIDERS } from '../../core/referrals/fulfilment.ts';
import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import {
  EVENT_TYPES,
  type EventKind,
  type EventType,
  eventKind,
  TEST_EVENT,
} from '../../core/webhooks/event-types.ts';
import type { GrantRecord as Grant } from '../../sql/referrals/grants.ts';
import type { CreditEvent, RecordEvent } from '../../sql/webhooks/outbox.ts';
import { ApplicationStatus } from '../applications/schemas.ts';
import { Click } from '../clicks/schemas.ts';
import { DomainStatus } from '../domains/schemas.ts';
import { LinkRecord } from '../links/schemas.ts';
import { COMMISSION_FIELDS, CommissionStatus } from '../referrals/commissions/schemas.ts';
import { GrantRecord } from '../referrals/credits/schemas.ts';
import { PayoutStatus, Totals } from '../referrals/payouts/schemas.ts';
import { BlockReason } from '../referrals/schemas.ts';
import { Currency, Email, Instant, Nullable, OneOf, Uuid } from '../schemas.ts';

/** `data` of each event, in the type of the code that writes it. */
type EventData = { 'click.created': ClickRecord } & Record<'link.created' | 'link.deleted', LinkRecord> & {
    'link.updated': LinkRecord & { previous: LinkRecord };
  } & Record<CreditEvent, Grant> & {
    [Event in Exclude<RecordEvent, { type: CreditEvent }> as Event['type']]: Event['data'];
  };

/** Whether a schema describes every field of `Data` and no other. */
type Describes<Schema extends TSchema, Data> =
  Static<Schema> extends Data ? (keyof Data extends keyof Static<Schema> ? true : false) : false;

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

const Application = Type.Object(
  {
    id: Uuid,
    program_id: Uuid,
    status: ApplicationStatus,
    partner_id: Nullable(Type.String({ format: 'uuid', description: 'The referrer. Null: not approved.' })),
    created_at: Instant,
  },
  { title: 'ApplicationEventData' },
);

const UpdatedLink = Type.Object(
  { ...LinkRecord.properties, previous: LinkRecord },
  { title: 'UpdatedLink', description: 'The link, and `previous`: the link before the change.' },
);

/** `data` of each event. */
const PAYLOADS = {
  'click.created': Click,
  'link.created': LinkRecord,
  'link.updated': UpdatedLink,
  'link.deleted': LinkRecord,
  'lead.created': Lead,
  'lead.blocked': BlockedLead,
  'sale.created': Sale,
  'sale.updated': Sale,
  'commission.created': Commission,
  'commission.updated': UpdatedCommission,
  'credit.earned': GrantRecord,
  'credit.delivered': GrantRecord,
  'credit.revoked': GrantRecord,
  'fulfilment.failed': FailedFulfilment,
  'payout.created': Payout,
  'payout.paid': Payout,
  'payout.failed': FailedPayout,
  'enrollment.created': EnrollmentChanged,
  'enrollment.payout_method_changed': EnrollmentChanged,
  'application.created': Application,
  'application.approved': Application,
  'application.rejected': Application,
  'domain.failing': FailingDomain,
  'webhook.disabled': DisabledWebhook,
} satisfies Record<EventType, TSchema>;

/** Events whose schema does not match their data. */
type Wrong = {
  [E in EventType]: Describes<(typeof PAYLOADS)[E], EventData[E]> extends true ? never : E;
}[EventType];
true satisfies [Wrong] extends [never] ? true : Wrong;

/** An event as the API reference shows it. */
export type EventSchema = Pick<EventKind, 'when' | 'more'> & { type: string; data: TSchema };

/** Every event that a webhook receives. */
export const EVENT_SCHEMAS: EventSchema[] = [
  ...EVENT_TYPES.map((type) => ({ ...eventKind(type), type, data: PAYLOADS[type] })),
  {
    type: CLICK_BATCH,
    when: 'Clicks that a webhook with `batch` gets together',
    more: 'In place of `click.created`. `id` is that of the batch; each click has an `id` of its own.',
    data: Type.Array(Click),
  },
  {
    type: TEST_EVENT,
    when: 'A test event',
    more: 'Sent by `POST /webhooks/{id}/test` only. Its `data` is empty.',
    data: Type.Object({}, { title: 'WebhookTest' }),
  },
];

/** Returns the names of the fields of an event's data. Empty for an unknown type. */
export function dataFields(type: string): string[] {
  const { data } = EVENT_SCHEMAS.find((one) => one.type === type) ?? {};
  return Object.keys((data as { properties?: object } | undefined)?.properties ?? {});
}
