import { uuidv7 } from '../../core/ids.ts';
import { NOT_AHEAD } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** An event of the workspace that charts show. Times: ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Annotation = { id: string; at: string; text: string; created_at: string };

const COLUMNS = `id, ${isoMicros('at')} AS at, text, ${isoMicros('created_at')} AS created_at`;

/** Creates an annotation. The caller has locked the workspace: creation times are unique in it. */
export async function insertAnnotation(
  tx: Queryable,
  workspaceId: string,
  { at, text }: Pick<Annotation, 'at' | 'text'>,
): Promise<Annotation> {
  const { rows } = await tx.query<Annotation>(
    `INSERT INTO annotations (id, workspace_id, at, text, created_at)
     SELECT $1, $2, $3, $4, GREATEST(date_trunc('microseconds', clock_timestamp()),
       (SELECT max(created_at) + interval '1 microsecond' FROM annotations
        WHERE workspace_id = $2 AND ${NOT_AHEAD}))
     RETURNING ${COLUMNS}`,
    [uuidv7(), workspaceId, at, text],
  );
  if (!rows[0]) throw new Error('the annotation was not inserted');
  return rows[0];
}

/** Returns how many annotations the workspace has. */
export async function countAnnotations(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM annotations WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns the annotations of a workspace, newest first.
 *
 * @param page.before ISO 8601 with microseconds: older ones only
 */
export async function listAnnotations(
  db: Queryable,
  workspaceId: string,
  page: { before: string | null; limit: number },
): Promise<Annotation[]> {
  const { rows } = await db.query<Annotation>(
    `SELECT ${COLUMNS} FROM annotations
     WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR annotations.created_at < $2)
     ORDER BY annotations.created_at DESC LIMIT $3`,
    [workspaceId, page.before, page.limit],
  );
  return rows;
}

/** Deletes an annotation. @returns false when the workspace has none with this id */
export async function deleteAnnotation(db: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM annotations WHERE id = $1 AND workspace_id = $2', [
    id,
    workspaceId,
  ]);
  return rowCount === 1;
}
