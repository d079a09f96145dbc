/** The bodies of `all-faults.test.ts`. */

export type Body = Record<string, unknown>;

/** A route whose body can be wrong in ways that its schema does not express. */
export type Case = {
  /** As `POST /links`. */
  route: string;
  /** A body that the schema accepts, and that has no fault beyond it. */
  body: Body;
  /** Faults beyond the schema: the path that the response names, and the fields that cause it. */
  faults: Record<string, Body>;
  /** By path: fields whose faults hide it, because its meaning depends on them. */
  prevents?: Record<string, readonly string[]>;
  /** The handler first looks for what the path names, so that a body without a fault of the schema is a 404 here. */
  isStored?: true;
};

const ID = '019a0000-0000-7000-8000-00000000000b';
const PAST = '2020-01-01T00:00:00Z';
const AHEAD = '2099-01-01T00:00:00Z';
const AWAY = 'https://other.example/';

const QUERY = {
  metrics: ['clicks'],
  dimensions: ['country'],
  window: { days: 7 },
  filters: [],
  order_by: [],
};
const QUERY_FAULTS = {
  'metrics.1': { metrics: ['clicks', 'clicks'] },
  'dimensions.1': { dimensions: ['country', 'country'] },
  'window.from': { window: { from: AHEAD, to: PAST } },
  time_zone: { time_zone: 'Mars/Olympus' },
  'filters.0.values.0': { filters: [{ dimension: 'country', operator: 'is', values: ['Atlantis'] }] },
  'order_by.0.by': { order_by: [{ by: 'visitors', direction: 'asc' }] },
};
const VIEW_FAULTS = {
  ...Object.fromEntries(Object.keys(QUERY_FAULTS).map((path) => [`query.${path}`, {}])),
  [`query.${Object.keys(QUERY_FAULTS)[0]}`]: {
    query: Object.assign({}, QUERY, ...Object.values(QUERY_FAULTS)),
  },
};
const RECIPIENTS = [{ type: 'slack', address: 'https://hooks.shop.example/a' }];
const RECIPIENT_FAULTS = {
  'recipients.0.address': {
    recipients: [
      { type: 'slack', address: 'not a url' },
      { type: 'slack', address: 'ftp://shop.example/' },
    ],
  },
  'recipients.1.address': {},
};

const LINK = {
  slug: 'faults',
  max_clicks: 5,
  metadata: {},
  tags: ['a'],
  expires_at: AHEAD,
  archived: false,
};
const LINK_FAULTS = {
  slug: { slug: 'api' },
  destination_url: { destination_url: 'shop example/tea' },
  metadata: { metadata: { text: 'x'.repeat(20_000) } },
  'targeting.mobile': { targeting: { mobile: 'x', desktop: 'y' } },
  'targeting.desktop': { targeting: { mobile: 'x', desktop: 'y' } },
  ...{ 'rules.0.conditions.0.type': ruleFaults(), 'rules.0.destination_url': ruleFaults() },
  'rules.1.conditions.0.values.0': ruleFaults(),
  'rules.1.destination_url': ruleFaults(),
  ...{ 'split.0.weight': splitFaults(), 'split.0.destination_url': splitFaults() },
  'split.1.destination_url': splitFaults(),
  expired_redirect_url: { expired_redirect_url: 'y' },
  'retargeting.facebook': { retargeting: { facebook: 'x' } },
  'preview.image_url': { preview: { image_url: 'http://shop.example/a.png', image_width: 5 } },
  'preview.image_height': { preview: { image_url: 'http://shop.example/a.png', image_width: 5 } },
};

function ruleFaults(): Body {
  return {
    rules: [
      { conditions: [{ type: 'planet', operator: 'is', values: ['Mars'] }], destination_url: 'x' },
      {
        conditions: [{ type: 'country', operator: 'is', values: ['Atlantis'] }],
        destination_url: 'javascript:1',
      },
    ],
  };
}

function splitFaults(): Body {
  return {
    split: [
      { destination_url: 'x', weight: 1.5 },
      { destination_url: 'y', weight: 50 },
    ],
  };
}

const DOMAIN = { assetlinks: [], expired_url: AWAY };
const DOMAIN_FAULTS = {
  root_url: { root_url: 'x' },
  not_found_url: { not_found_url: 'ftp://shop.example/' },
  assetlinks: { assetlinks: ['x'.repeat(200_000)] },
};

const PROGRAM_FAULTS = {
  destination_url: { destination_url: 'x' },
  code: { code: 'api' },
  'signup_credit.free': { signup_credit: { free: 0.001, paid: 1 } },
  'link_parameters.0': { link_parameters: ['_vid'] },
  'portal.fields.0.name': {
    portal: { fields: [{ name: 'email', label: 'Mail', required: true }], terms_url: 'http://shop.example/' },
  },
  'portal.terms_url': {},
};

