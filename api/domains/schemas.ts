import { type Static, Type } from 'typebox';
import { DESTINATION_LIMIT } from '../../core/links/destinations.ts';
import { DOMAIN_LIMIT } from '../../core/links/domains.ts';
import { DOMAIN_STATUSES } from '../../sql/domains/domains.ts';
import { Body, Cursor, Instant, Limit, NextCursor, Nullable, OneOf, Uuid } from '../schemas.ts';

/** Bytes of each file below `/.well-known/`: Apple reads no larger one. */
export const APP_FILE_LIMIT = 131_072;

type Json = Record<string, unknown> | unknown[];

export const DomainStatus = OneOf(DOMAIN_STATUSES, {
  title: 'DomainStatus',
  description:
    "`pending`: not proven; its host is served as the deployment's own. `verified`: proven. `failing`: its record has been missing for three days; it redirects as before, until another workspace proves it.",
});

const Address = (description: string) =>
  Nullable(Type.String({ format: 'uri', maxLength: DESTINATION_LIMIT, description }));
/**
 * One schema with a type, because errors of an `anyOf` would not name the fault. Apple's file is an object, Android's a
 * list: in the other's field, a file would open no app.
 */
const AppFile = (type: 'object' | 'array', description: string) =>
  Type.Unsafe<Json | null>({
    type: [type, 'null'],
    ...(type === 'object' ? { additionalProperties: true } : { items: {} }),
    description: `${description} At most ${APP_FILE_LIMIT} bytes serialized.`,
  });
const APPLE_FILE = AppFile('object', 'Served at `/.well-known/apple-app-site-association`.');
const ANDROID_FILE = AppFile('array', 'A list of statements, served at `/.well-known/assetlinks.json`.');

const SETTINGS = {
  root_url: Type.Optional(Address('Where `/` redirects.')),
  not_found_url: Type.Optional(Address('Where unknown slugs redirect.')),
  expired_url: Type.Optional(
    Address('Where expired and used-up links without an `expired_redirect_url` redirect.'),
  ),
  apple_app_site_association: Type.Optional(APPLE_FILE),
  assetlinks: Type.Optional(ANDROID_FILE),
};

export const DomainBody = Body(
  {
    domain: Type.String({
      minLength: 1,
      maxLength: DOMAIN_LIMIT,
      description:
        'A host name such as `go.example.com`, without scheme, port and path. International names are stored in punycode.',
    }),
    ...SETTINGS,
  },
  { title: 'CreateDomain' },
);
export type DomainBody = Static<typeof DomainBody>;

export const DomainChange = Body(
  {
    is_default: Type.Optional(
      Type.Boolean({
        description:
          'Whether links that name no domain are made on it, referral links and links of bio buttons included. A workspace has at most one default; the domain must be verified.',
      }),
    ),
    ...SETTINGS,
  },
  { title: 'UpdateDomain' },
);
export type DomainChange = Static<typeof DomainChange>;

export const DomainRecord = Type.Object(
  {
    id: Uuid,
    domain: Type.String(),
    status: DomainStatus,
    is_default: Type.Boolean(),
    root_url: Nullable(Type.String()),
    not_found_url: Nullable(Type.String()),
    expired_url: Nullable(Type.String()),
    apple_app_site_association: APPLE_FILE,
    assetlinks: ANDROID_FILE,
    verification: Type.Object(
      {
        type: Type.Literal('TXT'),
        name: Type.String({ description: 'Full name of the record.' }),
        value: Type.String(),
      },
      { title: 'DomainVerification', description: 'The DNS record that proves the domain.' },
    ),
    verified_at: Nullable(Instant),
    last_checked_at: Nullable(Instant),
    problem: Nullable(Type.String({ description: 'What the last check found wrong.' })),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: 'Domain' },
);
export type DomainRecord = Static<typeof DomainRecord>;

export const DomainQuery = Type.Object({ limit: Limit(100, 50), cursor: Type.Optional(Cursor) });

export const DomainList = Type.Object(
  { domains: Type.Array(DomainRecord), next_cursor: NextCursor },
  { title: 'DomainList' },
);

export const DomainDelete = Type.Object({
  links: Type.Optional(
    OneOf(['move', 'delete'], {
      description:
        "What happens to links on the domain. `move`: they move to the workspace's default domain, else to the deployment's own; 409 with the slugs when one is taken there. `delete`: they are deleted. Without it a domain with links is a 409.",
    }),
  ),
});
