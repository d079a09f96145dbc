import type { Queryable } from '../database/pool.ts';

/** The folder of a link now, and those that it has left, oldest first. Null: none. */
export type LinkFolders = { now: string | null; left: readonly { folder: string | null; until: number }[] };

/** Returns the folders of these links, by link. Deleted links keep theirs. */
export async function linkFolders(
  db: Queryable,
  linkIds: readonly string[],
): Promise<Map<string, LinkFolders>> {
  if (linkIds.length === 0) return new Map();
  const { rows } = await db.query<{ id: string } & LinkFolders>(
    `SELECT l.id, d.folder_id AS now, coalesce((
       SELECT json_agg(json_build_object('folder', move.folder_id,
         'until', (extract(epoch FROM move.moved_at) * 1000000)::bigint) ORDER BY move.moved_at)
       FROM link_folder_moves AS move WHERE move.link_id = l.id), '[]') AS left
     FROM links l JOIN destinations d ON d.id = l.destination_id WHERE l.id = ANY ($1::uuid[])`,
    [linkIds],
  );
  return new Map(rows.map(({ id, ...folders }) => [id, folders]));
}

/** Returns the folder that a link was in. @param at microseconds since the epoch */
export function folderAt(folders: LinkFolders, at: number): string | null {
  const next = folders.left.find(({ until }) => until > at);
  return next ? next.folder : folders.now;
}

/** Deletes moves before `before`, milliseconds since the epoch: the clicks before them are delivered. */
export async function deleteOldMoves(db: Queryable, before: number): Promise<number> {
  const { rowCount } = await db.query(
    'DELETE FROM link_folder_moves WHERE moved_at < to_timestamp($1::float8 / 1000)',
    [before],
  );
  return rowCount ?? 0;
}
