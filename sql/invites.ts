import { uuidv7 } from '../core/ids.ts';
import type { Role } from '../core/roles.ts';
import { newSessionToken } from '../core/session-tokens.ts';
import { memberByEmail } from './members.ts';
import type { Queryable } from './pool.ts';

/** A link that makes a member, or lets one in again. */
export type Invite = {
  id: string;
  workspace_id: string;
  /** Null: the invited person says it. */
  email: string | null;
  role: Role;
  /** Whom it makes; of an email that a member has: that member. */
  member_id: string;
  expires_at: Date;
};

const COLUMNS = 'id, workspace_id, email, role, member_id, expires_at';

/**
 * Makes an invitation for 15 minutes and returns its token, which can't be had a second time. One for a member's own
 * email lets that member set another password or passkey, and changes no role.
 *
 * @param email trimmed, lower case
 */
export async function createInvite(
  db: Queryable,
  given: { workspaceId: string; email: string | null; role: Role },
): Promise<{ invite: Invite; token: string }> {
  const member = given.email === null ? null : await memberByEmail(db, given.workspaceId, given.email);
  const { token, hash } = newSessionToken();
  const { rows } = await db.query<Invite>(
    `INSERT INTO invites (id, workspace_id, token_hash, role, email, member_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + interval '15 minutes') RETURNING ${COLUMNS}`,
    [uuidv7(), given.workspaceId, hash, member?.role ?? given.role, given.email, member?.id ?? uuidv7()],
  );
  if (!rows[0]) throw new Error('the invitation was not inserted');
  return { invite: rows[0], token };
}

/** The invitation with this token's hash that can still be accepted, with its workspace's name, or null. */
export async function openInvite(
  db: Queryable,
  tokenHash: Buffer,
): Promise<(Invite & { workspace_name: string }) | null> {
  const { rows } = await db.query<Invite & { workspace_name: string }>(
    `SELECT ${COLUMNS.split(', ')
      .map((column) => `i.${column}`)
      .join(', ')}, w.name AS workspace_name
     FROM invites i JOIN workspaces w ON w.id = i.workspace_id
     WHERE i.token_hash = $1 AND i.used_at IS NULL AND i.expires_at > now()`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** Uses an invitation up; null when it was, or has expired. Of two at once one gets it. */
export async function takeInvite(tx: Queryable, tokenHash: Buffer): Promise<Invite | null> {
  const { rows } = await tx.query<Invite>(
    `UPDATE invites SET used_at = now() WHERE token_hash = $1 AND used_at IS NULL AND expires_at > now()
     RETURNING ${COLUMNS}`,
    [tokenHash],
  );
  return rows[0] ?? null;
}
