// Browsers run this file too.
/** A kind of event that a webhook can subscribe to. */
export type EventKind = {
  /** Its label in the console. */
  readonly label: string;
  /** Title of a message to people. */
  readonly title: string;
  /** A sentence without its period, for the API reference, the guide, and the console. */
  readonly when: string;
  /** Sentences beside it in the API reference. */
  readonly more?: string;
  /** Fields of its data that a message to a chat shows, at most nine. */
  readonly shown: readonly string[];
};

const WHO = ['external_user_id', 'email'];
const LINK = ['short_url', 'destination', 'name', 'channel'];
const REFERRAL = ['program_id', 'partner_id'];
const GRANT = ['external_user_id', 'amount', 'credit_kind', 'program_id'];

/** The events that a webhook can subscribe to. The payload of each is in `api/webhooks/event-schemas.ts`. */
export const EVENTS = {
  'click.created': {
    label: 'Clicks',
    title: 'Click',
    when: "A click that is not a bot's was recorded",
    shown: ['link_id', 'country', 'city', 'channel', 'device', 'browser', 'referer', 'utm_campaign'],
  },
  'link.created': {
    label: 'Links',
    title: 'New link',
    when: 'A link was created, or a deleted one came back',
    more: 'Each link of a bulk call and of an import of links sends one; an import of an archive sends none.',
    shown: LINK,
  },
  'link.updated': {
    label: 'Links changed',
    title: 'Changed link',
    when: 'A field of a link changed',
    more: 'Sent for each link of a campaign that changed. `previous` is the link before the change.',
    shown: LINK,
  },
  'link.deleted': {
    label: 'Links deleted',
    title: 'Deleted link',
    when: 'A link was deleted',
    more: 'The link as it was.',
    shown: LINK,
  },
  'lead.created': {
    label: 'Leads',
    title: 'Lead',
    when: 'A signup was matched to a referrer',
    more: 'A blocked signup sends `lead.blocked` instead.',
    shown: [...WHO, ...REFERRAL],
  },
  'lead.blocked': {
    label: 'Blocked leads',
    title: 'Blocked lead',
    when: 'A signup was matched to a referrer and blocked',
    more: 'It earns nothing. Sent also when a review rejects a signup.',
    shown: [...WHO, 'block_reason', ...REFERRAL],
  },
  'sale.created': {
    label: 'Sales',
    title: 'Sale',
    when: 'An order was reported for the first time',
    more: 'Sent once per order, whether the pixel, a server or `report-purchase` reports it first. `source` says which.',
    shown: ['order_id', 'amount', 'external_user_id', 'source'],
  },
  'sale.updated': {
    label: 'Sales corrected',
    title: 'Corrected sale',
    when: "A server's report of an order replaced the pixel's",
    more: 'The order as the server reported it.',
    shown: ['order_id', 'amount', 'external_user_id', 'source'],
  },
  'commission.created': {
    label: 'Commissions',
    title: 'Commission',
    when: 'A commission was created, also a negative one',
    more: 'Sent for each level that earns, for a bonus or claw-back, and for the negative commission of a refund.',
    shown: ['amount', 'status', 'order_id', ...REFERRAL],
  },
  'commission.updated': {
    label: 'Commissions changed',
    title: 'Changed commission',
    when: 'The status of a commission, or what is left of it, changed',
    more: 'When a refund leaves a part of it, only `remaining` changes.',
    shown: ['amount', 'remaining', 'previous_status', 'status', 'order_id', ...REFERRAL],
  },
  'credit.earned': {
    label: 'Credits earned',
    title: 'Earned credit',
    when: 'A referrer or a new user earned a credit',
    more: 'A blocked signup sends no event.',
    shown: GRANT,
  },
  'credit.delivered': {
    label: 'Credits delivered',
    title: 'Delivered credit',
    when: 'A credit was marked delivered',
    more: 'Sent once per grant.',
    shown: GRANT,
  },
  'credit.revoked': {
    label: 'Credits revoked',
    title: 'Revoked credit',
    when: 'An earned credit was revoked before delivery',
    more: 'By a full refund, a correction, or `POST /credits/{id}/revoke`. Blocked signups send none.',
    shown: [...GRANT, 'revoked_reason'],
  },
  'fulfilment.failed': {
    label: 'Fulfilments failed',
    title: 'Failed fulfilment',
    when: 'A credit could not be delivered: every attempt failed',
    more: '`POST /fulfilments/{id}/deliveries/{delivery_id}/retry` tries again.',
    shown: ['provider', ...GRANT, 'attempts', 'error'],
  },
  'payout.created': {
    label: 'Payout files',
    title: 'Payout file',
    when: 'A payout file was created',
    more: 'It changes no balance.',
    shown: ['id', 'status', 'program_id'],
  },
  'payout.paid': {
    label: 'Payouts paid',
    title: 'Paid payout',
    when: 'Lines of a payout file were marked paid',
    more: 'Sent for each call that pays a line. `status` is `open` while other lines are not paid.',
    shown: ['id', 'status', 'program_id'],
  },
  'payout.failed': {
    label: 'Payouts failed',
    title: 'Failed payout',
    when: 'The payment of a line failed: its amount is eligible again',
    shown: ['id', 'amount', 'partner_id', 'reason'],
  },
  'enrollment.created': {
    label: 'Referrers',
    title: 'New referrer',
    when: 'A user became a referrer',
    more: 'Sent once per referrer.',
    shown: ['external_user_id', ...REFERRAL],
  },
  'enrollment.payout_method_changed': {
    label: 'Payout details changed',
    title: 'Changed payout details',
    when: 'The payout address of a referrer changed',
    more: 'The address is not in the event. `GET /enrollments/{id}/history` shows it masked.',
    shown: ['external_user_id', ...REFERRAL],
  },
  'application.created': {
    label: 'Applications',
    title: 'New application',
    when: 'Somebody applied to a program in its portal',
    more: 'Sent once per application, also where it is approved at once. `GET /applications` has the answers.',
    shown: ['id', 'status', 'program_id'],
  },
  'application.approved': {
    label: 'Applications approved',
    title: 'Approved application',
    when: 'An application to a program was approved',
    more: 'The applicant is a referrer now: `partner_id`.',
    shown: ['id', ...REFERRAL],
  },
  'application.rejected': {
    label: 'Applications rejected',
    title: 'Rejected application',
    when: 'An application to a program was rejected',
    shown: ['id', 'program_id'],
  },
  'domain.failing': {
    label: 'Domains failing',
    title: 'Failing domain',
    when: 'The DNS record that proves a domain has been missing for three days',
    more: 'Its links redirect as before, until another workspace proves the domain.',
    shown: ['domain', 'status', 'problem', 'missing_since'],
  },
  'webhook.disabled': {
    label: 'Webhooks disabled',
    title: 'Disabled webhook',
    when: 'Another webhook was disabled, after failures or by a 410',
    more: 'Sent to the other webhooks of the workspace.',
    shown: ['url', 'reason', 'disabled_at'],
  },
} as const satisfies Record<string, EventKind>;
export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** Returns the table's row of an event. */
export const eventKind = (type: EventType): EventKind => EVENTS[type];

/** The event of `POST /webhooks/:id/test`, which needs no subscription. */
export const TEST_EVENT = 'webhook.test';

/** The event that may occur a thousand times a second; only some of its deliveries are stored. */
export const CLICK_EVENT = 'click.created' satisfies EventType;
