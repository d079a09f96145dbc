import type { Role } from '../../core/access/roles.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import { type Workspace, workspaceColumns } from '../workspaces/workspaces.ts';

/** Longest life of a session, even when it is used. Seconds. */
export const SESSION_SECONDS = 90 * 86_400;
/**
 * Life of a session from the identity provider: after it, a person whom the provider removed has no access. Seconds.
 */
const PROVIDED_SESSION_SECONDS = 12 * 3_600;

/**
 * SQL: not expired, and used within 14 days. A session that was used while the clock was ahead ends too, because
 * nothing else would end it for that long.
 */
export const ALIVE = `s.expires_at > now() AND s.last_seen_at > now() - interval '14 days'
  AND s.last_seen_at < now() + interval '1 hour'`;

/** Minutes for which a proof that the member is at the browser allows changes of access. */
export const CONFIRMED_MINUTES = 10;
/** SQL: confirmed recently. A time in the future comes from a wrong clock. */
const CONFIRMED = `(s.confirmed_at > now() - interval '${CONFIRMED_MINUTES} minutes'
  AND s.confirmed_at < now() + interval '1 minute')`;

/** A signed-in browser as its member sees it. */
export type SessionRecord = {
  id: string;
  user_agent: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
};

/** The workspace, session and member of a cookie. */
export type SessionCaller = {
  workspace: Workspace;
  /** `is_confirmed`: the member signed in, or confirmed their identity, within {@link CONFIRMED_MINUTES}. */
  session: SessionRecord & { is_confirmed: boolean; browser_id: string; shows_first_steps: boolean };
  member: { id: string; email: string | null; role: Role };
};

/** A member that signs in; with a password, the hash that it matched. */
export type SigningIn = {
  workspaceId: string;
  memberId: string;
  passwordHash?: string;
  /** Signed in by the identity provider, whose last proof may be older. */
  provided?: { authTime: Date | null };
};

/** The session that a browser shows, or one that waits until the browser switches to it. */
export type SessionPlace = {
  /** Sessions of one browser share it. */
  browserId: string;
  userAgent: string;
  /** The cookie's hash; null: waits. */
  tokenHash: Buffer | null;
};

/**
 * Creates a session. Checking a password takes time, so it refuses a member who was removed, or whose password was
 * changed, meanwhile.
 *
 * @returns false when the member can't sign in (with that password) any more
 */
export async function createSession(tx: Queryable, given: SigningIn & SessionPlace): Promise<boolean> {
  // Runs first, because it locks the member's row: a concurrent change of the password or removal of the member then
  // ends this session too.
  const { rowCount } = await tx.query(
    `UPDATE members SET last_seen_at = now()
     WHERE id = $1 AND removed_at IS NULL AND ($2::text IS NULL OR password_hash = $2)`,
    [given.memberId, given.passwordHash ?? null],
  );
  if (rowCount !== 1) return false;
  await tx.query('DELETE FROM sessions WHERE browser_id = $1 AND member_id = $2', [
    given.browserId,
    given.memberId,
  ]);
  await tx.query(
    `INSERT INTO sessions
       (id, token_hash, workspace_id, member_id, user_agent, confirmed_at, expires_at, browser_id)
     VALUES ($1, $2, $3, $4, $5, least($7::timestamptz, now()), now() + $6 * interval '1 second', $8)`,
    [
      uuidv7(),
      given.tokenHash,
      given.workspaceId,
      given.memberId,
      given.userAgent,
      given.provided ? PROVIDED_SESSION_SECONDS : SESSION_SECONDS,
      given.provided?.authTime ?? null,
      given.browserId,
    ],
  );
  return true;
}

type Row = Workspace & {
  session_id: string;
  user_agent: string;
  session_created_at: Date;
  session_last_seen_at: Date;
  is_confirmed: boolean;
  browser_id: string;
  shows_first_steps: boolean;
  expires_at: Date;
  member_id: string;
  email: string | null;
  role: Role;
};

/**
 * Returns the caller whose session has this token hash, or null. Nothing is cached: a revoked session, a removed
 * member or another role counts with the next request.
 */
export async function callerBySession(db: Queryable, tokenHash: Buffer): Promise<SessionCaller | null> {
  const { rows } = await db.query<Row>({
    name: 'caller_by_session',
    text: `SELECT ${workspaceColumns('w')}, s.id AS session_id, s.user_agent, s.created_at AS session_created_at,
             s.last_seen_at AS session_last_seen_at, s.expires_at, s.browser_id,
             w.first_steps_ended_at IS NULL AND m.first_steps_hidden_at IS NULL AS shows_first_steps,
             ${CONFIRMED} AS is_confirmed, m.id AS member_id, m.email, m.role
           FROM sessions s JOIN members m ON m.id = s.member_id AND m.removed_at IS NULL
             JOIN workspaces w ON w.id = s.workspace_id
           WHERE s.token_hash = $1 AND ${ALIVE}`,
    values: [tokenHash],
  });
  if (!rows[0]) return null;
  const {
    session_id,
    user_agent,
    session_created_at,
    session_last_seen_at,
    is_confirmed,
    browser_id,
    shows_first_steps,
    expires_at,
    member_id,
    email,
    role,
    ...workspace
  } = rows[0];
  return {
    workspace,
    session: {
      id: session_id,
      user_agent,
      created_at: session_created_at,
      last_seen_at: session_last_seen_at,
      expires_at,
      is_confirmed,
      browser_id,
      shows_first_steps,
    },
    member: { id: member_id, email, role },
  };
}

/** Records a use of a session, at most once a minute. */
export async function recordSessionUse(db: Queryable, id: string): Promise<void> {
  await db.query(
    `WITH seen AS (
       UPDATE sessions SET last_seen_at = now()
       WHERE id = $1 AND last_seen_at < now() - interval '1 minute' RETURNING member_id)
     UPDATE members SET last_seen_at = now() WHERE id IN (SELECT member_id FROM seen)`,
    [id],
  );
}

/** Records that the member proved to be at the browser. */
export async function recordConfirmation(db: Queryable, id: string): Promise<void> {
  await db.query('UPDATE sessions SET confirmed_at = now() WHERE id = $1', [id]);
}

/** Returns a member's sessions, the last used first. */
export async function listSessions(db: Queryable, memberId: string): Promise<SessionRecord[]> {
  const { rows } = await db.query<SessionRecord>(
    `SELECT s.id, s.user_agent, s.created_at, s.last_seen_at, s.expires_at FROM sessions s
     WHERE s.member_id = $1 AND ${ALIVE} ORDER BY s.last_seen_at DESC, s.id`,
    [memberId],
  );
  return rows;
}

/** Ends one session of a member. Returns false when the member has none with this id. */
export async function endSession(db: Queryable, memberId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM sessions WHERE id = $1 AND member_id = $2', [
    id,
    memberId,
  ]);
  return rowCount === 1;
}

/** Ends a member's sessions except `keep`. Returns the number ended. */
export async function endOtherSessions(
  db: Queryable,
  memberId: string,
  keep: string | null,
): Promise<number> {
  const { rowCount } = await db.query(
    'DELETE FROM sessions WHERE member_id = $1 AND ($2::uuid IS NULL OR id <> $2)',
    [memberId, keep],
  );
  return rowCount ?? 0;
}
