import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieAttributes } from './cookie.ts';
import type { HashKey } from './hash-key.ts';

const PREFIX = 'hoplog_browser_';
const VALUE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;
/** How long a browser stays known after a sign-in. Seconds. */
const KNOWN_SECONDS = 180 * 86_400;

/**
 * Browsers that signed in to an account before. Each has a cookie for the account: a random id and its HMAC. So nothing
 * is stored, and no one can forge one. The cookie does not sign in: it only separates the counts of failed attempts.
 */
export type KnownBrowsers = {
  /** Returns the id of the request's browser, or null when it did not sign in to this account before. */
  idOf(request: FastifyRequest, email: string): Promise<string | null>;
  /** Reads the key, so that the other calls need no connection of their own within a transaction. */
  load(): Promise<void>;
  /** Marks the browser as known, under another id. */
  remember(reply: FastifyReply, email: string): Promise<void>;
};

/** @param appUrl origin of the console */
export function createKnownBrowsers(key: HashKey, appUrl: string): KnownBrowsers {
  const keyed = async (text: string) =>
    createHmac('sha256', await key())
      .update(text)
      .digest('base64url');
  const nameOf = async (email: string) => PREFIX + (await keyed(`browser name ${email}`)).slice(0, 16);
  const proof = (id: string, email: string) => keyed(`browser ${id} of ${email}`);

  return {
    async idOf({ cookies }, email) {
      const [, id, given] = VALUE.exec(cookies[await nameOf(email)] ?? '') ?? [];
      if (!id || !given) return null;
      return timingSafeEqual(Buffer.from(given), Buffer.from(await proof(id, email))) ? id : null;
    },
    async load() {
      await key();
    },
    async remember(reply, email) {
      const id = randomBytes(16).toString('base64url');
      const value = `${id}.${await proof(id, email)}`;
      reply.setCookie(await nameOf(email), value, { ...cookieAttributes(appUrl), maxAge: KNOWN_SECONDS });
    },
  };
}
