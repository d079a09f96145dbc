import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_SECONDS } from '../../sql/console/sessions.ts';

/** Name of the cookie that a signed-in browser has. */
export const SESSION_COOKIE = 'hoplog_session';

/** The cookie's value, or null. */
export function sessionTokenOf(request: FastifyRequest): string | null {
  return request.cookies[SESSION_COOKIE] || null;
}

/** Gives the browser its session: out of scripts' reach, and not sent along by other sites' forms and images. */
export function setSessionCookie(reply: FastifyReply, token: string, appUrl: string): void {
  reply.setCookie(SESSION_COOKIE, token, { ...attributes(appUrl), maxAge: SESSION_SECONDS });
}

/** Takes it away again. */
export function clearSessionCookie(reply: FastifyReply, appUrl: string): void {
  reply.setCookie(SESSION_COOKIE, '', { ...attributes(appUrl), maxAge: 0 });
}

const attributes = (appUrl: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: appUrl.startsWith('https:') }) as const;
