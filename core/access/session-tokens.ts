import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A secret that is shown once, in a cookie or an invitation's link. Only its hash is stored. */
export type SessionToken = { token: string; hash: Buffer };

/** Returns a new token of 32 random bytes, in base64url. */
export function newSessionToken(): SessionToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: sha256(token) };
}

/** Returns the stored hash of a token, or null when the text is not a token. */
export function hashSessionToken(token: string): Buffer | null {
  return TOKEN.test(token) ? sha256(token) : null;
}

/**
 * Returns the CSRF token that changing calls of a session must send besides its cookie. It is derived from the
 * cookie, so none is stored, and does not reveal it.
 */
export function csrfTokenOf(token: string): string {
  return sha256(`csrf ${token}`).toString('base64url');
}

/** Returns whether `given` is the session's CSRF token, compared in constant time. */
export function csrfTokenMatches(given: string, token: string): boolean {
  return timingSafeEqual(sha256(given), sha256(csrfTokenOf(token)));
}

/** Returns the page that accepts an invitation. The token is in the fragment, which browsers do not send. */
export function inviteUrl(appUrl: string, token: string): string {
  return `${appUrl}/console/welcome#${token}`;
}

/** Returns the page that sets another password. The token is in the fragment. */
export function resetUrl(appUrl: string, token: string): string {
  return `${appUrl}/console/reset-password#${token}`;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
