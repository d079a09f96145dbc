import cookie from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { requireAllowedOrigin } from '../../core/access/allowed-origins.ts';
import { mayCall } from '../../core/access/key-scopes.ts';
import { keyMatches, parseKey } from '../../core/access/keys.ts';
import { AppError, SUSPENDED } from '../../core/errors.ts';
import { type BesideKey, callerByLookup } from '../../sql/workspaces/callers.ts';
import { type KeyRecord, recordKeyUse } from '../../sql/workspaces/keys.ts';
import { partnerByLookup } from '../../sql/workspaces/partners.ts';
import type { Api, ApiDeps, Auth, Scope } from '../dependencies.ts';
import { callerOfCookie, refuseRole, refuseUnconfirmed, roleFor } from '../session/caller.ts';
import { refuseUncovered } from './plan.ts';

/** Minimum interval between two updates of a key's `last_used_at`. Milliseconds. */
const USE_NOTED_EVERY = 60_000;

/**
 * Authenticates each request for its route's scope, before parameters and body are read: key (401), scope or role
 * (403), plan (402). A request without a key may send a session's cookie instead. Nothing is cached, so a revoked
 * key or session, a new role and a new plan apply from the next request.
 */
export async function addAuth(app: Api, deps: ApiDeps): Promise<void> {
  await app.register(cookie);
  app.decorateRequest('auth', null as unknown as Auth);
  app.decorateRequest('partner');
  app.addHook('onRoute', ({ url, config }) => {
    if (url.startsWith('/api/v1/') && !config?.scope) throw new Error(`route ${url} declares no scope`);
  });
  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.routeOptions.config;
    if (!scope || scope === 'public') return;
    if (scope === 'partner') {
      request.partner = await checkPartner(deps, tokenOf(request));
      return;
    }
    await admit(deps, request, scope);
    // A browser sends its cookie with every request: no shared cache may give one member's response to another.
    if (request.auth.member) reply.header('cache-control', 'no-store');
  });
}

type WorkspaceScope = Exclude<Scope, 'public' | 'partner'>;

async function admit(deps: ApiDeps, request: FastifyRequest, scope: WorkspaceScope): Promise<void> {
  request.auth = await authOf(deps, request, scope);
  refuseSuspended(request);
  if (request.auth.member) {
    refuseRole(request, request.auth.member);
    refuseUnconfirmed(request, request.auth.member);
  } else {
    refuseOrigin(deps.config, request);
    refuseRights(request, request.auth.key);
  }
  refuseUncovered(request);
}

/**
 * The embedded dashboard calls with its own origin. It names the pages that frame it, from its parent up, or the
 * one that opened its window, in this header.
 */
const FRAMED_BY = 'embed-ancestors';

/** @throws {AppError} `forbidden` for a publishable key in a page of an origin that the workspace does not allow */
function refuseOrigin({ appUrl, baseUrl }: ApiDeps['config'], { auth, headers }: FastifyRequest): void {
  if (auth.key.kind !== 'publishable') return;
  const framedBy = String(headers[FRAMED_BY] ?? '').split(/[\s,]+/);
  for (const origin of [headers.origin ?? '', ...framedBy]) {
    requireAllowedOrigin(origin, auth.workspace.allowed_origins, [appUrl, baseUrl]);
  }
}

/** @throws {AppError} `forbidden` when the key lacks `manage`, or its scopes do not include the route */
function refuseRights(request: FastifyRequest, key: KeyRecord): void {
  const { manage, callsOthers } = request.routeOptions.config;
  if (manage !== undefined) {
    if (key.manage || (typeof manage === 'function' && !manage(request))) return;
    throw new AppError(
      'forbidden',
      'this endpoint requires a key with `manage`; an owner creates one in the console, an operator with `hoplog key create`',
    );
  }
  if (key.kind !== 'secret' || key.scopes.includes('secret') || callsOthers) return;
  const { url: path = '' } = request.routeOptions;
  if (mayCall(key.scopes, { path, isRead: roleFor(request) === 'analyst' })) return;
  throw new AppError(
    'forbidden',
    `this key is restricted to ${key.scopes.join(', ')}, which does not include this endpoint`,
  );
}

/** @throws {AppError} `forbidden` for a suspended workspace, except to members who sign out */
function refuseSuspended({ auth, routeOptions }: FastifyRequest): void {
  if (auth.workspace.suspended_at && !routeOptions.config.whileSuspended) {
    throw new AppError('forbidden', SUSPENDED);
  }
}

/**
 * Returns whether a request would still be admitted, for long responses.
 *
 * @throws when PostgreSQL is down
 */
export async function isStillAdmitted(deps: ApiDeps, request: FastifyRequest): Promise<boolean> {
  const { scope } = request.routeOptions.config;
  if (!scope || scope === 'public' || scope === 'partner')
    throw new Error('the route does not belong to a workspace');
  try {
    await admit(deps, request, scope);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

async function authOf(deps: ApiDeps, request: FastifyRequest, scope: WorkspaceScope): Promise<Auth> {
  const isMembers = scope === 'member';
  if (request.headers.authorization === undefined || isMembers) {
    const caller = await callerOfCookie(deps, request);
    if (caller) return caller;
    if (isMembers) throw unauthorized('sign in to the console first');
  }
  return checkWorkspaceKey(deps, tokenOf(request), scope, request.routeOptions.config.besideKey);
}

const unauthorized = (message: string) => new AppError('unauthorized', message);

function tokenOf(request: FastifyRequest): string {
  if (request.headers.authorization === undefined) {
    throw unauthorized('send your key as "Authorization: Bearer <key>"');
  }
  const token = bearerOf(request);
  if (token === null) throw unauthorized('the Authorization header must be "Bearer <key>"');
  return token;
}

const bearerOf = ({ headers }: FastifyRequest): string | null =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;

async function checkWorkspaceKey(
  deps: ApiDeps,
  token: string,
  scope: Exclude<WorkspaceScope, 'member'>,
  besideKey: BesideKey | undefined,
): Promise<Auth> {
  const parsed = parseKey(token);
  if (parsed?.kind === 'partner') throw unauthorized('a partner key is valid for /api/v1/partner/* only');
  const caller = parsed && (await callerByLookup(deps.pool, parsed.lookup, besideKey));
  if (!caller || !keyMatches(token, caller.key.hash)) throw unauthorized('unknown key');
  if (caller.key.revoked_at) throw unauthorized('this key is revoked');
  const now = new Date();
  const { hash: _, ...key } = caller.key;
  if (key.expires_at && key.expires_at <= now) throw unauthorized('this key has expired');
  if (scope === 'secret' && key.kind !== 'secret') {
    throw new AppError('forbidden', 'this endpoint requires a secret key');
  }
  if (!key.last_used_at || now.getTime() - key.last_used_at.getTime() >= USE_NOTED_EVERY) {
    key.last_used_at = now;
    // Not awaited: bookkeeping must not delay the response, and the next use makes up for a failed update.
    recordKeyUse(deps.pool, key.id).catch((error: unknown) =>
      deps.log.debug({ err: error, key: key.id }, 'failed to record the use of a key; continuing'),
    );
  }
  return { workspace: caller.workspace, key, beside: caller.beside };
}

async function checkPartner(deps: ApiDeps, token: string) {
  const parsed = parseKey(token);
  if (parsed && parsed.kind !== 'partner') throw unauthorized('this endpoint requires a partner key');
  const found = parsed && (await partnerByLookup(deps.pool, parsed.lookup));
  if (!found || !keyMatches(token, found.hash)) throw unauthorized('unknown partner key');
  const { hash: _, ...partner } = found;
  return partner;
}
