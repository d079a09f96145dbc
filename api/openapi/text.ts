import { ERROR_HELP } from '../../core/error-help.ts';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { SESSION_COOKIE } from '../session/cookie.ts';
import type { DocumentPart } from './document.ts';

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

/** Tags in the order in which a new user needs them. */
const TAGS = [
  { name: 'Identity', description: 'The workspace, its plan and the current key.' },
  { name: 'Workspace', description: 'Settings of the workspace, and its identity secret.' },
  { name: 'Keys', description: 'API keys of the workspace.' },
  { name: 'Links', description: 'Campaigns and their tracked short links.' },
  { name: 'Domains', description: 'Domains of the workspace for short links, proven by DNS.' },
  { name: 'Folders', description: 'Folders for campaigns.' },
  { name: 'Channels', description: 'Performance by channel.' },
  { name: 'Analytics', description: 'Any metric by any dimension, with filters.' },
  { name: 'Dashboards', description: 'Saved views, annotations, and shared dashboards.' },
  { name: 'Reports', description: 'Views that are sent on a schedule, by mail and to chats.' },
  { name: 'Alerts', description: 'Figures of views that are watched.' },
  { name: 'Clicks', description: 'Raw clicks: list, export and live stream.' },
  { name: 'Visitors', description: 'Visitors and their journeys.' },
  { name: 'Tracking', description: 'Identifies and orders reported by a server.' },
  { name: 'Programs', description: 'Referral programs and their terms.' },
  { name: 'Applications', description: 'Applications of affiliates to programs.' },
  { name: 'Assets', description: 'Images, texts, and links that affiliates use.' },
  { name: 'Referrals', description: 'Referrers, signups, purchases and rewards.' },
  { name: 'Coupons', description: 'Discount codes that bring orders to a referrer.' },
  { name: 'Ledger', description: 'Append-only entries of all rewards, and their sums.' },
  { name: 'Credits', description: 'Credit grants, their delivery and revocation.' },
  {
    name: 'Fulfilments',
    description: 'Delivery of credits by the service: to Stripe balances, or by signed calls.',
  },
  { name: 'Commissions', description: 'Commissions, bonuses and claw-backs.' },
  { name: 'Payouts', description: 'Payout files for affiliates.' },
  { name: 'Connections', description: 'Billing providers whose events report purchases and refunds.' },
  { name: 'Webhooks', description: 'Signed events with retries, and the log of deliveries.' },
  { name: 'Bio pages', description: 'Link-in-bio pages with tracked buttons.' },
  { name: 'Members', description: 'Members of the workspace and their roles.' },
  { name: 'Mail', description: 'Mails of the workspace, and how they ended.' },
  { name: 'Audit log', description: 'Who changed what, and who signed in.' },
  { name: 'Partner workspaces', description: 'Workspaces that a platform runs for its customers.' },
];

const CONSOLE_TAGS = [
  { name: 'Service', description: 'Whether the service stores what it receives.' },
  { name: 'Sessions', description: 'Sign-in, sign-out and sessions of the member.' },
  { name: 'Mail', description: 'The link that ends mail.' },
  { name: 'Passkeys', description: 'Passkeys and password of the member.' },
  { name: 'Two-factor sign-in', description: 'Authenticator app and recovery codes of the member.' },
  { name: 'Shared dashboards', description: 'What visitors of a shared dashboard read.' },
  { name: 'Referrals', description: 'What a referrer sees, for the owner.' },
  { name: 'Portal', description: 'What the pages of the affiliates’ portal call.' },
  { name: 'Invitations', description: 'Accepting an invitation.' },
];

/** The rows of the table of errors, by status. */
const errorRows = (): string =>
  Object.entries(ERROR_HELP)
    .map(([code, { when }]) => ({ code, when, status: ERROR_STATUS[code as ErrorCode] }))
    .sort((a, b) => a.status - b.status)
    .map(({ status, code, when }) => `| ${status} | \`${code}\` | ${when} |`)
    .join('\n');

