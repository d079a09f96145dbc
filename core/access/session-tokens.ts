import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A secret that is told once, in a cookie or an invitation's link. Only its hash is stored. */
export type SessionToken = { token: string; hash: Buffer };

/** Makes 32 random bytes, in base64url. */
export function newSessionToken(): SessionToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: sha256(token) };
}

/** What a token is stored under, or null when the text can't be one. */
export function hashSessionToken(token: string): Buffer | null {
  return TOKEN.test(token) ? sha256(token) : null;
}

/**
 * What changing calls of a session must carry beside its cookie. It follows from the cookie's value, so none is
 * stored, and tells nothing about it.
 */
export function csrfTokenOf(token: string): string {
  return sha256(`csrf ${token}`).toString('base64url');
}

/** Whether `given` is the session's CSRF token, compared in constant time. */
export function csrfTokenMatches(given: string, token: string): boolean {
  return timingSafeEqual(sha256(given), sha256(csrfTokenOf(token)));
}

/** Where an invitation is accepted. The token is in the fragment, which browsers send to nobody. */
export function inviteUrl(appUrl: string, token: string): string {
  return `${appUrl}/console/welcome#${token}`;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
