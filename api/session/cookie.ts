import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_SECONDS } from '../../sql/console/sessions.ts';

/** Name of the session cookie. */
export const SESSION_COOKIE = 'hoplog_session';

/** Returns the session token of the cookie, or null. */
export function sessionTokenOf(request: FastifyRequest): string | null {
  return request.cookies[SESSION_COOKIE] || null;
}

/** Sets the session cookie: hidden from scripts, and not sent with other sites' forms and images. */
export function setSessionCookie(reply: FastifyReply, token: string, appUrl: string): void {
  reply.setCookie(SESSION_COOKIE, token, { ...cookieAttributes(appUrl), maxAge: SESSION_SECONDS });
}

/** Clears the session cookie. */
export function clearSessionCookie(reply: FastifyReply, appUrl: string): void {
  reply.setCookie(SESSION_COOKIE, '', { ...cookieAttributes(appUrl), maxAge: 0 });
}

/** Attributes of each cookie of the console. */
export const cookieAttributes = (appUrl: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: appUrl.startsWith('https:') }) as const;
