import { type Static, Type } from 'typebox';
import { MOST_ORIGINS, ORIGIN_LIMIT } from '../../core/access/allowed-origins.ts';
import { DOMAIN_LIMIT } from '../../core/links/domains.ts';
import { LOGO_BYTES, LOGO_SIDE, LOGO_URL_LIMIT } from '../../core/qr/logo.ts';
import { TRACKINGS } from '../../core/tracking/tracking.ts';
import {
  ATTRIBUTION_MODELS,
  IDENTITY_VERIFICATIONS,
  MOST_PAYOUT_HOLD_DAYS,
  MOST_RETENTION_MONTHS,
} from '../../sql/workspaces/workspaces.ts';
import {
  Body,
  Currency,
  CurrencyInput,
  LanguageOrNull,
  Name,
  Nullable,
  OneOf,
  SecretShown,
  Uuid,
} from '../schemas.ts';

/** Longest `attribution_window`, in days. */
const MOST_ATTRIBUTION_DAYS = 365;

const FIELDS = {
  name: Name,
  attribution_model: OneOf(ATTRIBUTION_MODELS, {
    title: 'AttributionModel',
    description:
      'Which clicks an order and a lead belong to. A change counts for orders and leads first reported after it; earlier ones keep their model.',
  }),
  attribution_window: Type.Integer({
    minimum: 1,
    maximum: MOST_ATTRIBUTION_DAYS,
    description:
      'Days before an order or a lead in which a click counts. A change counts for orders and leads first reported after it.',
  }),
  primary_domain: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description:
        'Domain of destinations on the own site. A new link to another domain needs `external: true`; links that exist stay. Null: the next own-site link sets it.',
    }),
  ),
  identity_verification: OneOf(IDENTITY_VERIFICATIONS, {
    title: 'IdentityVerification',
    description:
      '`required`: a call with a publishable key that names a user needs `user_hash`, the hexadecimal HMAC-SHA256 of the user id under the identity secret; otherwise it is a 403. Create the secret first (`POST /identity-secret`).',
  }),
  payout_hold_days: Type.Integer({
    minimum: 0,
    maximum: MOST_PAYOUT_HOLD_DAYS,
    description:
      'Days that a payout line is held back after its address was changed with a publishable key and without a valid `user_hash`. Default 3.',
  }),
  allowed_origins: Type.Array(Type.String({ minLength: 1, maxLength: ORIGIN_LIMIT }), {
    maxItems: MOST_ORIGINS,
    description:
      'Origins of pages that may use a publishable key, such as `https://shop.example`: a call from a page of another origin is a 403, and only these pages can show the embedded dashboard. Calls without the header `Origin` are not affected. Empty, the default: any.',
  }),
  language: LanguageOrNull(
    "Language of visitors' pages (unknown and expired links, passwords, bio pages) and of mail to people who chose none. Null, the default: pages in the language that the visitor's browser prefers, mail in English.",
  ),
  problem_mails: Type.Boolean({
    description: 'Whether owners are told by mail of problems, such as a failing webhook. Default true.',
  }),
  check_destinations: Type.Boolean({
    description:
      'Whether the service requests the destinations of links once a day, and names those that respond with 404, 410, or 5xx, or not at all, as problems. Default false.',
  }),
  time_zone: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        "IANA time zone of days and hours in reports, such as `Europe/Berlin`. Null, the default: UTC, and in the console each viewer's own.",
    }),
  ),
  tracking: OneOf(TRACKINGS, {
    title: 'Tracking',
    description:
      'How visitors are told apart. `full`: by a cookie on the short-link origin, and `_vid` on the destination. `cookieless`: neither; the visitor is a hash of address, user agent, workspace and a salt that is discarded each day (UTC). `none`: neither, and each click is a visitor of its own.',
  }),
  default_domain: Nullable(
    Type.String({
      minLength: 1,
      maxLength: DOMAIN_LIMIT,
      description:
        "Where links that name no domain are made: a verified domain of the workspace, as its `is_default` in `/domains`. Null, the default: the deployment's own. A change needs a paid plan.",
    }),
  ),
  retention_months: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: MOST_RETENTION_MONTHS,
      description:
        'Months that clicks are kept. Older ones are deleted by whole months, which can’t be undone, and reports of longer windows begin with `window.data_from`. Null: forever.',
    }),
  ),
  logo: Nullable(
    Type.String({
      maxLength: LOGO_URL_LIMIT,
      description: `Logo for QR codes: a PNG as \`data:image/png;base64,…\`, without interlacing, at most ${LOGO_BYTES / 1_024} KiB and ${LOGO_SIDE} pixels wide and high. Stored here, never fetched.`,
    }),
  ),
};

export const WorkspaceSettings = Type.Object(
  {
    id: Uuid,
    slug: Type.String(),
    ...FIELDS,
    currency: Currency,
    identity_secret_set: Type.Boolean({ description: 'Whether the workspace has an identity secret.' }),
  },
  { title: 'WorkspaceSettings' },
);
export type WorkspaceSettings = Static<typeof WorkspaceSettings>;

export const WorkspaceChange = Body(
  {
    name: Type.Optional(FIELDS.name),
    attribution_model: Type.Optional(FIELDS.attribution_model),
    attribution_window: Type.Optional(FIELDS.attribution_window),
    primary_domain: Type.Optional(FIELDS.primary_domain),
    currency: Type.Optional(CurrencyInput),
    identity_verification: Type.Optional(FIELDS.identity_verification),
    payout_hold_days: Type.Optional(FIELDS.payout_hold_days),
    allowed_origins: Type.Optional(FIELDS.allowed_origins),
    language: Type.Optional(FIELDS.language),
    problem_mails: Type.Optional(FIELDS.problem_mails),
    check_destinations: Type.Optional(FIELDS.check_destinations),
    time_zone: Type.Optional(FIELDS.time_zone),
    tracking: Type.Optional(FIELDS.tracking),
    default_domain: Type.Optional(FIELDS.default_domain),
    retention_months: Type.Optional(FIELDS.retention_months),
    logo: Type.Optional(FIELDS.logo),
  },
  { title: 'UpdateWorkspace' },
);
export type WorkspaceChange = Static<typeof WorkspaceChange>;

export const IdentitySecret = Type.Object(
  {
    identity_secret: Type.Optional(
      Type.String({
        description:
          'The key of `user_hash`, prefix included. Shown once, and not in a replay by `Idempotency-Key`; keep it on your server.',
      }),
    ),
    secret_shown: SecretShown,
  },
  { title: 'IdentitySecret' },
);
