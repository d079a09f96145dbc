import type { FastifyRequest } from 'fastify';
import { mayDo, type Role } from '../../core/access/roles.ts';
import { csrfTokenMatches, csrfTokenOf, hashSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import {
  CONFIRMED_MINUTES,
  callerBySession,
  recordSessionUse,
  type SessionCaller,
} from '../../sql/console/sessions.ts';
import type { ApiDeps, Auth, SignedIn } from '../dependencies.ts';
import { sessionTokenOf } from './cookie.ts';
import { refuseForeignPage } from './own-origin.ts';

/** Minimum interval between two updates of a session's `last_seen_at`. Milliseconds. */
const USE_NOTED_EVERY = 60_000;

const isRead = ({ method }: { method: string }) => method === 'GET' || method === 'HEAD';

/**
 * Returns the member of the request's session cookie, with the session in place of a key, or null without a valid
 * one.
 *
 * @throws {AppError} `forbidden` when a page of another origin sent the request, or a write lacks its CSRF token
 */
export async function callerOfCookie(deps: ApiDeps, request: FastifyRequest): Promise<Auth | null> {
  const token = sessionTokenOf(request, deps.config.appUrl);
  const caller = token === null ? null : await sessionOf(deps, token);
  if (!caller || token === null) return null;
  refuseForeignPage(request, deps.config);
  if (!isRead(request) && !csrfTokenMatches(String(request.headers['x-csrf-token'] ?? ''), token)) {
    // The console recognizes this error by its path: its page knows an older session of this browser.
    throw new AppError('forbidden', 'send the `csrf_token` of GET /session as the header `x-csrf-token`', [
      { path: 'x-csrf-token', message: 'must be the `csrf_token` of this session' },
    ]);
  }
  const { workspace, session, member } = caller;
  const now = new Date();
  if (now.getTime() - session.last_seen_at.getTime() >= USE_NOTED_EVERY) {
    session.last_seen_at = now;
    // Not awaited, as with keys.
    recordSessionUse(deps.pool, session.id).catch((error: unknown) =>
      deps.log.debug(
        { err: error, session: session.id },
        'failed to record the use of a session; continuing',
      ),
    );
  }
  return {
    workspace,
    key: {
      id: session.id,
      workspace_id: workspace.id,
      kind: 'secret',
      label: member.email ?? 'console',
      scopes: ['secret'],
      manage: member.role === 'owner',
      created_by: { type: 'member', id: member.id },
      created_at: session.created_at,
      expires_at: session.expires_at,
      last_used_at: session.last_seen_at,
      revoked_at: null,
    },
    member: { ...member, session, csrfToken: csrfTokenOf(token) },
  };
}

async function sessionOf({ pool }: Pick<ApiDeps, 'pool'>, token: string): Promise<SessionCaller | null> {
  const hash = hashSessionToken(token);
  return hash && callerBySession(pool, hash);
}

const isPlainRead = (request: FastifyRequest): boolean =>
  isRead(request) && !request.routeOptions.config.writes;

/** Returns the least role that may call a route. */
export const requiredRole = ({ role }: { role?: Role }, method: string): Role =>
  role ?? (isRead({ method }) ? 'analyst' : 'operator');

/** {@link requiredRole} of a request's route. */
export const roleFor = ({ routeOptions, method }: FastifyRequest): Role =>
  requiredRole(routeOptions.config, method);

/**
 * Refuses a caller whose role is too low. A sample shop has an unlimited plan and invented figures: its members can
 * view it, and change only their own sign-in.
 *
 * @throws {AppError} `forbidden` when the route requires a higher role, or changes a sample shop
 */
export function refuseRole(request: FastifyRequest, { role }: SignedIn): void {
  const needed = roleFor(request);
  if (request.auth.workspace.sample_of !== null && needed !== 'analyst' && !isPlainRead(request)) {
    throw new AppError('forbidden', 'the sample shop cannot be changed: go back to your own workspace');
  }
  if (!mayDo(role, needed)) {
    throw new AppError('forbidden', `this endpoint requires the role ${needed}; your role is ${role}`);
  }
}

/**
 * Refuses changes of access by an unattended browser or a stolen cookie. The console recognizes the error by its code
 * and asks for a confirmation.
 *
 * @throws {AppError} `forbidden` when the member's last proof is older than {@link CONFIRMED_MINUTES}
 */
export function refuseUnconfirmed({ routeOptions }: FastifyRequest, { session }: SignedIn): void {
  if (!routeOptions.config.recentSignIn || session.is_confirmed) return;
  const detail = {
    path: 'session',
    message: `must be confirmed within the last ${CONFIRMED_MINUTES} minutes`,
    code: 'confirmation_required',
  } as const;
  throw new AppError('forbidden', 'confirm that it is you with POST /session/confirm first', [detail]);
}

/** Returns the calling member, on routes of scope `member`. */
export function signedIn({ member }: Auth): SignedIn {
  if (!member) throw new Error('a route of scope "member" was called without one');
  return member;
}
