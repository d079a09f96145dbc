import { Type } from 'typebox';
import { Body, Cursor, Instant, Limit, NextCursor, Nullable, OneOf, Uuid, VisibleText } from '../schemas.ts';

/** Maximum number of comments on a link. */
export const MOST_COMMENTS = 500;
const TEXT_LIMIT = 2_000;

export const CommentBody = Body({ text: VisibleText(TEXT_LIMIT) }, { title: 'CreateLinkComment' });

export const CommentQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(Cursor) });

export const CommentParams = Type.Object({ id: Uuid, comment_id: Uuid });

export const CommentRecord = Type.Object(
  {
    id: Uuid,
    link_id: Uuid,
    text: Type.String(),
    author: Type.Object(
      {
        type: OneOf(['member', 'key'], { title: 'LinkCommentAuthorType' }),
        id: Uuid,
        name: Nullable(Type.String({ description: "A member's email, or a key's label." })),
      },
      { title: 'LinkCommentAuthor' },
    ),
    created_at: Instant,
  },
  { title: 'LinkComment' },
);

export const CommentList = Type.Object(
  { comments: Type.Array(CommentRecord), next_cursor: NextCursor },
  { title: 'LinkCommentList' },
);
