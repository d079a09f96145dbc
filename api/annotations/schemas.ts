import { type Static, Type } from 'typebox';
import { Body, Cursor, Instant, Limit, NextCursor, Uuid, VisibleText } from '../schemas.ts';

/** Maximum number of annotations of a workspace: one response has all of them. */
export const MOST_ANNOTATIONS = 500;

const At = { ...Instant, description: 'When it happened. A date alone is midnight UTC.' };

export const AnnotationBody = Body({ at: At, text: VisibleText(200) }, { title: 'CreateAnnotation' });

export const AnnotationRecord = Type.Object(
  { id: Uuid, at: Instant, text: Type.String(), created_at: Instant },
  { title: 'Annotation' },
);

/** An annotation as visitors of a shared dashboard see it. */
export const SharedAnnotation = Type.Object(
  { at: Instant, text: Type.String() },
  { title: 'SharedAnnotation' },
);
export type SharedAnnotation = Static<typeof SharedAnnotation>;

export const AnnotationList = Type.Object(
  { annotations: Type.Array(AnnotationRecord), next_cursor: NextCursor },
  { title: 'AnnotationList' },
);

export const AnnotationQuery = Type.Object({
  limit: Limit(MOST_ANNOTATIONS, 100),
  cursor: Type.Optional(Cursor),
});
