import { type Static, Type } from 'typebox';
import { MAIL_KINDS } from '../../core/mail/contents.ts';
import { MAIL_STATUSES } from '../../sql/mail/mails.ts';
import { Email, Instant, Limit, NextUuidCursor, Nullable, OneOf, Uuid, UuidCursor } from '../schemas.ts';

const Status = OneOf(MAIL_STATUSES, {
  title: 'MailStatus',
  description:
    '`delivered`: the mail server accepted it. `failed`: it refused it, or none accepted it within a day. `canceled`: the recipient wants no mail of the workspace.',
});

export const MailQuery = Type.Object({
  status: Type.Optional(Status),
  limit: Limit(200, 50),
  cursor: Type.Optional(UuidCursor),
});

const MailRecord = Type.Object(
  {
    id: { ...Uuid, description: 'The `Message-ID` begins with it.' },
    kind: OneOf(MAIL_KINDS, { title: 'MailKind' }),
    recipient: Email,
    status: Status,
    attempts: Type.Integer(),
    error: Nullable(Type.String({ description: "The mail server's words, or those of the connection." })),
    next_attempt_at: Nullable(Instant),
    created_at: Instant,
    delivered_at: Nullable(Instant),
  },
  { title: 'Mail' },
);

export const MailList = Type.Object(
  { mails: Type.Array(MailRecord), next_cursor: NextUuidCursor },
  { title: 'MailList' },
);
export type MailList = Static<typeof MailList>;

export const UnsubscribeQuery = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 1_000, description: 'Of the link in the mail.' }),
});
