import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashSessionToken, newSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import {
  type OwnProgram,
  PORTAL_SESSION_SECONDS,
  type PortalSession,
  portalSession,
  programsOf,
} from '../../sql/portal/sessions.ts';
import { SIGN_IN_MINUTES } from '../../sql/portal/sign-ins.ts';
import { cookieAttributes } from '../session/cookie.ts';

/** On https browsers refuse a cookie with this prefix from another host of the same domain. */
const named = (name: string, appUrl: string) => (appUrl.startsWith('https:') ? `__Host-${name}` : name);
const SESSION = 'hoplog_portal';
const BROWSER = 'hoplog_portal_browser';

/** The cookies of the portal's pages. @param appUrl origin of the pages */
export function portalCookies(appUrl: string) {
  const hashOf = (request: FastifyRequest, name: string) =>
    hashSessionToken(request.cookies[named(name, appUrl)] ?? '');
  const set = (reply: FastifyReply, name: string, value: string, maxAge: number) =>
    reply.setCookie(named(name, appUrl), value, { ...cookieAttributes(appUrl), maxAge });
  return {
    sessionHash: (request: FastifyRequest) => hashOf(request, SESSION),
    /** Null: this browser has asked for no link lately. */
    browserHash: (request: FastifyRequest) => hashOf(request, BROWSER),
    /** Returns the hash by which links are bound to this browser, which several links may share. */
    bindBrowser(request: FastifyRequest, reply: FastifyReply): Buffer {
      const known = hashOf(request, BROWSER);
      const { token, hash } = newSessionToken();
      const value = known === null ? token : (request.cookies[named(BROWSER, appUrl)] ?? token);
      set(reply, BROWSER, value, SIGN_IN_MINUTES * 60);
      return known ?? hash;
    },
    begin: (reply: FastifyReply, token: string) => set(reply, SESSION, token, PORTAL_SESSION_SECONDS),
    end: (reply: FastifyReply) => set(reply, SESSION, '', 0),
  };
}
export type PortalCookies = ReturnType<typeof portalCookies>;

/** A signed-in affiliate, and the programs that the proven address is in. */
export type Affiliate = PortalSession & { programs: OwnProgram[] };

/** Returns who is signed in to the portal, or null. */
export async function affiliateOf(
  db: Queryable,
  cookies: PortalCookies,
  request: FastifyRequest,
): Promise<Affiliate | null> {
  const hash = cookies.sessionHash(request);
  const session = hash && (await portalSession(db, hash));
  return session && { ...session, programs: await programsOf(db, session.email) };
}

/**
 * Returns the caller's own program with this code.
 *
 * @throws {AppError} `unauthorized` when nobody is signed in; `not_found` when the caller is not in the program
 */
export function requireOwn(
  affiliate: Affiliate | null,
  programId: string | null,
): { affiliate: Affiliate; own: OwnProgram } {
  if (!affiliate) throw new AppError('unauthorized', 'sign in to the portal first');
  const own = affiliate.programs.find(({ program_id }) => program_id === programId);
  if (!own) throw new AppError('not_found', 'you are in no program with this code');
  return { affiliate, own };
}

/** @throws {AppError} `forbidden` when the sign-in is older than ten minutes: a browser may be left alone */
export function requireFresh({ is_fresh }: PortalSession): void {
  if (!is_fresh)
    throw new AppError('forbidden', 'sign in again: this needs a sign-in of the last ten minutes');
}