const DESCRIPTION = `
Tracked short links, exact click streams, reports and referral programs.

## Keys
Send \`Authorization: Bearer <key>\`. A secret key (\`lk_live_…\`) belongs on a server. A publishable key
(\`pk_live_…\`) is safe in a browser and works where an endpoint allows it; elsewhere it gets \`403 forbidden\`.
\`allowed_origins\` of the workspace may limit it to some pages: others get \`403 forbidden\` too, and can't show the
embedded dashboard.
A partner key works under \`/api/v1/partner/*\` only, and a workspace key does not work there: both get
\`401 unauthorized\`. A secret key may be restricted to scopes, may expire, and needs \`manage\` for keys, members,
workspace settings and the identity secret; \`POST /keys\` explains them. Call \`GET /api/v1/me\` first to check a key; it works on any plan.

The console calls the same endpoints with a session cookie. Its sign-in endpoints are in a document of their own,
\`/api/v1/console-openapi.json\`.

## Requests
JSON in UTF-8. Values are not coerced: \`"19.99"\` for a number is a 400. A number out of range or an unknown enum value
is a 400, never clamped. An unknown query parameter is a 400, so that a misspelled filter does not respond with
everything; so is an unknown field of a body that only reads (\`/analytics/query\`), where null in an optional field is as
if it were left out. Unknown fields of other bodies are ignored and named in the \`x-ignored-fields\` header, but a slip of
a field that was not given (\`slugg\`, \`visitorId\`) is a 400 with "did you mean". \`visitor_id\` and \`_vid\` are one
name. An id, a name or a search of blanks and invisible characters alone is a 400; a \`pattern\` lists the common ones of
what Unicode calls ignorable, or a mark without a letter. Text with a NUL character or an unpaired surrogate, a number beyond a double, and a body nested deeper than 64 levels are a 400. Instants
are ISO 8601 with \`Z\` or an offset; a date alone means midnight UTC. A body is at most 1 MiB with
10,000 values (\`/links/bulk\`: 16 MiB, a row 64 KiB; \`/links/import\`: 4 MiB; endpoints that a publishable key or no
key may call: 64 KiB), headers with the URL at most 64 KiB. CORS allows any origin,
without credentials.

## Responses
Instants are ISO 8601 in UTC with \`Z\`. Money is in major units in requests and responses. Ids are UUIDv7.

A list with pages has a \`next_cursor\`. Pass it back unchanged until it is null to read every row exactly once. A cursor is
opaque text: do not parse it as a date, because dates of most languages lose its last digits.

## Errors
\`{ "error": { "code", "message", "request_id", "doc_url", "details"? } }\`. \`doc_url\` leads to the help on the code. For invalid input, \`details\` has each invalid field
as \`{ path, message, code?, hint? }\`, at most 20; \`message\` says the first, and how many more. \`request_id\` is also the \`x-request-id\` header of every response. Checks run in this order: key
(401), scope (403), plan (402), parameters (400), existence (404), conflict (409).

| Status | Code | When |
|---|---|---|
${errorRows()}

Requests are not rate limited, except for failed sign-ins.

## Idempotency
Every \`POST\` that creates something, except sign-in, takes an \`Idempotency-Key\` of 1 to 200 printable ASCII characters,
scoped to the workspace, for 24 hours. A replay gets the first response with \`Idempotent-Replayed: true\`. The same key with
another method, path or body is \`422 idempotency_key_reused\`. While the first request is running, it is
\`409 idempotency_in_progress\`. The order of body keys does not matter. Only 2xx responses are stored: an error created
nothing. The replay of a response with a secret lacks it and has \`secret_shown: false\`.

## Webhooks
A delivery is a \`POST\` of \`{ "id", "type", "created_at", "data" }\`, signed as the
[Standard Webhooks](https://www.standardwebhooks.com) specification defines; any of its libraries verifies it. Deliveries
are at least once: drop a \`webhook-id\` that you have seen. A 2xx within 20 seconds is a success. Network errors
and every response but 2xx and 410 are retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h (plus up to 20 % jitter,
or as \`Retry-After\` of a 429 or 503 says if that is longer). Redirects are not followed. A 410 is final, and disables the
webhook. A webhook with nothing but failures for five days is disabled.
The payload of each event is in the section \`webhooks\` of this document.

## Data
IP geolocation by [DB-IP](https://db-ip.com) (CC BY 4.0).
`;

const CONSOLE_DESCRIPTION = `
Endpoints of the console: sign-in, sessions, passkeys and invitations. Only the console's own pages call them.

A call carries the session cookie. A call that changes something also carries the \`csrf_token\` of \`GET /session\` as
\`x-csrf-token\` and comes from the console's own origin; otherwise it is \`403 forbidden\`. With a session, the console also
calls the endpoints of \`/api/v1/openapi.json\`, as far as the member's role allows: an \`analyst\` reads, an \`operator\`
also changes, an \`owner\` also manages keys and members.
`;

/** The document of every operation that a key may call. */
export const PUBLIC: DocumentPart = {
  info: { title: 'Hoplog', version: '1', description: DESCRIPTION, license: LICENSE },
  tags: TAGS,
  securitySchemes: {
    secret: { type: 'http', scheme: 'bearer', description: 'A secret workspace key, `lk_live_…`.' },
    publishable: {
      type: 'http',
      scheme: 'bearer',
      description: 'A publishable workspace key, `pk_live_…`; safe in a browser.',
    },
    partner: { type: 'http', scheme: 'bearer', description: 'A partner key, `pt_live_…`.' },
  },
  has: ({ config }) => config.console !== true,
  webhooks: true,
};

/** The document of operations that only the console's browser calls. */
export const CONSOLE: DocumentPart = {
  info: { title: 'Hoplog console', version: '1', description: CONSOLE_DESCRIPTION, license: LICENSE },
  tags: CONSOLE_TAGS,
  securitySchemes: {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description: 'The cookie of a signed-in browser. Changing calls also carry `x-csrf-token`.',
    },
  },
  has: ({ config }) => config.console === true,
  webhooks: false,
};
