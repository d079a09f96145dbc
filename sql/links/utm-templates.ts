import { uuidv7 } from '../../core/ids.ts';
import { NOT_AHEAD } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** UTM parameters under a name; null: not of the template. */
export type UtmTemplateFields = {
  name: string;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  utm_term: string | null;
  utm_content: string | null;
};

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type UtmTemplate = UtmTemplateFields & { id: string; created_at: string };

const COLUMNS = `id, name, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
  ${isoMicros('created_at')} AS created_at`;

/** Creates a template. The caller has locked the workspace: creation times are unique in it. */
export async function insertUtmTemplate(
  tx: Queryable,
  workspaceId: string,
  { name, utm_source, utm_medium, utm_campaign, utm_term, utm_content }: UtmTemplateFields,
): Promise<UtmTemplate> {
  const { rows } = await tx.query<UtmTemplate>(
    `INSERT INTO utm_templates (id, workspace_id, name, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
       created_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, GREATEST(date_trunc('microseconds', clock_timestamp()),
       (SELECT max(created_at) + interval '1 microsecond' FROM utm_templates
        WHERE workspace_id = $2 AND ${NOT_AHEAD}))
     RETURNING ${COLUMNS}`,
    [uuidv7(), workspaceId, name, utm_source, utm_medium, utm_campaign, utm_term, utm_content],
  );
  if (!rows[0]) throw new Error('the UTM template was not inserted');
  return rows[0];
}

/** Returns how many templates the workspace has. */
export async function countUtmTemplates(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM utm_templates WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns the templates of a workspace, newest first.
 *
 * @param page.before ISO 8601 with microseconds: older ones only
 */
export async function listUtmTemplates(
  db: Queryable,
  workspaceId: string,
  page: { before: string | null; limit: number },
): Promise<UtmTemplate[]> {
  const { rows } = await db.query<UtmTemplate>(
    `SELECT ${COLUMNS} FROM utm_templates
     WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR utm_templates.created_at < $2)
     ORDER BY utm_templates.created_at DESC LIMIT $3`,
    [workspaceId, page.before, page.limit],
  );
  return rows;
}

/** Deletes a template. Links keep their parameters. @returns false when the workspace has none with this id */
export async function deleteUtmTemplate(db: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM utm_templates WHERE id = $1 AND workspace_id = $2', [
    id,
    workspaceId,
  ]);
  return rowCount === 1;
}
