import { CLICK_NAMES, clickField } from '../../core/clicks/field-names.ts';
import type { ErrorCode } from '../../core/errors.ts';

/** Fields of the click in the CSV example that differ from the other examples. */
const CSV_VALUES: Record<string, string> = {
  link_id: '019aabf4-3c00-7000-8000-000000000002',
  visitor_id: '7d0c2f6e-9a51-4c38-8b7e-2f1a90d4c655',
  channel: 'newsletter',
  referer: '',
  utm_source: 'newsletter',
  utm_medium: 'email',
  utm_campaign: 'Autumn sale',
  referer_host: '',
};
const CSV_EXAMPLE = `${['id', 'ts', ...CLICK_NAMES].join()}
${[
  '019aabf4-3c00-7000-8000-000000000001',
  '2026-11-20T10:00:00.123456Z',
  ...CLICK_NAMES.map((name) => CSV_VALUES[name] ?? clickField(name).example),
].join()}
`;

const AUTUMN = {
  destination_url: 'https://shop.example/autumn',
  name: 'Autumn sale',
  channel: 'newsletter',
};

/** Request bodies by operation id, for bodies whose required fields alone show too little. */
export const REQUEST_EXAMPLES: Record<string, unknown> = {
  'clicks.import': `ts,short_url,country,referer,user_agent,count
2025-03-01T10:00:00Z,https://go.example.com/autumn-sale,DE,https://t.co/x,Mozilla/5.0,1
`,
  'bioPages.uploadPicture': '(the bytes of a picture)',
  'assets.uploadPicture': '(the bytes of a picture)',
  'analytics.query': {
    metrics: ['clicks', 'visitors', 'leads', 'conversions', 'revenue'],
    dimensions: ['utm_campaign'],
    filters: [
      { dimension: 'country', operator: 'is', values: ['DE', 'AT'] },
      { dimension: 'tag', operator: 'is_not', values: ['internal'] },
    ],
    window: { days: 30 },
    compare: 'previous',
    time_zone: 'Europe/Berlin',
  },
  'keys.create': { kind: 'secret', label: 'checkout server' },
  'workspace.update': { identity_verification: 'required', payout_hold_days: 7 },
  'links.create': { ...AUTUMN, external_id: 'post-481', tags: ['autumn'] },
  'links.createBulk': { links: [AUTUMN, { ...AUTUMN, name: 'Winter sale', channel: 'x' }] },
  'links.update': { name: 'Autumn sale 2026', expires_at: '2026-12-31T23:59:59Z', max_clicks: 500 },
  'links.updateBulk': {
    ids: ['019aabf4-3c00-7000-8000-000000000001'],
    set: { archived: true, tags: ['autumn'] },
  },
  'domains.create': { domain: 'go.shop.example', root_url: 'https://shop.example/' },
  'domains.update': { is_default: true, not_found_url: 'https://shop.example/not-found' },
  'folders.update': { name: 'Autumn 2026' },
  'track.identify': { visitor_id: '7d0c2f6e-9a51-4c38-8b7e-2f1a90d4c655', email: 'ada@shop.example' },
  'track.order': {
    order_id: 'order_1001',
    amount: 49.9,
    currency: 'usd',
    visitor_id: '7d0c2f6e-9a51-4c38-8b7e-2f1a90d4c655',
  },
  'programs.create': {
    name: 'Friends of the shop',
    destination_url: 'https://shop.example/welcome',
    commission_type: 'percent',
    commission_rate: 20,
  },
  'programs.update': { commission_rate: 25, hold_days: 14 },
  'programs.publishTerms': { text: 'Do not bid on our name.', version: '2026-11' },
  'applications.approve': { external_user_id: 'user_42' },
  'assets.create': {
    program_id: '019aabf4-3c00-7000-8000-000000000001',
    type: 'text',
    name: 'Post for Instagram',
    text: 'Ten percent off your first order with my link.',
  },
  'partnerGroups.create': {
    program_id: '019aabf4-3c00-7000-8000-000000000001',
    name: 'Newsletters',
    commission_rate: 30,
    hold_days: 14,
  },
  'partnerGroups.update': { commission_rate: 35 },
  'messages.send': {
    group_id: '019aabf4-3c00-7000-8000-00000000000d',
    subject: 'Higher commission in December',
    text: 'Hello {name|there},\n\nuntil the end of the year you earn {rate} of each sale: {link}',
  },
  'messages.preview': {
    program_id: '019aabf4-3c00-7000-8000-000000000001',
    subject: 'Higher commission in December',
    text: 'Hello {name|there},\n\nuntil the end of the year you earn {rate} of each sale: {link}',
  },
  'portal.apply': {
    code: 'friends',
    email: 'grace@shop.example',
    name: 'Grace Example',
    answers: { site: 'https://grace.example' },
    terms_version: '2026-11',
    language: 'en',
    challenge: 'tq4f3k.c2hvcnQgdGV4dA.5f3c9a0b1c2d3e4f',
    nonce: '1a2b',
  },
  'referrals.reportSignup': {
    new_user_external_user_id: 'user_77',
    email: 'grace@shop.example',
    ref_code: 'ada',
  },
  'referrals.reportPurchase': {
    external_user_id: 'user_77',
    order_id: 'order_1001',
    amount: 49.9,
    currency: 'usd',
  },
  'referrals.reportRefund': { refund_id: 'refund_1001', order_id: 'order_1001', amount: 10 },
  'enrollments.update': { status: 'suspended' },
  'fulfilments.create': {
    provider: 'webhook',
    program_id: '019aabf4-3c00-7000-8000-000000000005',
    settings: { url: 'https://shop.example/credits' },
    include_earlier: true,
  },
  'fulfilments.update': { settings: { url: 'https://shop.example/new-credits' } },
  'webhooks.update': { events: ['sale.created', 'commission.created'], is_active: true },
  'bioPages.create': {
    slug: 'example-shop',
    title: 'Example shop',
    links: [{ id: 'shop', label: 'Visit the shop', url: 'https://shop.example/autumn' }],
    social_links: [{ platform: 'instagram', url: 'https://instagram.com/example' }],
    theme: { buttonStyle: 'outline' },
  },
  'bioPages.update': { title: 'Example shop Berlin', is_published: true },
  'bioPages.preview': {
    title: 'Example shop',
    links: [{ label: 'Visit the shop', url: 'https://shop.example/autumn' }],
  },
  'savedViews.create': {
    name: 'Germany, last 30 days',
    query: {
      metrics: ['clicks', 'conversions'],
      dimensions: ['channel'],
      filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }],
      window: { days: 30 },
    },
  },
  'reports.create': {
    name: 'Germany, each Monday',
    saved_view_id: '019aabf4-3c00-7000-8000-00000000000c',
    schedule: { every: 'week', weekday: 1, hour: 8, time_zone: 'Europe/Berlin' },
    recipients: [
      { type: 'email', address: 'grace@shop.example' },
      { type: 'slack', address: 'https://hooks.slack.com/services/T000/B000/XXXX' },
    ],
  },
  'reports.update': { schedule: { every: 'month', day: 1, hour: 8 }, is_active: true },
  'alerts.create': {
    name: 'Clicks changed',
    saved_view_id: '019aabf4-3c00-7000-8000-00000000000c',
    condition: { metric: 'clicks', type: 'change', percent: 50, window_hours: 3 },
    recipients: [{ type: 'email', address: 'grace@shop.example' }],
  },
  'alerts.update': { condition: { metric: 'conversions', type: 'none', window_hours: 24 } },
  'utmTemplates.create': { name: 'Newsletter', utm_source: 'newsletter', utm_medium: 'email' },
  'annotations.create': { at: '2026-11-20T09:30:00Z', text: 'Version 2 released' },
  'sharedDashboards.create': { name: 'Autumn sale', scope: { type: 'tag', values: ['autumn'] } },
  'sharedDashboards.update': { show_revenue: true, expires_at: '2026-12-31T23:59:59Z' },
  'members.invite': { email: 'grace@shop.example', role: 'analyst' },
  'invitations.accept': {
    token: '5f3c9a',
    email: 'grace@shop.example',
    password: 'correct horse battery staple',
  },
};

