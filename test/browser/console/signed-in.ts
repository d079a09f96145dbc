import { randomUUID } from 'node:crypto';
import type { BrowserContext } from 'playwright-core';
import { SESSION_COOKIE } from '../../../api/session/cookie.ts';
import { hashPassword, MEMBER_COST } from '../../../core/access/passwords.ts';
import type { Role } from '../../../core/access/roles.ts';
import { newSessionToken } from '../../../core/access/session-tokens.ts';
import { insertMember, setPassword } from '../../../sql/console/members.ts';
import { createSession, SESSION_SECONDS } from '../../../sql/console/sessions.ts';
import { inTransaction, type Pool } from '../../../sql/database/pool.ts';

export type Cookie = Awaited<ReturnType<BrowserContext['cookies']>>[number];

/** Hash of a password by the password: each takes 0.2 s of a core. */
const hashes = new Map<string, Promise<string>>();

/**
 * Creates a member with a password, and a session in the database, as an accepted invitation does.
 *
 * @param given.origin of the console
 * @returns the session's cookie
 */
export async function signedInCookie(
  pool: Pool,
  given: {
    workspaceId: string;
    role: Role;
    email: string;
    password: string;
    origin: string;
    userAgent: string;
  },
): Promise<Cookie> {
  const { workspaceId, role, email, password, userAgent } = given;
  const known = hashes.get(password) ?? hashPassword(password, MEMBER_COST);
  hashes.set(password, known);
  const passwordHash = await known;
  const { token, hash: tokenHash } = newSessionToken();
  const memberId = randomUUID();
  await inTransaction(pool, async (tx) => {
    const member = { id: memberId, workspaceId, email, role, makerKeyId: null, makerMemberId: null };
    if (!(await insertMember(tx, member))) throw new Error(`${email} is a member of the workspace already`);
    await setPassword(tx, memberId, passwordHash);
    const place = { browserId: randomUUID(), userAgent, tokenHash };
    await createSession(tx, { workspaceId, memberId, passwordHash, ...place });
  });
  return {
    name: SESSION_COOKIE,
    value: token,
    domain: new URL(given.origin).hostname,
    path: '/',
    expires: Math.floor(Date.now() / 1_000) + SESSION_SECONDS,
    httpOnly: true,
    secure: false,
    sameSite: 'Lax',
  };
}