const SALE_FAULTS = {
  amount: { amount: 0.001 },
  email: { email: 'nobody' },
};

/** Cases by route; a fault that shares its fields with another has an empty change. */
const MESSAGE = { program_id: ID, subject: 'News', text: 'Hello' };
const MESSAGE_FAULTS = {
  subject: { subject: 'For {nmae}' },
  text: { text: '{Link}' },
  group_id: { group_id: ID },
};

export const CASES: readonly Case[] = [
  { route: 'POST /messages', body: MESSAGE, faults: MESSAGE_FAULTS },
  { route: 'POST /messages/preview', body: MESSAGE, faults: MESSAGE_FAULTS },
  {
    route: 'PATCH /workspace',
    body: { name: 'Shop', payout_hold_days: 3 },
    faults: {
      primary_domain: { primary_domain: 'no domain' },
      'allowed_origins.0': { allowed_origins: ['x', 'https://shop.example', 'y'] },
      'allowed_origins.2': { allowed_origins: ['x', 'https://shop.example', 'y'] },
      currency: { currency: 'xyz' },
      time_zone: { time_zone: 'Mars/Olympus' },
      logo: { logo: 'data:image/png;base64,AAAA' },
    },
  },
  {
    route: 'POST /keys',
    body: { kind: 'publishable', label: 'a' },
    faults: {
      manage: { manage: true },
      scopes: { scopes: ['read'] },
      expires_at: { expires_at: AHEAD },
    },
    prevents: { manage: ['kind'], scopes: ['kind'], expires_at: ['kind'] },
  },
  {
    route: 'POST /links',
    body: { ...LINK, destination_url: 'https://shop.example/', name: 'N', channel: 'other' },
    faults: {
      ...LINK_FAULTS,
      channel: { channel: 'fax' },
      split_goal: { split_ends_at: AHEAD, split: splitFaults().split },
      starts_at: { starts_at: '2100-01-01T00:00:00Z' },
    },
    prevents: { starts_at: ['expires_at'] },
  },
  {
    route: 'PATCH /links/{id}',
    body: LINK,
    faults: LINK_FAULTS,
  },
  { route: 'PATCH /links/bulk', body: { ids: [ID], set: LINK }, faults: within('set', LINK, LINK_FAULTS) },
  {
    route: 'PATCH /links/{id}/qr/style',
    body: { shape: 'square', frame: 'none' },
    faults: {
      color: { color: 'red' },
      background: { background: 'blue' },
      frame_text: { frame_text: '\u4e00' },
      logo: { logo: 'x' },
    },
  },
  {
    route: 'POST /domains',
    body: { ...DOMAIN, domain: 'go.faults.example' },
    faults: { ...DOMAIN_FAULTS, domain: { domain: 'localhost' } },
  },
  {
    route: 'PATCH /domains/{id}',
    body: { ...DOMAIN, is_default: false },
    faults: DOMAIN_FAULTS,
    isStored: true,
  },
  {
    route: 'POST /utm-templates',
    body: { name: 'T' },
    faults: { utm_source: { utm_source: null } },
  },
  {
    route: 'POST /analytics/query',
    body: { ...QUERY, bots: 'exclude' },
    faults: QUERY_FAULTS,
    prevents: { 'order_by.0.by': ['metrics', 'dimensions'] },
  },
  { route: 'POST /saved-views', body: { name: 'V', query: QUERY }, faults: VIEW_FAULTS },
  {
    route: 'POST /shared-dashboards',
    body: { name: 'D', show_revenue: false },
    faults: {
      'scope.values': { scope: { type: 'workspace', values: ['a'] } },
      expires_at: { expires_at: PAST },
      embed: { embed: true, password: 'secret' },
    },
  },
  {
    route: 'PATCH /shared-dashboards/{id}',
    body: { name: 'D', show_revenue: false },
    faults: {
      'scope.values': { scope: { type: 'folder', values: ['a'] } },
      expires_at: { expires_at: PAST },
      embed: { embed: true, password: 'secret' },
    },
  },
  {
    route: 'POST /reports',
    body: {
      name: 'R',
      query: QUERY,
      schedule: { every: 'day', hour: 8 },
      recipients: RECIPIENTS,
      is_active: true,
    },
    faults: {
      ...VIEW_FAULTS,
      ...RECIPIENT_FAULTS,
      'schedule.weekday': { schedule: { every: 'day', weekday: 1, day: 2, hour: 8, time_zone: 'x' } },
      'schedule.day': {},
      'schedule.time_zone': {},
    },
  },
  {
    route: 'PATCH /reports/{id}',
    body: { name: 'R', is_active: true },
    faults: {
      ...VIEW_FAULTS,
      ...RECIPIENT_FAULTS,
      'schedule.time_zone': { schedule: { every: 'day', hour: 8, time_zone: 'x' } },
    },
  },
  {
    route: 'POST /alerts',
    body: {
      name: 'A',
      query: QUERY,
      condition: { metric: 'clicks', type: 'over', value: 5, window_hours: 24 },
      recipients: RECIPIENTS,
      quiet_hours: 12,
    },
    faults: {
      ...VIEW_FAULTS,
      ...RECIPIENT_FAULTS,
      'condition.value': { condition: { metric: 'clicks', type: 'over', percent: 50, window_hours: 24 } },
      'condition.percent': {},
    },
  },
  {
    route: 'PATCH /alerts/{id}',
    body: { name: 'A', quiet_hours: 12 },
    faults: {
      ...VIEW_FAULTS,
      ...RECIPIENT_FAULTS,
      'condition.value': { condition: { metric: 'clicks', type: 'over', percent: 50, window_hours: 24 } },
      'condition.percent': {},
    },
  },
  {
    route: 'POST /track/identify',
    body: { external_user_id: 'u' },
    faults: {
      email: { email: 'nobody' },
      _vid: { visitor_id: ID, _vid: '019a0000-0000-7000-8000-00000000000c' },
    },
  },
  {
    route: 'POST /track/order',
    body: { order_id: 'o', amount: 5, external_user_id: 'u', is_renewal: false },
    faults: {
      currency: { currency: 'xyz' },
      email: { email: 'nobody' },
      _vid: { visitor_id: ID, _vid: '019a0000-0000-7000-8000-00000000000c' },
    },
  },
  {
    route: 'POST /programs',
    body: { name: 'P', destination_url: 'https://shop.example/', hold_days: 3, credit_enabled: false },
    faults: {
      ...PROGRAM_FAULTS,
      commission_rate: { commission_rate: 500 },
      'levels.0': { levels: [500] },
      min_payout: { min_payout: 0.001 },
      'portal.terms_version': {},
    },
  },
  {
    route: 'PATCH /programs/{id}',
    body: { name: 'P', hold_days: 3, credit_enabled: false },
    isStored: true,
    faults: PROGRAM_FAULTS,
  },
  {
    route: 'POST /programs/{id}/terms',
    body: { version: '2' },
    faults: { url: { url: 'http://shop.example/', text: 'Terms' }, text: {} },
  },
  {
    route: 'POST /referrals/enroll',
    body: { external_user_id: 'u', tier: 'free', name: 'N' },
    faults: { email: { email: 'nobody' } },
  },
  {
    route: 'POST /referrals/report-signup',
    body: { new_user_external_user_id: 'u', ref_code: 'r' },
    faults: {
      email: { email: 'nobody' },
      _vid: { visitor_id: ID, _vid: '019a0000-0000-7000-8000-00000000000c' },
    },
  },
  {
    route: 'POST /referrals/report-purchase',
    body: { external_user_id: 'u', order_id: 'o', amount: 5, is_renewal: false },
    faults: { ...SALE_FAULTS, purchased_at: { purchased_at: AHEAD } },
  },
  {
    route: 'POST /referrals/payout-method',
    body: { external_user_id: 'u', method: 'paypal' },
    faults: { email: { email: 'nobody' } },
  },
  {
    route: 'PATCH /enrollments/{id}',
    body: { status: 'approved', commission_type: 'percent' },
    isStored: true,
    faults: {
      email: { email: 'nobody' },
      payout_name: { payout_name: '1' },
      'payout_method.email': { payout_method: { method: 'paypal', email: 'nobody' } },
    },
  },
  {
    route: 'POST /coupons',
    body: { code: 'c', external_user_id: 'u' },
    faults: {
      code: { code: 'no stripe', promotion_code: { currency: 'usd', duration: 'repeating' } },
      'promotion_code.percent_off': {},
      'promotion_code.currency': {},
      'promotion_code.duration_in_months': {},
    },
  },
  {
    route: 'POST /coupons/{id}/promotion-code',
    body: { connection_id: ID },
    faults: { percent_off: { currency: 'usd', duration: 'repeating' }, currency: {}, duration_in_months: {} },
  },
  {
    route: 'POST /assets',
    body: { program_id: ID, name: 'A' },
    faults: { text: { type: 'link', text: 'x', url: 'x' }, url: {} },
  },
  {
    route: 'POST /fulfilments',
    body: { program_id: ID, include_earlier: false },
    faults: {
      'settings.url': { provider: 'webhook', settings: { url: 'x', currency: 'xyz' } },
      'settings.currency': {},
    },
  },
  {
    route: 'POST /commissions',
    body: { external_user_id: 'u', note: 'n' },
    faults: { amount: { amount: 0 } },
  },
  {
    route: 'POST /connections',
    body: { settings: { mode: 'live' } },
    faults: {
      signing_secret: { provider: 'stripe', signing_secret: 'x', restricted_key: 'y' },
      restricted_key: {},
    },
  },
  {
    route: 'POST /bio-pages',
    body: { title: 'T', is_published: true },
    faults: {
      slug: { slug: 'api' },
      avatar_url: { avatar_url: 'x' },
      'links.0.url': {
        links: [
          { label: 'a', url: 'x' },
          { label: 'b', url: 'ftp://shop.example/' },
        ],
      },
      'links.1.url': {},
    },
  },
  {
    route: 'PATCH /bio-pages/{id}',
    body: { title: 'T', is_published: true },
    faults: { avatar_url: { avatar_url: 'x' }, 'links.0.url': { links: [{ label: 'a', url: 'x' }] } },
  },
  {
    route: 'POST /webhooks',
    body: { events: ['link.created'], description: 'd', is_active: true },
    faults: {
      url: { url: 'x' },
      batch: { batch: { max: 10, seconds: 5 } },
    },
    prevents: { batch: ['events'] },
  },
  {
    route: 'PATCH /webhooks/{id}',
    body: { events: ['link.created'], description: 'd' },
    faults: { url: { url: 'ftp://shop.example/' }, batch: { batch: { max: 10, seconds: 5 } } },
    prevents: { batch: ['events'] },
  },
  {
    route: 'POST /webhooks/trigger',
    body: { type: 'link.created' },
    faults: { 'data.visitor_id': { data: { visitor_id: 'x', order_id: 5 } }, 'data.order_id': {} },
  },
  {
    route: 'POST /members/invites',
    body: { role: 'operator' },
    faults: { email: { email: 'nobody' }, mail: { mail: true } },
  },
  {
    route: 'POST /shared/{token}/query',
    body: { ...QUERY, bots: 'exclude' },
    faults: QUERY_FAULTS,
    prevents: { 'order_by.0.by': ['metrics', 'dimensions'] },
    isStored: true,
  },
];

