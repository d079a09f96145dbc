import { type Static, Type } from 'typebox';
import { ALERT_TYPES, COUNTED_METRICS } from '../../core/alerts/condition.ts';
import { METRICS } from '../../core/analytics/dimensions.ts';
import { RecipientList, RecipientRecord } from '../reports/schemas.ts';
import { ViewQuery } from '../saved-views/schemas.ts';
import {
  Body,
  Cursor,
  Instant,
  Limit,
  Name,
  NextCursor,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
} from '../schemas.ts';

/** Most hours of a condition: a week. */
const MOST_HOURS = 168;
const MOST_PERCENT = 10_000;

const CONDITION = {
  metric: OneOf(METRICS, { title: 'AlertMetric' }),
  type: OneOf(ALERT_TYPES, {
    title: 'AlertType',
    description: `\`change\`: against the mean of the same hours of the last four weeks, beyond what chance explains; of ${COUNTED_METRICS.join(', ')} only. \`none\`: 0 in all of the hours.`,
  }),
  value: Type.Optional(
    Type.Number({ description: 'With `over` and `under`. Money in major units, rates from 0 to 1.' }),
  ),
  percent: Type.Optional(
    Type.Integer({ minimum: 10, maximum: MOST_PERCENT, description: 'With `change`: up or down, at least.' }),
  ),
};
const WINDOW_HOURS = Type.Integer({
  minimum: 1,
  maximum: MOST_HOURS,
  default: 1,
  description: 'The last whole hours that are looked at.',
});

const ConditionBody = Body({ ...CONDITION, window_hours: WINDOW_HOURS }, { title: 'AlertConditionInput' });
export type ConditionBody = Static<typeof ConditionBody>;
const Condition = Type.Object({ ...CONDITION, window_hours: Type.Integer() }, { title: 'AlertCondition' });

const SavedViewId = Type.String({
  format: 'uuid',
  description: 'The alert follows the view. Instead of `query`.',
});
const QuietHours = Type.Integer({
  minimum: 1,
  maximum: MOST_HOURS,
  description: 'How long after a start no other one is told. 12 by default.',
});
const IsActive = Type.Boolean({ description: 'False: paused. True by default.' });

export const AlertBody = Body(
  {
    name: Name,
    saved_view_id: Type.Optional(Nullable(SavedViewId)),
    query: Type.Optional(Nullable({ ...ViewQuery, type: 'object' as const })),
    condition: ConditionBody,
    recipients: RecipientList,
    quiet_hours: Type.Optional(QuietHours),
    is_active: Type.Optional(IsActive),
  },
  { title: 'CreateAlert' },
);
export type AlertBody = Static<typeof AlertBody>;

export const AlertPatch = Body(
  {
    name: Type.Optional(Name),
    saved_view_id: Type.Optional(Nullable(SavedViewId)),
    query: Type.Optional(Nullable({ ...ViewQuery, type: 'object' as const })),
    condition: Type.Optional(ConditionBody),
    recipients: Type.Optional(RecipientList),
    quiet_hours: Type.Optional(QuietHours),
    is_active: Type.Optional(IsActive),
  },
  { title: 'UpdateAlert' },
);
export type AlertPatch = Static<typeof AlertPatch>;

const State = OneOf(['ok', 'firing'], { title: 'AlertState' });

export const AlertRecord = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    saved_view_id: Nullable(Uuid),
    query: Nullable({ ...ViewQuery, type: 'object' as const }),
    condition: Condition,
    recipients: Type.Array(RecipientRecord),
    quiet_hours: Type.Integer(),
    is_active: Type.Boolean(),
    state: State,
    since: Type.String({ format: 'date-time', description: 'When the state began.' }),
    checked_until: Nullable(
      Type.String({ format: 'date-time', description: 'End of the last checked hour.' }),
    ),
    error: Nullable(Type.String({ description: 'Why it could not be checked. It is tried again.' })),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: 'Alert' },
);
export type AlertRecord = Static<typeof AlertRecord>;

export const AlertList = Type.Object(
  { alerts: Type.Array(AlertRecord), next_cursor: NextCursor },
  { title: 'AlertList' },
);
export const AlertQuery = Type.Object({ limit: Limit(100, 50), cursor: Type.Optional(Cursor) });

const AlertChange = Type.Object(
  {
    id: Uuid,
    state: State,
    value: Nullable(Type.Number({ description: 'What was found. Null: a rate without clicks.' })),
    expected: Nullable(Type.Number({ description: 'Of `change`: the mean of the weeks before.' })),
    is_told: Type.Boolean({ description: 'Whether recipients were told. False within the quiet hours.' }),
    at: Instant,
  },
  { title: 'AlertChange' },
);
export const AlertHistory = Type.Object(
  { history: Type.Array(AlertChange), next_cursor: NextUuidCursor },
  { title: 'AlertHistory' },
);
export const AlertHistoryQuery = Type.Object({ limit: Limit(200, 50), cursor: Type.Optional(UuidCursor) });
