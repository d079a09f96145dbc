import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_SECONDS } from '../../sql/console/sessions.ts';

/** Name of the session cookie on plain http; see {@link sessionCookieOf}. */
export const SESSION_COOKIE = 'hoplog_session';

/**
 * Returns the cookie's name for the console's origin. On https it has the prefix `__Host-`: browsers then refuse it
 * from another host of the same domain, and over http.
 */
export function sessionCookieOf(appUrl: string): string {
  return appUrl.startsWith('https:') ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;
}

/** Returns the session token of the cookie, or null. */
export function sessionTokenOf(request: FastifyRequest, appUrl: string): string | null {
  return request.cookies[sessionCookieOf(appUrl)] || null;
}

/** Sets the session cookie: hidden from scripts, and not sent with other sites' forms and images. */
export function setSessionCookie(reply: FastifyReply, token: string, appUrl: string): void {
  reply.setCookie(sessionCookieOf(appUrl), token, { ...cookieAttributes(appUrl), maxAge: SESSION_SECONDS });
}

/** Clears the session cookie. */
export function clearSessionCookie(reply: FastifyReply, appUrl: string): void {
  reply.setCookie(sessionCookieOf(appUrl), '', { ...cookieAttributes(appUrl), maxAge: 0 });
}

/** Attributes of each cookie of the console. */
export const cookieAttributes = (appUrl: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: appUrl.startsWith('https:') }) as const;
