import { type Static, Type } from 'typebox';
import { AnalyticsQuery } from '../analytics/schemas.ts';
import { Body, Cursor, Instant, Limit, Name, NextCursor, ReadBody, Uuid } from '../schemas.ts';

/** Bytes of `query` as JSON in UTF-8. */
export const QUERY_LIMIT = 16_384;

export const ViewQuery = Type.Unsafe<Record<string, unknown>>({
  title: 'SavedQuery',
  type: 'object',
  additionalProperties: true,
  description: `What the view shows: the body of a \`POST /analytics/query\`, whose fields may all be left out, and \`address\`, a text of the client that saved it. Kept as sent. An unknown field is refused, as is a value that no click can have, and a metric or dimension given twice. At most ${QUERY_LIMIT} bytes serialized.`,
});

const { metrics, ...others } = AnalyticsQuery.properties;

/** The schema that checks a view's query. The query is stored as it was sent. */
export const CheckedView = ReadBody({
  query: ReadBody({ metrics: Type.Optional(metrics), ...others, address: Type.Optional(Type.String()) }),
});
export type CheckedView = Static<typeof CheckedView>;

export const SavedViewBody = Body({ name: Name, query: ViewQuery }, { title: 'CreateSavedView' });

export const SavedViewRecord = Type.Object(
  { id: Uuid, name: Type.String(), query: ViewQuery, created_at: Instant },
  { title: 'SavedView' },
);
export type SavedViewRecord = Static<typeof SavedViewRecord>;

export const SavedViewList = Type.Object(
  { saved_views: Type.Array(SavedViewRecord), next_cursor: NextCursor },
  { title: 'SavedViewList' },
);

export const SavedViewQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(Cursor) });
