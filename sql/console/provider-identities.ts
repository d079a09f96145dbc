import type { Queryable } from '../database/pool.ts';

/** A person at the identity provider. */
export type ProviderIdentity = { issuer: string; subject: string };

/** Returns the member of a workspace that this person signed in as, and whether that member was removed; or null. */
export async function memberOfIdentity(
  db: Queryable,
  workspaceId: string,
  { issuer, subject }: ProviderIdentity,
): Promise<{ id: string; is_removed: boolean } | null> {
  const { rows } = await db.query<{ id: string; is_removed: boolean }>(
    `SELECT m.id, m.removed_at IS NOT NULL AS is_removed
     FROM provider_identities i JOIN members m ON m.id = i.member_id
     WHERE i.workspace_id = $1 AND i.issuer = $2 AND i.subject = $3`,
    [workspaceId, issuer, subject],
  );
  return rows[0] ?? null;
}

/** Returns whether a member signed in before as another person of this issuer. */
export async function hasOtherIdentity(
  db: Queryable,
  memberId: string,
  { issuer, subject }: ProviderIdentity,
): Promise<boolean> {
  const { rows } = await db.query(
    'SELECT 1 FROM provider_identities WHERE member_id = $1 AND issuer = $2 AND subject <> $3',
    [memberId, issuer, subject],
  );
  return rows.length > 0;
}

/** Links a person to a member. The link replaces one to a removed member. */
export async function linkIdentity(
  db: Queryable,
  given: { workspaceId: string; memberId: string } & ProviderIdentity,
): Promise<void> {
  await db.query(
    `INSERT INTO provider_identities (workspace_id, issuer, subject, member_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workspace_id, issuer, subject) DO UPDATE SET member_id = $4`,
    [given.workspaceId, given.issuer, given.subject, given.memberId],
  );
}

/**
 * Ends a member's links to persons of identity providers; the next sign-in with the member's email creates a new one.
 * Returns whether there was one.
 */
export async function unlinkIdentities(db: Queryable, memberId: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM provider_identities WHERE member_id = $1', [memberId]);
  return (rowCount ?? 0) > 0;
}

/** Returns whether the workspace removed a member with this email. */
export async function hasRemovedMember(db: Queryable, workspaceId: string, email: string): Promise<boolean> {
  const { rows } = await db.query(
    'SELECT 1 FROM members WHERE workspace_id = $1 AND email = $2 AND removed_at IS NOT NULL LIMIT 1',
    [workspaceId, email],
  );
  return rows.length > 0;
}

/** Returns whether a member signed in with this issuer before. */
export async function isLinked(db: Queryable, memberId: string, issuer: string): Promise<boolean> {
  const { rows } = await db.query(
    'SELECT 1 FROM provider_identities WHERE member_id = $1 AND issuer = $2 LIMIT 1',
    [memberId, issuer],
  );
  return rows.length > 0;
}
