import type { ErrorCode } from './errors.ts';

/** When an error is sent, and what its caller can do. Markdown. */
export type ErrorHelp = { when: string; remedy: string };

/** Help on every error code: a page of the documentation each, to which `doc_url` of an error leads. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  bad_request: {
    when: 'invalid parameters',
    remedy:
      'Correct each field of `details`: `path` names it, `message` says what it must be, `hint` what you may have meant.',
  },
  method_not_offered: {
    when: 'the program does not offer this payout method',
    remedy: "Choose one of the program's `payout_methods`, or add the method to the program.",
  },
  unauthorized: {
    when: 'missing, unknown or revoked key, or the wrong kind of key',
    remedy:
      'Send `Authorization: Bearer <key>` with a key of this deployment. Partner keys work under `/api/v1/partner/` only, workspace keys everywhere else. `GET /api/v1/me` checks a key.',
  },
  payment_required: {
    when: 'the plan does not cover the endpoint',
    remedy:
      'The operator of the deployment puts the workspace on a paid plan with the status `active`: `hoplog workspace set --workspace ID --plan pro --status active`.',
  },
  limit_reached: {
    when: "the plan's cap of links is reached",
    remedy: 'Delete links that you do not need, or ask the operator of the deployment for a larger plan.',
  },
  forbidden: {
    when: "a publishable key instead of a secret one; more than the member's role allows; affiliate mode is not allowed, or required first",
    remedy:
      'Use a secret key on your server, with the scope that the message names. Programs allow affiliate mode with `allow_affiliate_upgrade`.',
  },
  not_found: {
    when: 'unknown path, or no such id in the workspace',
    remedy:
      'Compare the path with this reference, and the id with a list: ids of other workspaces are unknown.',
  },
  method_not_allowed: {
    when: 'the path does not offer the method; see `Allow`',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  request_timeout: {
    when: 'the request did not arrive in time; retry it',
    remedy: 'Send it again. A request must arrive within 30 seconds.',
  },
  conflict: {
    when: 'a taken slug or external_id, a second link on a channel',
    remedy: 'Choose another slug or `external_id`; the message says what is taken, and by what.',
  },
  idempotency_in_progress: {
    when: 'the first request with this key is still running',
    remedy: 'Repeat the request a moment later: it gets the response of the first one.',
  },
  payload_too_large: {
    when: 'the body is too large',
    remedy: 'Send fewer rows at a time. The message says the limit.',
  },
  unsupported_media_type: {
    when: 'the body is not JSON, or is compressed',
    remedy: 'Send JSON in UTF-8 with `Content-Type: application/json` and no `Content-Encoding`.',
  },
  idempotency_key_reused: {
    when: 'the key came with a different request earlier',
    remedy:
      'Make a new `Idempotency-Key` for each request, and keep it for the retries of that request only.',
  },
  too_many_requests: {
    when: 'five failed sign-ins in a minute; see `Retry-After`',
    remedy: 'Wait as many seconds as `Retry-After` says.',
  },
  internal: {
    when: 'an internal error; report the request_id',
    remedy: 'Give the `request_id` to the operator of the deployment: the log has the cause under it.',
  },
  unavailable: {
    when: 'a database is down or the API is overloaded; see `Retry-After`',
    remedy: 'Repeat the request after `Retry-After` seconds, with the same `Idempotency-Key` if it has one.',
  },
};
