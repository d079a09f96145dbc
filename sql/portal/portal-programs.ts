import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../database/pool.ts';
import { OWN_DOMAIN } from '../links/slugs.ts';

/**
 * Returns the program that has or had this code, ignoring case, or null: a page that was shared stays where it was.
 */
export async function programOfCode(
  db: Queryable,
  code: string,
): Promise<{ id: string; workspace_id: string } | null> {
  const { rows } = await db.query<{ id: string; workspace_id: string }>(
    `SELECT p.id, p.workspace_id FROM slugs s JOIN programs p ON p.id = s.target_id
     WHERE s.domain_number = ${OWN_DOMAIN} AND s.slug = $1`,
    [slugKey(code)],
  );
  return rows[0] ?? null;
}

/** Returns whether somebody is in the program by an application, and may want to sign in. */
export async function hasAffiliates(db: Queryable, programId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM applications WHERE program_id = $1 AND status = 'approved' LIMIT 1",
    [programId],
  );
  return rowCount !== 0;
}
