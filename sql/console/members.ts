import type { Role } from '../../core/access/roles.ts';
import type { Queryable } from '../database/pool.ts';
import { deleteTwoFactor } from './two-factor.ts';

/** A member of a workspace without secrets. */
export type Member = {
  id: string;
  workspace_id: string;
  email: string | null;
  role: Role;
  has_password: boolean;
  passkeys: number;
  /** Signed in with an identity provider, and is tied to a person there. */
  is_provider_linked: boolean;
  created_at: Date;
  last_seen_at: Date | null;
};

const COLUMNS = `m.id, m.workspace_id, m.email, m.role, m.password_hash IS NOT NULL AS has_password,
  (SELECT count(*) FROM passkeys p WHERE p.member_id = m.id) AS passkeys,
  EXISTS (SELECT FROM provider_identities i WHERE i.member_id = m.id) AS is_provider_linked, m.created_at, m.last_seen_at`;

/** SQL: can sign in. */
const CURRENT = 'm.workspace_id = $1 AND m.removed_at IS NULL';

/** Returns the members of a workspace, oldest first. */
export async function listMembers(db: Queryable, workspaceId: string): Promise<Member[]> {
  const { rows } = await db.query<Member>(
    `SELECT ${COLUMNS} FROM members m WHERE ${CURRENT} ORDER BY m.created_at, m.id`,
    [workspaceId],
  );
  return rows;
}

/** Returns the member with this id in the workspace, or null. */
export async function memberById(db: Queryable, workspaceId: string, id: string): Promise<Member | null> {
  const { rows } = await db.query<Member>(`SELECT ${COLUMNS} FROM members m WHERE ${CURRENT} AND m.id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0] ?? null;
}

/**
 * Returns the member with this email in the workspace, or null.
 * @param email trimmed, lower case
 */
export async function memberByEmail(
  db: Queryable,
  workspaceId: string,
  email: string,
): Promise<Member | null> {
  const { rows } = await db.query<Member>(
    `SELECT ${COLUMNS} FROM members m WHERE ${CURRENT} AND m.email = $2`,
    [workspaceId, email],
  );
  return rows[0] ?? null;
}

/**
 * Returns the workspaces with a member of this email, by name, and whether the identity provider signs that member in.
 *
 * @param email trimmed, lower case
 */
export async function workspacesOfEmail(
  db: Queryable,
  email: string,
): Promise<{ id: string; slug: string; is_linked: boolean }[]> {
  const { rows } = await db.query<{ id: string; slug: string; is_linked: boolean }>(
    `SELECT w.id, w.slug, EXISTS (SELECT FROM provider_identities i WHERE i.member_id = m.id) AS is_linked
     FROM members m JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.email = $1 AND m.removed_at IS NULL ORDER BY w.slug`,
    [email],
  );
  return rows;
}

/** A member that may be signing in, with its workspace and password. */
export type PasswordHolder = {
  member_id: string;
  workspace_id: string;
  workspace_name: string;
  password_hash: string;
  has_second_factor: boolean;
};

/**
 * Returns every member with this email and a password, last active first. It returns all of them, because anyone may
 * add another person's email to a workspace.
 *
 * @param workspaceId null: in all workspaces
 */
export async function passwordHolders(
  db: Queryable,
  email: string,
  workspaceId: string | null,
): Promise<PasswordHolder[]> {
  const { rows } = await db.query<PasswordHolder>(
    `SELECT m.id AS member_id, m.workspace_id, w.name AS workspace_name, m.password_hash,
       a.confirmed_at IS NOT NULL AS has_second_factor
     FROM members m JOIN workspaces w ON w.id = m.workspace_id
       LEFT JOIN authenticator_apps a ON a.member_id = m.id
     WHERE m.email = $1 AND m.removed_at IS NULL AND m.password_hash IS NOT NULL
       AND ($2::uuid IS NULL OR m.workspace_id = $2)
     ORDER BY m.last_seen_at DESC NULLS LAST, m.id`,
    [email, workspaceId],
  );
  return rows;
}

/** Returns the member's password hash; null when it has none. */
export async function passwordHashOf(db: Queryable, id: string): Promise<string | null> {
  const { rows } = await db.query<{ password_hash: string | null }>(
    'SELECT password_hash FROM members WHERE id = $1',
    [id],
  );
  return rows[0]?.password_hash ?? null;
}

/**
 * Creates a member. Returns false when the workspace has one with this email.
 *
 * @param given the maker's ids are those of the invitation
 */
export async function insertMember(
  tx: Queryable,
  given: {
    id: string;
    workspaceId: string;
    email: string | null;
    role: Role;
    makerKeyId: string | null;
    makerMemberId: string | null;
  },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO members (id, workspace_id, email, role, maker_key_id, maker_member_id)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (email, workspace_id) WHERE removed_at IS NULL DO NOTHING`,
    [given.id, given.workspaceId, given.email, given.role, given.makerKeyId, given.makerMemberId],
  );
  return rowCount === 1;
}

export async function setPassword(db: Queryable, id: string, passwordHash: string): Promise<void> {
  await db.query('UPDATE members SET password_hash = $2 WHERE id = $1', [id, passwordHash]);
}

/** Replaces the hash of a password by another hash of it, unless the password was changed meanwhile. */
export async function replacePasswordHash(
  db: Queryable,
  id: string,
  from: string,
  to: string,
): Promise<void> {
  await db.query('UPDATE members SET password_hash = $3 WHERE id = $1 AND password_hash = $2', [
    id,
    from,
    to,
  ]);
}

export async function setRole(db: Queryable, id: string, role: Role): Promise<void> {
  await db.query('UPDATE members SET role = $2 WHERE id = $1', [id, role]);
}

/** Returns how many owners the workspace has. Lock the workspace first if the number must not change. */
export async function countOwners(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ owners: number }>(
    `SELECT count(*) AS owners FROM members m WHERE ${CURRENT} AND m.role = 'owner'`,
    [workspaceId],
  );
  return rows[0]?.owners ?? 0;
}

/** Removes a member with its password, second factor, passkeys and sessions. The caller has locked the workspace. */
export async function removeMember(tx: Queryable, id: string): Promise<void> {
  await tx.query('UPDATE members SET removed_at = now(), password_hash = NULL WHERE id = $1', [id]);
  await tx.query('DELETE FROM passkeys WHERE member_id = $1', [id]);
  await tx.query('DELETE FROM sessions WHERE member_id = $1', [id]);
  await deleteTwoFactor(tx, id);
}

/** Locks a member's row until the transaction ends. */
export async function lockMember(tx: Queryable, id: string): Promise<void> {
  await tx.query('SELECT 1 FROM members WHERE id = $1 FOR NO KEY UPDATE', [id]);
}
