import type { Role } from '../../core/access/roles.ts';
import type { Queryable } from '../database/pool.ts';
import { ALIVE } from './sessions.ts';

/** A workspace that a browser can switch to: its person signed in there, in this browser, as this member. */
export type OtherWorkspace = {
  member_id: string;
  workspace_id: string;
  name: string;
  email: string | null;
  role: Role;
};

/** Returns the workspaces whose sessions wait in the browser of this session, by name. */
export async function otherWorkspaces(db: Queryable, sessionId: string): Promise<OtherWorkspace[]> {
  const { rows } = await db.query<OtherWorkspace>({
    name: 'other_workspaces',
    text: `SELECT s.member_id, s.workspace_id, w.name, m.email, m.role
           FROM sessions own JOIN sessions s ON s.browser_id = own.browser_id AND s.id <> own.id
             JOIN members m ON m.id = s.member_id AND m.removed_at IS NULL
             JOIN workspaces w ON w.id = s.workspace_id AND w.suspended_at IS NULL
           WHERE own.id = $1 AND ${ALIVE} ORDER BY w.name, s.member_id`,
    values: [sessionId],
  });
  return rows;
}

/**
 * Lets the session of a cookie wait: no cookie opens it until its browser switches back.
 *
 * @returns the browser of the session; null when it has ended, or waits already
 */
export async function parkSession(tx: Queryable, tokenHash: Buffer): Promise<string | null> {
  const { rows } = await tx.query<{ browser_id: string }>(
    `UPDATE sessions s SET token_hash = NULL WHERE s.token_hash = $1 AND ${ALIVE} RETURNING s.browser_id`,
    [tokenHash],
  );
  return rows[0]?.browser_id ?? null;
}

/**
 * Opens the waiting session of a member in a browser by a new cookie. The session's end, and its last proof that the
 * member is there, stay the same.
 *
 * @returns the session's workspace; null when the browser has no such session, or the workspace is suspended
 */
export async function openSession(
  tx: Queryable,
  given: { browserId: string; memberId: string; tokenHash: Buffer },
): Promise<{ workspace_id: string } | null> {
  const { rows } = await tx.query<{ workspace_id: string }>(
    `UPDATE sessions s SET token_hash = $3, last_seen_at = now()
     FROM members m JOIN workspaces w ON w.id = m.workspace_id AND w.suspended_at IS NULL
     WHERE s.browser_id = $1 AND s.member_id = $2 AND s.token_hash IS NULL AND ${ALIVE}
       AND m.id = s.member_id AND m.removed_at IS NULL
     RETURNING s.workspace_id`,
    [given.browserId, given.memberId, given.tokenHash],
  );
  return rows[0] ?? null;
}

/** Returns whether the browser has a session of this member. */
export async function hasSessionOf(db: Queryable, browserId: string, memberId: string): Promise<boolean> {
  const { rows } = await db.query('SELECT 1 FROM sessions WHERE browser_id = $1 AND member_id = $2', [
    browserId,
    memberId,
  ]);
  return rows.length > 0;
}

/** Ends all sessions of a browser, and returns their members. */
export async function endBrowserSessions(
  tx: Queryable,
  browserId: string,
): Promise<{ workspace_id: string; member_id: string }[]> {
  const { rows } = await tx.query<{ workspace_id: string; member_id: string }>(
    'DELETE FROM sessions WHERE browser_id = $1 RETURNING workspace_id, member_id',
    [browserId],
  );
  return rows;
}
