import { type Static, Type } from 'typebox';
import { LANGUAGES } from '../../core/languages/languages.ts';
import { APPLICATION_STATUSES } from '../../core/referrals/portal.ts';
import {
  Body,
  Email,
  ExternalUserId,
  Instant,
  Limit,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
} from '../schemas.ts';

export const ApplicationStatus = OneOf(APPLICATION_STATUSES, { title: 'ApplicationStatus' });

export const ApplicationQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  status: Type.Optional(ApplicationStatus),
  limit: Limit(200, 50),
  cursor: Type.Optional(UuidCursor),
});

export const ApprovalBody = Body(
  {
    external_user_id: Type.Optional({
      ...ExternalUserId,
      description:
        "The user's id in your product. By default `portal:` and the id of the application. A user who is a referrer already keeps program and link, and opens the portal with this address.",
    } as typeof ExternalUserId),
  },
  { title: 'ApproveApplication' },
);

export const ApplicationRecord = Type.Object(
  {
    id: Uuid,
    program_id: Uuid,
    email: { ...Email, description: 'Not proven before the first sign-in to the portal.' },
    name: Type.String(),
    answers: Type.Record(Type.String(), Type.String(), {
      description: "By the names of the program's `portal.fields`.",
    }),
    language: OneOf(LANGUAGES, { title: 'PortalLanguage', description: 'Of the page, and of the mails.' }),
    status: ApplicationStatus,
    terms_version: Nullable(Type.String({ description: 'The version that was accepted last. Null: none.' })),
    terms_sha256: Nullable(
      Type.String({ description: 'SHA-256 (hex) of the accepted `terms_text`, or of `terms_url`.' }),
    ),
    terms_accepted_at: Nullable(Instant),
    partner_id: Nullable(Type.String({ format: 'uuid', description: 'The referrer. Null: not approved.' })),
    external_user_id: Nullable(Type.String()),
    referral_link: Nullable(Type.String({ format: 'uri' })),
    created_at: Instant,
    decided_at: Nullable(Instant),
  },
  { title: 'Application' },
);
export type ApplicationRecord = Static<typeof ApplicationRecord>;

export const ApplicationList = Type.Object(
  { applications: Type.Array(ApplicationRecord), next_cursor: NextUuidCursor },
  { title: 'ApplicationList' },
);
