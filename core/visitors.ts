import { createCipheriv, hkdfSync, randomFillSync } from 'node:crypto';
import { bytesToUuid } from './ids.ts';

/** Name of the cookie, on the short-link origin and on the destination site, and of the query parameter. */
export const VISITOR_COOKIE = '_vid';

/** One year, in seconds. */
export const VISITOR_COOKIE_MAX_AGE = 31_536_000;

/** Bytes of the deployment's visitor key. It never rotates: every visitor would become a new one. */
export const VISITOR_KEY_BYTES = 32;

/** Derives visitor ids. Ids are the 16 bytes of a UUID. */
export type VisitorIds = {
  /** The visitor that a workspace sees behind a cookie. */
  visitorIdOf(cookie: Uint8Array, workspaceId: Uint8Array): Uint8Array;
  /** The same for one workspace, with its mask worked out once: for link tables and loops. */
  forWorkspace(workspaceId: Uint8Array): (cookie: Uint8Array) => Uint8Array;
};

/**
 * Visitor ids by one AES block each: `E1(cookie xor mask)` with `mask = E2(workspace)`, where E1 and E2 are
 * AES-256 under two keys derived from the deployment's visitor key. Without that key the ids of one cookie in
 * two workspaces are two random numbers, so no two workspaces can join their visitors, and an id tells nothing
 * about the cookie. The result is formed as a UUID of version 8 (RFC 9562: bits of the maker's own choice).
 *
 * About a million a second on one core; one small buffer is allocated for each.
 *
 * @param key {@link VISITOR_KEY_BYTES} secret bytes
 * @throws {RangeError} when the key has another length
 */
export function createVisitorIds(key: Uint8Array): VisitorIds {
  if (key.length !== VISITOR_KEY_BYTES) throw new RangeError(`visitor key of ${key.length} bytes`);
  const keys = Buffer.from(hkdfSync('sha256', key, '', 'hoplog visitor ids v1', 64));
  const cookieCipher = blockCipher(keys.subarray(0, 32));
  const maskCipher = blockCipher(keys.subarray(32));
  const block = Buffer.alloc(16);

  function derive(cookie: Uint8Array, mask: Uint8Array): Uint8Array {
    for (let at = 0; at < 16; at++) block[at] = (cookie[at] ?? 0) ^ (mask[at] ?? 0);
    const id = cookieCipher.update(block);
    stamp(id, 8);
    return id;
  }

  return {
    visitorIdOf: (cookie, workspaceId) => derive(cookie, maskCipher.update(workspaceId)),
    forWorkspace(workspaceId) {
      const mask = maskCipher.update(workspaceId);
      return (cookie) => derive(cookie, mask);
    },
  };
}

/** ECB over single blocks is the block cipher itself: nothing repeats within one message of one block. */
function blockCipher(key: Buffer) {
  return createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
}

const POOL_BYTES = 16 * 256;
const pool = new Uint8Array(POOL_BYTES);
let poolAt = POOL_BYTES;

/** The 16 bytes of a new random UUID (version 4) for a visitor who has no cookie yet. */
export function newVisitorCookie(): Uint8Array {
  if (poolAt === POOL_BYTES) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const bytes = pool.slice(poolAt, poolAt + 16);
  poolAt += 16;
  stamp(bytes, 4);
  return bytes;
}

/**
 * Reads the visitor's cookie out of a `Cookie` header, strictly: a lower-case UUID of version 4, exactly as
 * {@link visitorCookie} writes it. Anything else is as good as none and is never stored.
 *
 * The first well-formed one counts, not the first: when the destination shares a domain with the short links,
 * the pixel's own `_vid` (a visitor id, version 8) comes along, and must not make a new visitor each time.
 *
 * @returns its 16 bytes, or null when there is none
 */
export function parseVisitorCookie(header: string): Uint8Array | null {
  let from = header.startsWith('_vid=') ? 5 : nextVisitorCookie(header, 0);
  for (; from > 0; from = nextVisitorCookie(header, from)) {
    const end = from + 36;
    if (end < header.length && header.charCodeAt(end) !== 0x3b) continue;
    const bytes = parseVisitorUuid(header, from);
    if (bytes !== null) return bytes;
  }
  return null;
}

/** Where the value of the next `_vid` cookie begins, 0 when there is none. */
function nextVisitorCookie(header: string, from: number): number {
  const at = header.indexOf('; _vid=', from);
  return at < 0 ? 0 : at + 7;
}

/** Whether a header holds a `_vid` cookie of any form: what `Sec-GPC: 1` asks to clear. */
export function hasVisitorCookie(header: string): boolean {
  return header.startsWith('_vid=') || header.includes('; _vid=');
}

/**
 * `Set-Cookie` for a visitor: one year, for the whole origin, out of scripts' reach.
 *
 * @param secure whether the short-link origin is https
 */
export function visitorCookie(cookie: Uint8Array, secure: boolean): string {
  return setCookie(bytesToUuid(cookie), VISITOR_COOKIE_MAX_AGE, secure);
}

/** `Set-Cookie` that removes the visitor's cookie. */
export function clearedVisitorCookie(secure: boolean): string {
  return setCookie('', 0, secure);
}

function setCookie(value: string, maxAge: number, secure: boolean): string {
  return `${VISITOR_COOKIE}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** Sets version and variant in place. */
function stamp(bytes: Uint8Array, version: 4 | 8): void {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
}

/** By hand, because a pattern and a hex decoder cost twice as much on every redirect. */
function parseVisitorUuid(text: string, from: number): Uint8Array | null {
  const bytes = new Uint8Array(16);
  let at = from;
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) {
      if (text.charCodeAt(at++) !== 0x2d) return null;
    }
    const high = hexDigit(text.charCodeAt(at++));
    const low = hexDigit(text.charCodeAt(at++));
    if (high < 0 || low < 0) return null;
    bytes[index] = (high << 4) | low;
  }
  const versioned = ((bytes[6] ?? 0) & 0xf0) === 0x40 && ((bytes[8] ?? 0) & 0xc0) === 0x80;
  return versioned ? bytes : null;
}

/** Value of a lower-case hexadecimal digit, -1 for anything else (also past the end: NaN). */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return -1;
}