/** Routes whose bodies have one field, or no fault beyond the schema that does not depend on what is stored. */
export const SCHEMA_ALONE: Readonly<Record<string, Body>> = {
  'DELETE /links/bulk': { ids: [ID] },
  'PATCH /connections/{id}': { signing_secret: 'x', restricted_key: 'y', settings: {} },
  'PATCH /fulfilments/{id}': { settings: {} },
  'PATCH /partner-groups/{id}': { name: 'G', hold_days: 3, commission_rate: 5 },
  'POST /partner-groups': { program_id: ID, name: 'G', hold_days: 3, commission_rate: 5 },
  'PATCH /folders/{id}': { name: 'F' },
  'PATCH /members/{id}': { role: 'owner' },
  'POST /annotations': { at: AHEAD, text: 'x' },
  'POST /applications/{id}/approve': { external_user_id: 'u' },
  'POST /bio-pages/preview': { slug: 'a', title: 'T', links: [], theme: {} },
  'POST /connections/{id}/events/{event_id}/assign': { partner_id: ID },
  'POST /credits/{id}/revoke': { reason: 'r' },
  'POST /folders': { name: 'F' },
  // Its rows are refused one by one; `api/plugins/faults.test.ts` has them.
  'POST /links/bulk': { links: [] },
  'POST /links/import': { text: 'x', from: 'bitly', channel: 'other', dry_run: true },
  'POST /links/{id}/comments': { text: 'x' },
  'POST /payouts': { export_id: ID, partner_ids: [ID] },
  'POST /payouts/{id}/lines/{partner_id}/fail': { reason: 'r' },
  'POST /pixel/tests': { url: 'https://shop.example/' },
  'POST /referrals/import': { from: 'rewardful', files: [], dry_run: true },
  'POST /referrals/report-refund': { refund_id: 'r', order_id: 'o', amount: 5 },
  'POST /referrals/reward-mode': { external_user_id: 'u', mode: 'affiliate' },
};

/** Routes that need a session, a sign-in of the last minutes, or a partner's key; their bodies are short. */
export const OF_SESSIONS =
  /^(?:POST \/(?:session|portal|passkeys|two-factor|shared\/\{token\}\/unlock|partner\/workspaces|enrollments\/\{id\}\/confirm-payout-method)\b|PATCH \/first-steps)/;

/** Returns faults of a body in a field of another body. */
function within(field: string, body: Body, faults: Record<string, Body>): Record<string, Body> {
  const all: Body = Object.assign({}, body, ...Object.values(faults));
  return Object.fromEntries(Object.keys(faults).map((path) => [`${field}.${path}`, { [field]: all }]));
}
