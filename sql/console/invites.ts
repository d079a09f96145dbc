import type { Role } from '../../core/access/roles.ts';
import { newSessionToken } from '../../core/access/session-tokens.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import { memberByEmail } from './members.ts';

/** A link that creates a member, or signs in a member who lost the password. */
export type Invite = {
  id: string;
  workspace_id: string;
  /** Null: the invited person enters it. */
  email: string | null;
  role: Role;
  /** The member that the invitation creates, or the existing member with this email. */
  member_id: string;
  /** Both null: the operator of the service. */
  maker_member_id: string | null;
  maker_key_id: string | null;
  expires_at: Date;
};

/** Maker of an invitation: an owner in the console or a key. */
export type InviteMaker = { memberId: string } | { keyId: string };

/**
 * SQL: not accepted and not expired, and its maker is still an owner or an active key. `clock_timestamp()`: a
 * transaction that waited for the workspace may have started before the one that ended the invitation.
 */
const OPEN = `i.used_at IS NULL AND i.expires_at > clock_timestamp()
  AND (i.maker_member_id IS NULL OR EXISTS (SELECT FROM members m
    WHERE m.id = i.maker_member_id AND m.removed_at IS NULL AND m.role = 'owner'))
  AND (i.maker_key_id IS NULL OR EXISTS (SELECT FROM api_keys k
    WHERE k.id = i.maker_key_id AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())))`;

const COLUMNS = `i.id, i.workspace_id, i.email, i.role, i.member_id, i.maker_member_id, i.maker_key_id,
  i.expires_at`;

/** How long an invitation works. A person reads a mail later than a link that an owner passes on. */
const LIFETIMES = { shown: '15 minutes', mailed: '3 days' } as const;

/**
 * Creates an invitation and returns its token, which can't be read again. An invitation for an existing
 * member's email lets that member set another password or passkey, and changes no role. Only that member and the
 * operator may create one, see {@link mayReopen}.
 *
 * @param email trimmed, lower case
 * @param maker the invitation ends with the maker's rights; left out: the operator of the service
 */
export async function createInvite(
  db: Queryable,
  given: {
    workspaceId: string;
    email: string | null;
    role: Role;
    maker?: InviteMaker;
    /** Whether it is mailed to the email. */
    isMailed?: boolean;
  },
): Promise<{ invite: Invite; token: string }> {
  const member = given.email === null ? null : await memberByEmail(db, given.workspaceId, given.email);
  const { token, hash } = newSessionToken();
  const { maker } = given;
  const { rows } = await db.query<Invite>(
    `INSERT INTO invites AS i
       (id, workspace_id, token_hash, role, email, member_id, maker_member_id, maker_key_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval) RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      given.workspaceId,
      hash,
      member?.role ?? given.role,
      given.email,
      member?.id ?? uuidv7(),
      maker && 'memberId' in maker ? maker.memberId : null,
      maker && 'keyId' in maker ? maker.keyId : null,
      LIFETIMES[given.isMailed ? 'mailed' : 'shown'],
    ],
  );
  if (!rows[0]) throw new Error('the invitation was not inserted');
  return { invite: rows[0], token };
}

/** Returns whether an invitation's maker may let this existing member in again. */
export function mayReopen(
  { maker_member_id, maker_key_id }: Pick<Invite, 'maker_member_id' | 'maker_key_id'>,
  memberId: string,
): boolean {
  return maker_key_id === null && (maker_member_id === null || maker_member_id === memberId);
}

/** Returns the invitation with this token's hash that can still be accepted, with its workspace's name, or null. */
export async function openInvite(
  db: Queryable,
  tokenHash: Buffer,
): Promise<(Invite & { workspace_name: string }) | null> {
  const { rows } = await db.query<Invite & { workspace_name: string }>(
    `SELECT ${COLUMNS}, w.name AS workspace_name
     FROM invites i JOIN workspaces w ON w.id = i.workspace_id
     WHERE i.token_hash = $1 AND ${OPEN}`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** Consumes an invitation; null when it was used or has expired. Of two concurrent calls one gets it. */
export async function consumeInvite(tx: Queryable, tokenHash: Buffer): Promise<Invite | null> {
  const { rows } = await tx.query<Invite>(
    `UPDATE invites i SET used_at = now() WHERE i.token_hash = $1 AND ${OPEN} RETURNING ${COLUMNS}`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/**
 * Consumes the open invitations that name an email, and returns the newest; null without one. For a person who proved
 * to have that email.
 * @param email trimmed, lower case
 */
export async function consumeInvitesFor(
  tx: Queryable,
  workspaceId: string,
  email: string,
): Promise<Invite | null> {
  const { rows } = await tx.query<Invite>(
    `UPDATE invites i SET used_at = now() WHERE i.workspace_id = $1 AND i.email = $2 AND ${OPEN}
     RETURNING ${COLUMNS}`,
    [workspaceId, email],
  );
  return rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0] ?? null;
}

/** Ends a member's own open invitations and those it made, so that it can't come back or let others in. */
export async function endInvitesOf(tx: Queryable, memberId: string): Promise<void> {
  await tx.query(
    `UPDATE invites i SET expires_at = now() FROM members m
     WHERE m.id = $1 AND i.workspace_id = m.workspace_id AND i.used_at IS NULL AND i.expires_at > now()
       AND (i.member_id = m.id OR i.email = m.email OR i.maker_member_id = m.id)`,
    [memberId],
  );
}
