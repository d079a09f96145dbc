import { newSessionToken } from '../../core/access/session-tokens.ts';
import type { Queryable } from '../database/pool.ts';

/** A session ends this long after its last use. Days. */
const IDLE_DAYS = 14;
/** Cookies live as long. Seconds. */
export const PORTAL_SESSION_SECONDS = IDLE_DAYS * 86_400;
/** A sign-in counts as fresh for this long. Minutes. */
const FRESH_MINUTES = 10;

/** A browser that is signed in to the portal. */
export type PortalSession = {
  /** The proven address: it opens every program in which an approved application has it. */
  email: string;
  /** Whether the sign-in was within ten minutes. */
  is_fresh: boolean;
};

/** Signs a browser in. Returns the token of its cookie. */
export async function createPortalSession(tx: Queryable, email: string): Promise<string> {
  const { token, hash } = newSessionToken();
  await tx.query('INSERT INTO portal_sessions (token_hash, email) VALUES ($1, $2)', [hash, email]);
  return token;
}

/** Returns the session of a cookie's token, and records its use once an hour; null: there is none, or it has ended. */
export async function portalSession(db: Queryable, tokenHash: Buffer): Promise<PortalSession | null> {
  const { rows } = await db.query<PortalSession>(
    `WITH used AS (
       UPDATE portal_sessions SET last_seen_at = now()
       WHERE token_hash = $1 AND last_seen_at BETWEEN now() - interval '${IDLE_DAYS} days' AND now() - interval '1 hour')
     SELECT email, created_at > now() - interval '${FRESH_MINUTES} minutes' AS is_fresh FROM portal_sessions
     WHERE token_hash = $1 AND last_seen_at > now() - interval '${IDLE_DAYS} days'`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** Ends a session. */
export async function endPortalSession(db: Queryable, tokenHash: Buffer): Promise<void> {
  await db.query('DELETE FROM portal_sessions WHERE token_hash = $1', [tokenHash]);
}

/** A program that an address is in. */
export type OwnProgram = {
  program_id: string;
  workspace_id: string;
  application_id: string;
  enrollment_id: string;
  code: string;
  name: string;
  workspace_name: string;
  /** Whether the address gets mails about first sale, payouts and refunds. */
  notices: boolean;
};

/** Returns the programs in which an approved application has the address, the first one joined first. */
export async function programsOf(db: Queryable, email: string): Promise<OwnProgram[]> {
  const { rows } = await db.query<OwnProgram>(
    `SELECT a.program_id, a.workspace_id, a.id AS application_id, a.enrollment_id, p.code, d.name, w.name AS workspace_name,
       a.notices AND NOT EXISTS (SELECT FROM mail_unsubscribes u
         WHERE u.workspace_id = a.workspace_id AND u.email = a.email) AS notices
     FROM applications a JOIN programs p ON p.id = a.program_id JOIN destinations d ON d.id = p.destination_id
     JOIN workspaces w ON w.id = a.workspace_id AND w.suspended_at IS NULL
     JOIN enrollments e ON e.id = a.enrollment_id AND e.deleted_at IS NULL
     WHERE a.email = $1 AND a.status = 'approved' ORDER BY a.id`,
    [email],
  );
  return rows;
}
