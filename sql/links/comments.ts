import { uuidv7 } from '../../core/ids.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Who wrote a comment. `name`: a member's email, or a key's label. */
export type CommentAuthor = { type: 'member' | 'key'; id: string; name: string | null };

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type LinkComment = {
  id: string;
  link_id: string;
  text: string;
  author: CommentAuthor;
  created_at: string;
};

const SELECT = `SELECT c.id, c.link_id, c.text,
    jsonb_build_object('type', CASE WHEN c.key_id IS NULL THEN 'member' ELSE 'key' END,
      'id', coalesce(c.member_id, c.key_id), 'name', nullif(coalesce(m.email, k.label), '')) AS author,
    ${isoMicros('c.created_at')} AS created_at
  FROM link_comments c LEFT JOIN members m ON m.id = c.member_id LEFT JOIN api_keys k ON k.id = c.key_id
  WHERE c.workspace_id = $1`;

/** Creates a comment. The caller has locked the workspace: creation times are unique in it. */
export async function insertComment(
  tx: Queryable,
  workspaceId: string,
  given: { linkId: string; author: Pick<CommentAuthor, 'type' | 'id'>; text: string },
): Promise<LinkComment> {
  const { linkId, author, text } = given;
  const id = uuidv7();
  await tx.query(
    `INSERT INTO link_comments (id, workspace_id, link_id, member_id, key_id, text, created_at)
     SELECT $1, $2, $3, $4, $5, $6, ${nextCreation('link_comments', '$2')}`,
    [
      id,
      workspaceId,
      linkId,
      author.type === 'member' ? author.id : null,
      author.type === 'key' ? author.id : null,
      text,
    ],
  );
  const comment = await commentById(tx, workspaceId, linkId, id);
  if (!comment) throw new Error('the comment was not inserted');
  return comment;
}

/** Returns the number of comments on a link. */
export async function countComments(db: Queryable, workspaceId: string, linkId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM link_comments WHERE workspace_id = $1 AND link_id = $2',
    [workspaceId, linkId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns the comments on a link, newest first.
 *
 * @param page.before ISO 8601 with microseconds: older ones only
 */
export async function listComments(
  db: Queryable,
  workspaceId: string,
  linkId: string,
  page: { before: string | null; limit: number },
): Promise<LinkComment[]> {
  const { rows } = await db.query<LinkComment>(
    `${SELECT} AND c.link_id = $2 AND ($3::timestamptz IS NULL OR c.created_at < $3)
     ORDER BY c.created_at DESC LIMIT $4`,
    [workspaceId, linkId, page.before, page.limit],
  );
  return rows;
}

/** Returns a comment on a link, or null. */
export async function commentById(
  db: Queryable,
  workspaceId: string,
  linkId: string,
  id: string,
): Promise<LinkComment | null> {
  const { rows } = await db.query<LinkComment>(`${SELECT} AND c.link_id = $2 AND c.id = $3`, [
    workspaceId,
    linkId,
    id,
  ]);
  return rows[0] ?? null;
}

/** Deletes a comment. */
export async function deleteComment(tx: Queryable, workspaceId: string, id: string): Promise<void> {
  await tx.query('DELETE FROM link_comments WHERE workspace_id = $1 AND id = $2', [workspaceId, id]);
}
