import { createHmac, timingSafeEqual } from 'node:crypto';
import { slugInPath } from '../../core/links/slugs.ts';
import type { CompiledLink } from '../redirect/compiled-link.ts';

/**
 * Issues and checks signed cookies of visitors who gave a link's password. The signature covers the link and its
 * password hash, so that it holds for no other link or password.
 */
export type PasswordGate = {
  mayPass(link: CompiledLink, cookieHeader: string): boolean;
  /**
   * Whether the visitor gave the password before. The cookie identifies the visitor for longer than it opens the link.
   */
  wasLetIn(link: CompiledLink, cookieHeader: string): boolean;
  /**
   * Returns `Set-Cookie` after the correct password.
   *
   * @param isHttps whether the browser used https; null: as short links do
   */
  cookieFor(link: CompiledLink, isHttps: boolean | null): string;
};

const NAME = '_pass';
/** One day: long enough for a private device, short for a shared one. */
const OPENS_SECONDS = 86_400;
/** The cookie identifies a visitor who knows the password for 90 days. */
const MAX_AGE_SECONDS = 90 * 86_400;
const VALUE = /(?:^|; )_pass=(\d{10,12})\.([A-Za-z0-9_-]{43})(?:;|$)/;

/**
 * @param key the deployment's `cookie_key`
 * @param secure whether the short-link origin is https
 */
export function createPasswordGate(key: Uint8Array, secure: boolean): PasswordGate {
  function sign(link: CompiledLink, expires: string): Buffer {
    return createHmac('sha256', key)
      .update(`hoplog link password\n${link.idText}\n${link.passwordHash}\n${expires}`)
      .digest();
  }

  /** Returns when the cookie stops opening the link, in seconds since the epoch; null: it has no cookie of ours. */
  function expiryIn(link: CompiledLink, cookieHeader: string): number | null {
    const match = VALUE.exec(cookieHeader);
    if (match === null) return null;
    const [, expires = '', signature = ''] = match;
    const isOurs = timingSafeEqual(Buffer.from(signature, 'base64url'), sign(link, expires));
    return isOurs ? Number(expires) : null;
  }

  return {
    mayPass(link, cookieHeader) {
      const expiry = expiryIn(link, cookieHeader);
      return expiry !== null && expiry * 1_000 > Date.now();
    },
    wasLetIn: (link, cookieHeader) => expiryIn(link, cookieHeader) !== null,
    cookieFor(link, isHttps) {
      const expires = String(Math.floor(Date.now() / 1_000) + OPENS_SECONDS);
      const value = `${expires}.${sign(link, expires).toString('base64url')}`;
      // The path keeps the cookie out of requests for other links. The signature prevents its use there.
      return `${NAME}=${value}; Path=/${slugInPath(link.slug)}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${(isHttps ?? secure) ? '; Secure' : ''}`;
    },
  };
}
