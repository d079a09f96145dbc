import { type Static, Type } from 'typebox';
import { Body, Instant, LINES, Limit, NAME, NextUuidCursor, Nullable, Uuid, UuidCursor } from '../schemas.ts';

/** Characters of a message's text. */
const TEXT_LIMIT = 10_000;
const SUBJECT_LIMIT = 150;
/** Referrers whom one message may be for. */
export const MOST_RECIPIENTS = 2_000;
/** Mails of messages that a workspace sends in 24 hours. */
export const MOST_A_DAY = 5_000;

const FIELDS_WORDS =
  'Merge fields: `{name}`, `{link}`, `{program}`, `{rate}`, `{hold_days}`, `{min_payout}`, `{portal}`, `{workspace}`; `{name|there}` has a text where it is unknown.';

export const MessageBody = Body(
  {
    group_id: Type.Optional({
      ...Uuid,
      description: 'To the referrers of this partner group.',
    } as typeof Uuid),
    program_id: Type.Optional({ ...Uuid, description: 'To the referrers of this program.' } as typeof Uuid),
    partner_ids: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: 500,
        uniqueItems: true,
        description: 'To these referrers.',
      }),
    ),
    subject: Type.String({
      minLength: 1,
      maxLength: SUBJECT_LIMIT,
      pattern: NAME,
      description: 'One line. It may have the merge fields of the text.',
    }),
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_LIMIT,
      pattern: LINES,
      description: `Plain text: nothing in it is read as HTML. Empty lines separate paragraphs. ${FIELDS_WORDS}`,
    }),
  },
  { title: 'Message' },
);
export type MessageBody = Static<typeof MessageBody>;

export const MessageQuery = Type.Object({ limit: Limit(200, 50), cursor: Type.Optional(UuidCursor) });

const Count = Type.Integer();
const LeftOut = Type.Object(
  { suspended: Count, no_email: Count, unsubscribed: Count },
  {
    title: 'MessageLeftOut',
    description:
      'Who does not get it: suspended referrers, those without an email, and those who have ended the mails of the workspace or turned them off in the portal.',
  },
);

export const MessageRecord = Type.Object(
  {
    id: Uuid,
    program_id: Nullable(Uuid),
    group_id: Nullable({ ...Uuid, description: 'The group may have been deleted since.' } as typeof Uuid),
    subject: Type.String(),
    text: Type.String(),
    sent_by: Type.String({ description: 'A masked key, or `member <id>`.' }),
    recipients: Type.Integer({ description: 'Each gets one mail.' }),
    pending: Count,
    delivered: Type.Integer({ description: 'The mail server accepted the mail.' }),
    failed: Count,
    canceled: Type.Integer({ description: 'Not sent: the recipient has ended the mails, or was erased.' }),
    unsubscribed: Type.Integer({
      description: 'Recipients who have ended the mails of the workspace since the message.',
    }),
    left_out: LeftOut,
    created_at: Instant,
  },
  { title: 'SentMessage' },
);
export type MessageRecord = Static<typeof MessageRecord>;

export const MessageList = Type.Object(
  { messages: Type.Array(MessageRecord), next_cursor: NextUuidCursor },
  { title: 'MessageList' },
);

export const MessagePreview = Type.Object(
  {
    recipients: Type.Integer({ description: 'How many mails would be sent.' }),
    left_out: LeftOut,
    partner_id: Nullable({
      ...Uuid,
      description: 'The recipient whose mail is shown. Null: no one gets it.',
    } as typeof Uuid),
    subject: Nullable(Type.String()),
    text: Nullable(Type.String({ description: 'The whole mail as plain text.' })),
  },
  { title: 'MessagePreview' },
);
