import { type Static, Type } from 'typebox';
import { Body, Cursor, Instant, Limit, NAME, NextCursor, Uuid } from '../schemas.ts';

/** Bytes of `query` as JSON in UTF-8. */
export const QUERY_LIMIT = 16_384;

const ViewQuery = Type.Unsafe<Record<string, unknown>>({
  title: 'SavedQuery',
  type: 'object',
  additionalProperties: true,
  description: `What the view shows: the body of a \`POST /analytics/query\`, and choices of the client that saved it. At most ${QUERY_LIMIT} bytes serialized.`,
});

export const SavedViewBody = Body(
  { name: Type.String({ minLength: 1, maxLength: 100, pattern: NAME }), query: ViewQuery },
  { title: 'CreateSavedView' },
);

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