/** Responses by operation id and media type, for responses without a sufficient schema. */
export const RESPONSE_EXAMPLES: Record<string, Record<string, unknown>> = {
  'clicks.export': {
    'text/csv': CSV_EXAMPLE,
    'application/x-ndjson':
      '{"id":"019aabf4-3c00-7000-8000-000000000001","ts":"2026-11-20T10:00:00.123456Z","channel":"newsletter"}\n',
    'application/vnd.apache.parquet': 'PAR1…',
  },
  'audit.list': {
    'application/x-ndjson':
      '{"id":"019aabf4-3c00-7000-8000-000000000001","at":"2026-11-20T10:00:00.123456Z","action":"key.created"}\n',
  },
  'clicks.stream': {
    'text/event-stream':
      'retry: 1000\nid: 2026-11-20T10:00:00.000000000Z\n\nevent: click\nid: 2026-11-20T10:00:00.123456001Z\ndata: {"id":"019aabf4-3c00-7000-8000-000000000001","channel":"newsletter"}\n\n',
  },
  'webhooks.listen': {
    'text/event-stream':
      'retry: 1000\nid: 019aabf4-3c00-7000-8000-000000000001.0\nevent: ready\ndata: {"listener_id":"019aabf4-3c00-7000-8000-000000000001","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw","events":["sale.created"]}\n\n',
  },
  'enrollments.list': {
    'text/csv':
      'partner_id,name,email,clicks,signups,currency,revenue\r\n019aabf4-3c00-7000-8000-000000000006,Ada Lovelace,ada@example.com,120,9,usd,920\r\n',
  },
  'commissions.list': {
    'text/csv':
      'id,created_at,referrer_name,amount,currency,status\r\n019aabf4-3c00-7000-8000-000000000007,2026-11-20T10:00:00.123Z,Ada Lovelace,9.8,usd,pending\r\n',
  },
  'signups.list': {
    'text/csv':
      'id,external_user_id,email,status,referrer_name,lifetime_value\r\n019aabf4-3c00-7000-8000-000000000001,user_77,grace@example.com,matched,Ada Lovelace,70 usd\r\n',
  },
  'payouts.export': {
    'text/csv':
      'partner_id,external_user_id,name,method,email,amount,currency\n019aabf4-3c00-7000-8000-000000000006,user_42,Ada Example,paypal,ada@shop.example,120.5,usd\n',
  },
  'links.getQr': {
    'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512"/>',
    'image/png': 'PNG…',
  },
  'links.getDestinationIcon': { 'image/png': 'PNG…', 'image/gif': 'GIF89a…', 'image/x-icon': 'ICO…' },
  'bioPages.preview': { 'text/html': '<!doctype html><title>Example shop</title>' },
  'session.getPasskeyOptions': {
    'application/json': { challenge: 'ZnJlc2gtY2hhbGxlbmdl', rpId: 'app.hop.example', timeout: 300_000 },
  },
  'passkeys.getOptions': {
    'application/json': { challenge: 'ZnJlc2gtY2hhbGxlbmdl', rp: { id: 'app.hop.example', name: 'Hoplog' } },
  },
  'invitations.getPasskeyOptions': {
    'application/json': { challenge: 'ZnJlc2gtY2hhbGxlbmdl', rp: { id: 'app.hop.example', name: 'Hoplog' } },
  },
};

/** A message of each error code. */
export const ERROR_MESSAGES: Record<ErrorCode, string> = {
  bad_request: '`limit` must be an integer from 1 to 500',
  method_not_offered: 'the program offers paypal',
  unauthorized: 'unknown key',
  payment_required: 'this endpoint requires an active paid plan',
  limit_reached: 'the plan has a cap of 25 links',
  forbidden: 'this endpoint requires a secret key',
  not_found: 'the workspace has no such link',
  method_not_allowed: 'PUT is not supported at this path',
  request_timeout: 'the request did not arrive in time',
  conflict: 'the slug "autumn" is taken',
  idempotency_in_progress: 'the first request with this Idempotency-Key is still running',
  payload_too_large: '`body` must be at most 1 MiB',
  unsupported_media_type: 'send JSON with content-type: application/json',
  idempotency_key_reused: 'this Idempotency-Key was used with a different request in the last 24 hours',
  too_many_requests: 'too many failed sign-ins, try again in 60 seconds',
  internal: 'something went wrong on our side',
  unavailable: 'PostgreSQL is unavailable, try again',
};
