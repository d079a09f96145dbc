import { createHash } from 'node:crypto';
import { type PictureFormat, picturePath } from '../../core/bio/pictures.ts';
import type { Queryable } from '../database/pool.ts';

/** An uploaded picture, as re-encoded. */
export type Picture = { content: Buffer; format: PictureFormat; width: number; height: number };

/** A picture that no page and no asset uses is deleted this long after its upload, or after it was last saved in one. */
const UNUSED_AGE = '1 day';

/**
 * Stores a picture, unless the workspace has it. The caller has locked the workspace.
 *
 * @param limit bytes of all pictures of the workspace
 * @returns its name, and whether it is new; or the bytes that the others take, when it exceeds the limit
 */
export async function storePicture(
  tx: Queryable,
  workspaceId: string,
  { content, format, width, height }: Picture,
  limit: number,
): Promise<{ name: string; isNew: boolean } | { used: number }> {
  const name = `${createHash('sha256').update(content).digest('hex')}.${format}`;
  if ((await touchPictures(tx, workspaceId, [name])).length > 0) return { name, isNew: false };
  const { rows } = await tx.query<{ used: number }>(
    'SELECT coalesce(sum(octet_length(content)), 0)::float8 AS used FROM pictures WHERE workspace_id = $1',
    [workspaceId],
  );
  const used = rows[0]?.used ?? 0;
  if (used + content.length > limit) return { used };
  await tx.query(
    `INSERT INTO pictures (workspace_id, name, format, content, width, height, created_at, used_at)
     VALUES ($1, $2, $3, $4, $5, $6, now(), now())`,
    [workspaceId, name, format, content, width, height],
  );
  return { name, isNew: true };
}

/**
 * Keeps pictures that a page or an asset is saved with. The update makes {@link deleteUnusedPictures} pass over them until the
 * transaction ends.
 *
 * @returns the names that the workspace has
 */
export async function touchPictures(
  tx: Queryable,
  workspaceId: string,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const { rows } = await tx.query<{ name: string }>(
    'UPDATE pictures SET used_at = now() WHERE workspace_id = $1 AND name = ANY ($2) RETURNING name',
    [workspaceId, names],
  );
  return rows.map(({ name }) => name);
}

/** Returns the bytes of pictures, by name, of any workspace that is not suspended. */
export async function pictureContents(db: Queryable, names: readonly string[]): Promise<Map<string, Buffer>> {
  const { rows } = await db.query<{ name: string; content: Buffer }>(
    `SELECT DISTINCT ON (pictures.name) pictures.name, content
     FROM pictures JOIN workspaces ON workspaces.id = workspace_id
     WHERE pictures.name = ANY ($1) AND suspended_at IS NULL`,
    [names],
  );
  return new Map(rows.map(({ name, content }) => [name, content]));
}

/**
 * Deletes pictures that no page and no asset has used for a day. It looks at `limit` of them; those in use are looked at again a day
 * later.
 *
 * @returns how many were looked at, and how many deleted
 */
export async function deleteUnusedPictures(
  db: Queryable,
  limit: number,
): Promise<{ seen: number; deleted: number }> {
  const { rows } = await db.query<{ is_used: boolean }>(
    `WITH old AS MATERIALIZED (
       SELECT workspace_id, name FROM pictures WHERE used_at < now() - interval '${UNUSED_AGE}'
       ORDER BY used_at LIMIT $1 FOR UPDATE SKIP LOCKED
     ), judged AS MATERIALIZED (
       SELECT workspace_id, name,
         EXISTS (SELECT FROM bio_pages p WHERE p.workspace_id = old.workspace_id AND $2 || old.name
           IN (p.avatar_url, p.theme ->> 'canvasValue', p.theme ->> 'footerImage'))
         OR EXISTS (SELECT FROM bio_pages p JOIN bio_buttons b ON b.page_id = p.id
           WHERE p.workspace_id = old.workspace_id AND b.image_url = $2 || old.name)
         OR EXISTS (SELECT FROM assets a
           WHERE a.workspace_id = old.workspace_id AND a.picture_name = old.name) AS is_used
       FROM old
     ), kept AS (
       UPDATE pictures SET used_at = now() FROM judged
       WHERE pictures.workspace_id = judged.workspace_id AND pictures.name = judged.name AND is_used
     ), gone AS (
       DELETE FROM pictures USING judged
       WHERE pictures.workspace_id = judged.workspace_id AND pictures.name = judged.name AND NOT is_used
     )
     SELECT is_used FROM judged`,
    [limit, picturePath('')],
  );
  return { seen: rows.length, deleted: rows.filter(({ is_used }) => !is_used).length };
}
