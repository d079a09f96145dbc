import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CompiledLink } from '../redirect/compiled-link.ts';

/**
 * Remembers, in a signed cookie, that a visitor has given a link's password. The signature covers the link and its
 * password hash: another link's cookie and one from before a change of the password are worth nothing.
 */
export type PasswordGate = {
  mayPass(link: CompiledLink, cookieHeader: string): boolean;
  /** `Set-Cookie` for a visitor who has given the right password. */
  cookieFor(link: CompiledLink): string;
};

const NAME = '_pass';
/** A day: the visitor's own device is remembered, a shared one not for long. */
const MAX_AGE_SECONDS = 86_400;
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

  return {
    mayPass(link, cookieHeader) {
      const match = VALUE.exec(cookieHeader);
      const [, expires = '', signature = ''] = match ?? [];
      if (match === null || Number(expires) * 1_000 <= Date.now()) return false;
      return timingSafeEqual(Buffer.from(signature, 'base64url'), sign(link, expires));
    },
    cookieFor(link) {
      const expires = String(Math.floor(Date.now() / 1_000) + MAX_AGE_SECONDS);
      const value = `${expires}.${sign(link, expires).toString('base64url')}`;
      // Slugs need no escaping. The path keeps it from other links; the signature would refuse it there anyway.
      return `${NAME}=${value}; Path=/${link.slug}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    },
  };
}
