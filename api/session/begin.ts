import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPaid } from '../../core/access/plans.ts';
import { csrfTokenOf, hashSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';
import {
  callerBySession,
  createSession,
  endSessionByToken,
  type SigningIn,
} from '../../sql/console/sessions.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { SignedIn } from '../dependencies.ts';
import { sessionTokenOf, setSessionCookie } from './cookie.ts';
import type { SessionBody } from './schemas.ts';

/** Characters of a user agent that a session keeps. */
const USER_AGENT_LIMIT = 500;

/**
 * Signs a member in with the answer: a new session in the place of the one that the browser had, and its cookie.
 *
 * @throws {AppError} `unauthorized` when the member was removed, or the password changed, since they were judged
 */
export async function beginSession(
  { pool, config }: { pool: Pool; config: Config },
  request: FastifyRequest,
  reply: FastifyReply,
  who: SigningIn,
): Promise<SessionBody> {
  const before = sessionTokenOf(request);
  const beforeHash = before === null ? null : hashSessionToken(before);
  const userAgent = (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_LIMIT).toWellFormed();
  const { token, caller } = await inTransaction(pool, async (tx) => {
    if (beforeHash) await endSessionByToken(tx, beforeHash);
    const token = await createSession(tx, { ...who, userAgent });
    // Read here: as soon as the transaction is over, somebody else may end the session.
    const caller =
      token === null ? null : await callerBySession(tx, hashSessionToken(token) ?? Buffer.alloc(0));
    if (token === null || caller === null) {
      throw new AppError('unauthorized', 'these credentials are no longer valid; sign in again');
    }
    return { token, caller };
  });
  setSessionCookie(reply, token, config.appUrl);
  reply.header('cache-control', 'no-store');
  return describeSession(config, caller.workspace, { ...caller.member, csrfToken: csrfTokenOf(token) });
}

/** Who is signed in, where, and what the console needs to know of the deployment. */
export function describeSession(
  { baseUrl, appUrl, shortUrl, publicUrl }: Config,
  workspace: Workspace,
  member: Pick<SignedIn, 'id' | 'email' | 'role' | 'csrfToken'>,
): SessionBody {
  return {
    member: { id: member.id, email: member.email, role: member.role },
    workspace: {
      id: workspace.id,
      name: workspace.name,
      slug: workspace.slug,
      primary_domain: workspace.primary_domain ?? '',
      plan: workspace.plan,
      paid: isPaid(workspace),
      currency: workspace.currency,
    },
    csrf_token: member.csrfToken,
    urls: { base_url: baseUrl, app_url: appUrl, short_url: shortUrl, public_url: publicUrl },
  };
}
