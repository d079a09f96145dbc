import { type Static, Type } from 'typebox';
import { CHATS } from '../../core/chat/chat-body.ts';
import { SCHEDULES } from '../../core/reports/schedule.ts';
import { ViewQuery } from '../saved-views/schemas.ts';
import { Body, Cursor, Instant, Limit, Name, NextCursor, Nullable, OneOf, Uuid } from '../schemas.ts';
import { RECEIVER_URL_LIMIT } from '../webhooks/receiver-url.ts';

/** Most recipients of a report. */
const MOST_RECIPIENTS = 20;

const SCHEDULE = {
  every: OneOf(SCHEDULES, {
    title: 'ReportPeriod',
    description: 'A report has the last whole day, week from Monday, or month before the day of its sending.',
  }),
  weekday: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 7, description: '1 (Monday) to 7. With `week` only; 1 by default.' }),
  ),
  day: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: 'In shorter months the last day. With `month` only; 1 by default.',
    }),
  ),
  hour: Type.Integer({ minimum: 0, maximum: 23 }),
};
const ZONE = Type.String({
  maxLength: 100,
  description: 'IANA time zone of the hour and of the days. By default that of the workspace, else `UTC`.',
});

const ScheduleBody = Body({ ...SCHEDULE, time_zone: Type.Optional(ZONE) }, { title: 'ReportScheduleInput' });

const Type_ = OneOf(['email', ...CHATS], { title: 'RecipientType' });
const Address = Type.String({
  minLength: 1,
  maxLength: RECEIVER_URL_LIMIT,
  description:
    'An email address, or the `https://` address of an incoming webhook of Slack or Discord. Services that take the same bodies work too.',
});

export const RecipientList = Type.Array(
  Body({ type: Type_, address: Address }, { title: 'RecipientInput' }),
  {
    minItems: 1,
    maxItems: MOST_RECIPIENTS,
    description:
      'An email address without a membership gets a mail with a link, and reports once it has used the link.',
  },
);
export type RecipientList = Static<typeof RecipientList>;

const SavedViewId = Type.String({
  format: 'uuid',
  description: 'The report follows the view: a change of it changes the report. Instead of `query`.',
});
const ShowRevenue = Type.Boolean({ description: 'False by default: no figure in money.' });
const IsActive = Type.Boolean({ description: 'False: paused. True by default.' });

export const ReportBody = Body(
  {
    name: Name,
    saved_view_id: Type.Optional(Nullable(SavedViewId)),
    query: Type.Optional(Nullable({ ...ViewQuery, type: 'object' as const })),
    schedule: ScheduleBody,
    recipients: RecipientList,
    show_revenue: Type.Optional(ShowRevenue),
    is_active: Type.Optional(IsActive),
  },
  { title: 'CreateReport' },
);
export type ReportBody = Static<typeof ReportBody>;

export const ReportChange = Body(
  {
    name: Type.Optional(Name),
    saved_view_id: Type.Optional(Nullable(SavedViewId)),
    query: Type.Optional(Nullable({ ...ViewQuery, type: 'object' as const })),
    schedule: Type.Optional(ScheduleBody),
    recipients: Type.Optional(RecipientList),
    show_revenue: Type.Optional(ShowRevenue),
    is_active: Type.Optional(IsActive),
  },
  { title: 'UpdateReport' },
);
export type ReportChange = Static<typeof ReportChange>;

const RECIPIENT_STATES = ['ok', 'unconfirmed', 'unsubscribed', 'failing'] as const;

export const RecipientRecord = Type.Object(
  {
    type: Type_,
    address: Type.String(),
    state: OneOf(RECIPIENT_STATES, {
      title: 'RecipientState',
      description:
        '`unconfirmed`: the address has not used the link of its first mail. `unsubscribed`: it wants no mail of the workspace. `failing`: the chat did not take the last message.',
    }),
    error: Nullable(Type.String({ description: 'Of a chat: why the last message did not arrive.' })),
  },
  { title: 'Recipient' },
);

const Schedule = Type.Object({ ...SCHEDULE, time_zone: Type.String() }, { title: 'ReportSchedule' });

export const ReportRecord = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    saved_view_id: Nullable(Uuid),
    query: Nullable({ ...ViewQuery, type: 'object' as const }),
    schedule: Schedule,
    recipients: Type.Array(RecipientRecord),
    show_revenue: Type.Boolean(),
    is_active: Type.Boolean(),
    last_sent_at: Nullable(Instant),
    next_at: Nullable(Type.String({ format: 'date-time', description: 'Null while it is paused.' })),
    error: Nullable(Type.String({ description: 'Why the report could not be made. It is tried again.' })),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: 'Report' },
);
export type ReportRecord = Static<typeof ReportRecord>;

export const ReportList = Type.Object(
  { reports: Type.Array(ReportRecord), next_cursor: NextCursor },
  { title: 'ReportList' },
);

export const ReportQuery = Type.Object({ limit: Limit(100, 50), cursor: Type.Optional(Cursor) });
