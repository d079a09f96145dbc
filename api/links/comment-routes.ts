import { mayDo } from '../../core/access/roles.ts';
import { AppError } from '../../core/errors.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import {
  type CommentAuthor,
  commentById,
  countComments,
  deleteComment,
  insertComment,
  listComments,
} from '../../sql/links/comments.ts';
import { namedLinksByIds } from '../../sql/links/links.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps, Auth } from '../dependencies.ts';
import { cutPage, readCursor } from '../pages.ts';
import { withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { noSuchLink } from './change.ts';
import {
  CommentBody,
  CommentList,
  CommentParams,
  CommentQuery,
  CommentRecord,
  MOST_COMMENTS,
} from './comment-schemas.ts';

const CONFIG = { scope: 'secret', plan: 'paid' } as const;
const tags = ['Links'];

/** @throws {AppError} `not_found` for a link that the workspace does not have */
async function requireLink(db: Queryable, workspaceId: string, id: string): Promise<void> {
  if ((await namedLinksByIds(db, workspaceId, [id])).length === 0) throw noSuchLink();
}

const authorOf = ({ member, key }: Auth): Pick<CommentAuthor, 'type' | 'id'> =>
  member ? { type: 'member', id: member.id } : { type: 'key', id: key.id };

/** Whether a caller may delete a comment: its author, an owner, and a key with `manage`. */
function mayDelete(auth: Auth, { type, id }: CommentAuthor): boolean {
  const own = authorOf(auth);
  return (
    (own.type === type && own.id === id) || (auth.member ? mayDo(auth.member.role, 'owner') : auth.key.manage)
  );
}

/** Registers the routes of comments on links, for the members of a workspace. Secret key, paid plan. */
export async function linkCommentRoutes(app: Api, { pool }: ApiDeps): Promise<void> {
  app.get(
    '/links/:id/comments',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'links.listComments',
        summary: 'List the comments on a link, newest first',
        params: IdParams,
        querystring: CommentQuery,
        response: { 200: CommentList },
      },
    },
    async ({ auth, params, query: { limit, cursor } }) => {
      const workspaceId = auth.workspace.id;
      const before = readCursor(cursor);
      await requireLink(pool, workspaceId, params.id);
      const page = cutPage(
        await listComments(pool, workspaceId, params.id, { before, limit: limit + 1 }),
        limit,
      );
      return { comments: page.rows, next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/links/:id/comments',
    {
      config: { ...CONFIG, idempotent: true, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'links.createComment',
        summary: 'Comment on a link',
        description: `Members of the workspace see it on the link's page; visitors never do. A link has at most ${MOST_COMMENTS} comments; else 409.`,
        params: IdParams,
        body: CommentBody,
        response: { 201: CommentRecord },
      },
    },
    async (request, reply) => {
      const { auth, params, body } = request;
      return withIdempotency(pool, request, reply, async (tx) => {
        const { id: workspaceId } = await lockWorkspace(tx, auth.workspace.id);
        await requireLink(tx, workspaceId, params.id);
        if ((await countComments(tx, workspaceId, params.id)) >= MOST_COMMENTS) {
          throw new AppError('conflict', `a link has at most ${MOST_COMMENTS} comments; delete one`);
        }
        const given = { linkId: params.id, author: authorOf(auth), text: body.text };
        return { status: 201, body: await insertComment(tx, workspaceId, given) };
      });
    },
  );

  app.delete(
    '/links/:id/comments/:comment_id',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'links.deleteComment',
        summary: 'Delete a comment on a link',
        description: 'For its author, an owner, and a key with `manage`; else 403.',
        params: CommentParams,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { auth, params } = request;
      const workspaceId = auth.workspace.id;
      await inTransaction(pool, async (tx) => {
        await requireLink(tx, workspaceId, params.id);
        const comment = await commentById(tx, workspaceId, params.id, params.comment_id);
        if (!comment) throw new AppError('not_found', 'the link has no such comment');
        if (!mayDelete(auth, comment.author)) {
          throw new AppError('forbidden', 'only the author of a comment, or an owner, may delete it');
        }
        await deleteComment(tx, workspaceId, comment.id);
        await request.audit(tx, { details: { comment_id: comment.id } });
      });
      return { ok: true as const };
    },
  );
}
