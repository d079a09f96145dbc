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
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { SignedIn } from '../dependencies.ts';
import { sessionTokenOf, setSessionCookie } from './cookie.ts';
import type { SessionBody } from './schemas.ts';

/** Maximum characters of a user agent in a session. */
const USER_AGENT_LIMIT = 500;

/**
 * Signs a member in: replaces the browser's session with a new one and sets its cookie.
 *
 * @param note writes the audit entry; by default that of the request's operation
 * @throws {AppError} `unauthorized` when the member was removed, or the password changed, since it was checked
 */
export async function beginSession(
  { pool, config }: { pool: Pool; config: Config },
  request: FastifyRequest,
  reply: FastifyReply,
  who: SigningIn,
  note: (tx: Queryable) => Promise<void> = (tx) => request.audit(tx, who),
): Promise<SessionBody> {
  const before = sessionTokenOf(request, config.appUrl);
  const beforeHash = before === null ? null : hashSessionToken(before);
  const userAgent = (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_LIMIT).toWellFormed();
  const { token, caller } = await inTransaction(pool, async (tx) => {
    if (beforeHash) await endSessionByToken(tx, beforeHash);
    const token = await createSession(tx, { ...who, userAgent });
    // Read in the transaction: after it, the session may be ended concurrently.
    const caller =
      token === null ? null : await callerBySession(tx, hashSessionToken(token) ?? Buffer.alloc(0));
    if (token === null || caller === null) {
      throw new AppError('unauthorized', 'these credentials are no longer valid; sign in again');
    }
    await note(tx);
    return { token, caller };
  });
  setSessionCookie(reply, token, config.appUrl);
  reply.header('cache-control', 'no-store');
  return describeSession(config, caller.workspace, { ...caller.member, csrfToken: csrfTokenOf(token) });
}

/** Describes a session: member, workspace, and what the console needs to know of the deployment. */
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
      time_zone: workspace.time_zone,
      currency: workspace.currency,
    },
    csrf_token: member.csrfToken,
    urls: { base_url: baseUrl, app_url: appUrl, short_url: shortUrl, public_url: publicUrl },
  };
}
