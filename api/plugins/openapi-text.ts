/** The tags of the document, in the order in which a new user meets them. */
export const TAGS = [
  { name: 'Identity', description: 'The workspace, its plan and the key of the call.' },
  { name: 'Keys', description: 'The keys that calls are made with.' },
  { name: 'Links', description: 'Campaigns and their tracked short links.' },
  { name: 'Folders', description: 'Folders that campaigns are sorted into.' },
  { name: 'Channels', description: 'What each channel brought.' },
  { name: 'Statistics', description: 'The whole workspace over time, and what its clicks are made of.' },
  { name: 'Clicks', description: 'The raw stream of clicks.' },
  { name: 'Visitors', description: 'What one visitor did.' },
  { name: 'Tracking', description: 'Identifies and orders reported by a server.' },
  { name: 'Programmes', description: 'Referral programmes and what they promise.' },
  { name: 'Referrals', description: 'Referrers, whom they referred, and what it earned.' },
  { name: 'Ledger', description: 'Every entry of what is owed, and the sums of them.' },
  { name: 'Credits', description: 'Credit grants and their delivery.' },
  { name: 'Payouts', description: 'Files of what affiliates are to be paid, and that they were.' },
  { name: 'Webhooks', description: 'Events as they happen, signed and retried.' },
  { name: 'Bio pages', description: 'Link-in-bio pages, whose buttons are tracked links.' },
  { name: 'Members', description: 'Who uses the console: members, sign-in, sessions and passkeys.' },
  { name: 'Partner workspaces', description: 'Workspaces that a platform runs for its customers.' },
];

/** What the document says before its endpoints: what holds for all of them. */
export const DESCRIPTION = `
Tracked short links, exact click streams and reports.

## Keys
Send \`Authorization: Bearer <key>\`. A secret key (\`lk_live_…\`) belongs on a server. A publishable key
(\`pk_live_…\`) is safe in a browser and works where an endpoint says so; elsewhere it gets \`403 forbidden\`.
A partner key works under \`/api/v1/partner/*\` only, where a workspace key does not: both get
\`401 unauthorized\`. Check \`GET /api/v1/me\` first; it works on any plan.

The console's browser calls the same endpoints with the cookie of its session, as its member's role allows: an
\`analyst\` reads, an \`operator\` changes things too, an \`owner\` has keys and members. Changing calls carry the
\`csrf_token\` of \`GET /session\` as \`x-csrf-token\`, and come from the console's own origin.

## Requests
JSON in UTF-8. Values are not coerced: \`"19.99"\` where a number belongs is a 400. A number out of its range or
an unknown enum value is a 400, never clamped. Unknown body fields are ignored. Texts with a NUL character or half
a surrogate pair, numbers beyond a double, and bodies that nest deeper than 64 levels are a 400. Instants
are ISO 8601 with \`Z\` or an offset; a date alone is midnight UTC. A body is at most 1 MiB (\`/links/bulk\` and
\`/links/import\`: 16 MiB; without a key or session: 64 KiB), the headers with the URL at most 64 KiB. Preflights and calls from any origin are answered
(CORS), without credentials.

## Answers
Instants are ISO 8601 in UTC with \`Z\`. Money goes in and out in major units. Ids are UUIDv7.
A list that pages has a \`next_cursor\`, an instant with enough fraction digits to be unique or the id of a row: pass it
back unchanged until it is null, and you have seen every row exactly once.

## Errors
\`{ "error": { "code", "message", "request_id", "details"? } }\`; \`details\` lists \`{ path, message }\` for
invalid input, with the first field that is wrong. \`request_id\` is also the \`x-request-id\` header of every
answer. Checks come in this order: key (401), scope (403), plan (402), parameters (400), existence (404), conflict (409).

| Status | Code | When |
|---|---|---|
| 400 | \`bad_request\` | invalid parameters |
| 400 | \`method_not_offered\` | the programme does not offer this payout method |
| 401 | \`unauthorized\` | no key, an unknown or revoked one, or one of the wrong kind |
| 402 | \`payment_required\` | the plan does not cover the endpoint |
| 402 | \`limit_reached\` | the plan's cap of links is reached |
| 403 | \`forbidden\` | a publishable key where a secret one is needed; more than the member's role allows; a session without its CSRF token or from another origin; the affiliate upgrade is not allowed, or needed first |
| 404 | \`not_found\` | unknown path, or nothing with this id in the workspace |
| 405 | \`method_not_allowed\` | the path exists, the method does not; see \`Allow\` |
| 408 | \`request_timeout\` | the request did not arrive whole in time; ask again |
| 409 | \`conflict\` | a taken slug or external_id, a second link on a channel |
| 409 | \`idempotency_in_progress\` | the first request with this key still runs |
| 413 | \`payload_too_large\` | the body is too large |
| 415 | \`unsupported_media_type\` | the body is not JSON, or is compressed |
| 422 | \`idempotency_key_reused\` | the key came with another request before |
| 429 | \`too_many_requests\` | five wrong sign-ins in a minute; see \`Retry-After\` |
| 500 | \`internal\` | a fault of ours; tell us the request_id |
| 503 | \`unavailable\` | a store is down or the API is full; see \`Retry-After\` |

There is no request-rate limit but for wrong sign-ins.

## Idempotency
Every \`POST\` that creates, but for those of sign-in, takes an \`Idempotency-Key\` of 1 to 200 printable ASCII characters, scoped to the
workspace, for 24 hours. A replay gets the first answer with \`Idempotent-Replayed: true\`. The same key with another
method, path or body is \`422 idempotency_key_reused\`; while the first request runs, \`409 idempotency_in_progress\`.
The order of a body's keys does not matter. Only 2xx answers are kept: an error made nothing. An answer with a token is never
kept: there the header is checked, and a call that is repeated is made again.

## Webhooks
A delivery is a \`POST\` of \`{ "id", "type", "created_at", "data" }\`, signed as the
[Standard Webhooks](https://www.standardwebhooks.com) specification says: any of its libraries verifies it. It comes at
least once: drop a \`webhook-id\` that you have seen. A 2xx within 20 seconds is a success. Network errors, 429
and 5xx are retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h (up to a fifth longer, or as \`Retry-After\` says where
that is longer); every other answer is final, redirects too. A webhook that has only failed for five days, on each of
five days, is disabled.

| Event | When | \`data\` |
|---|---|---|
| \`click.created\` | a person clicked; bots fire none | the click |
| \`lead.created\` | a signup was matched and not blocked | \`{ external_user_id, email, visitor_id, partner_id, program_id, created_at }\` |
| \`sale.created\` | an order was first recorded, by the pixel, a server or report-purchase | \`{ order_id, amount, currency, external_user_id, visitor_id, created_at }\` |
| \`commission.created\` | a commission was written | \`{ id, program_id, partner_id, order_id, level, amount, currency, status, created_at }\` |
| \`credit.earned\`, \`credit.delivered\` | a credit was earned, or marked delivered | the credit grant |
| \`webhook.test\` | you asked for it | \`{}\` |

## Data
IP geolocation by [DB-IP](https://db-ip.com) (CC BY 4.0).
`;
