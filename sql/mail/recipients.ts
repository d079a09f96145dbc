import type { Queryable } from '../database/pool.ts';

/** Returns the email of a member who can sign in, or null. */
export async function emailOfMember(db: Queryable, memberId: string): Promise<string | null> {
  const { rows } = await db.query<{ email: string | null }>(
    'SELECT email FROM members WHERE id = $1 AND removed_at IS NULL',
    [memberId],
  );
  return rows[0]?.email ?? null;
}

/** Returns the emails of a workspace's owners. */
export async function emailsOfOwners(db: Queryable, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ email: string }>(
    `SELECT email FROM members
     WHERE workspace_id = $1 AND role = 'owner' AND removed_at IS NULL AND email IS NOT NULL ORDER BY email`,
    [workspaceId],
  );
  return rows.map(({ email }) => email);
}

/**
 * Returns the label of a key, and the name of the member, key or partner that changed it; null: without one.
 */
export async function namesOfKeyChange(
  db: Queryable,
  keyId: string | null,
  actorId: string | null,
): Promise<{ label: string | null; by: string | null }> {
  const { rows } = await db.query<{ label: string | null; by: string | null }>(
    `SELECT (SELECT nullif(label, '') FROM api_keys WHERE id = $1) AS label,
       coalesce((SELECT email FROM members WHERE id = $2), (SELECT nullif(label, '') FROM api_keys WHERE id = $2),
         (SELECT name FROM partners WHERE id = $2)) AS by`,
    [keyId, actorId],
  );
  return rows[0] ?? { label: null, by: null };
}
