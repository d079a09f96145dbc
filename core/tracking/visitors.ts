import { createCipheriv, hkdfSync, randomFillSync } from 'node:crypto';
import { createBoundedCache } from '../caching/bounded-cache.ts';
import { bytesToUuid } from '../ids.ts';

/** Name of the cookie, on the short-link origin and on the destination site, and of the query parameter. */
export const VISITOR_COOKIE = '_vid';

/** One year, in seconds. */
const VISITOR_COOKIE_MAX_AGE = 31_536_000;

/** Bytes of the deployment's visitor key. It never rotates: every visitor would become a new one. */
const VISITOR_KEY_BYTES = 32;

/** A visitor who came without a cookie, as the 16 bytes of a UUID and as text. */
export type NewVisitor = { id: Uint8Array; idText: string; cookieText: string };

/** The visitors of one workspace. */
export type WorkspaceVisitors = {
  /** The workspace's id, the same bytes for all of its links. */
  readonly workspaceId: Uint8Array;
  idOf(cookie: Uint8Array): Uint8Array;
  /** Returns a visitor with a new random cookie. */
  newVisitor(): NewVisitor;
};

/** Derives visitor ids. Ids are the 16 bytes of a UUID. */
export type VisitorIds = {
  visitorIdOf(cookie: Uint8Array, workspaceId: Uint8Array): Uint8Array;
  /** The same for one workspace, with its constant parts computed once: for link tables and loops. */
  forWorkspace(workspaceId: Uint8Array): WorkspaceVisitors;
};

const WORKSPACES = 1_024;
/**
 * New visitors are made in batches, one call of the cipher each: small ones for an idle workspace, up to some 60 KB
 * for a busy one.
 */
const IN_ADVANCE = { first: 4, most: 256 };

/**
 * Creates visitor ids with one AES block each: `E1(cookie xor mask)` with `mask = E2(workspace)`, where E1 and E2 are
 * AES-256 under two keys derived from the deployment's visitor key. Without that key, the ids of one cookie in two
 * workspaces are unrelated, so workspaces can't link their visitors, and an id does not reveal the cookie. The result
 * is a UUID of version 8 (RFC 9562: custom bits).
 *
 * @param key {@link VISITOR_KEY_BYTES} secret bytes
 * @throws {RangeError} when the key has another length
 */
export function createVisitorIds(key: Uint8Array): VisitorIds {
  if (key.length !== VISITOR_KEY_BYTES)
    throw new RangeError(`the visitor key must have ${VISITOR_KEY_BYTES} bytes, not ${key.length}`);
  const keys = Buffer.from(hkdfSync('sha256', key, '', 'hoplog visitor ids v1', 64));
  const cookieCipher = blockCipher(keys.subarray(0, 32));
  const maskCipher = blockCipher(keys.subarray(32));
  const workspaces = createBoundedCache<string, WorkspaceVisitors>(WORKSPACES);

  function derive(cookies: Uint8Array, mask: Uint8Array): Buffer {
    const ids = cookieCipher.update(masked(cookies, mask));
    stampAll(ids, 8);
    return ids;
  }

  function newVisitors(count: number, mask: Uint8Array): NewVisitor[] {
    const cookies = randomFillSync(new Uint8Array(16 * count));
    stampAll(cookies, 4);
    const ids = derive(cookies, mask);
    const cookieTexts = uuidTexts(cookies);
    const idTexts = uuidTexts(ids);
    const visitors: NewVisitor[] = [];
    for (let index = 0; index < count; index++) {
      visitors.push({
        id: new Uint8Array(ids.buffer, ids.byteOffset + index * 16, 16),
        idText: idTexts.slice(index * 36, index * 36 + 36),
        cookieText: cookieTexts.slice(index * 36, index * 36 + 36),
      });
    }
    return visitors;
  }

  function visitorsOf(workspaceId: Uint8Array): WorkspaceVisitors {
    const mask = maskCipher.update(workspaceId);
    let waiting: NewVisitor[] = [];
    let count = IN_ADVANCE.first;
    return {
      workspaceId,
      idOf: (cookie) => derive(cookie, mask),
      newVisitor() {
        if (waiting.length === 0) {
          waiting = newVisitors(count, mask);
          count = Math.min(count * 2, IN_ADVANCE.most);
        }
        return waiting.pop() as NewVisitor;
      },
    };
  }

  return {
    visitorIdOf: (cookie, workspaceId) => derive(cookie, maskCipher.update(workspaceId)),
    forWorkspace(workspaceId) {
      const name = bytesToUuid(workspaceId);
      let visitors = workspaces.get(name);
      if (visitors === undefined) {
        visitors = visitorsOf(Uint8Array.from(workspaceId));
        workspaces.set(name, visitors);
      }
      return visitors;
    },
  };
}

/** Single blocks of ECB are the plain block cipher: nothing repeats within a message of one block. */
function blockCipher(key: Buffer) {
  return createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
}

/**
 * Returns the visitor's cookie in a `Cookie` header: a lower-case UUID of version 4, exactly as {@link visitorCookie}
 * writes it. Anything else is ignored and never stored.
 *
 * It is the first well-formed value, not the first one. When the destination shares a domain with the short links,
 * the pixel's own `_vid` (a visitor id, version 8) is sent too, and must not make a new visitor each time.
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

function nextVisitorCookie(header: string, from: number): number {
  const at = header.indexOf('; _vid=', from);
  return at < 0 ? 0 : at + 7;
}

/** Returns whether a header has a `_vid` cookie of any form, which `Sec-GPC: 1` asks to clear. */
export function hasVisitorCookie(header: string): boolean {
  return header.startsWith('_vid=') || header.includes('; _vid=');
}

/**
 * Returns the `Set-Cookie` of a visitor: one year, for the whole origin, HTTP-only.
 *
 * @param cookie its UUID
 * @param secure whether the short-link origin is https
 */
export function visitorCookie(cookie: string, secure: boolean): string {
  return `_vid=${cookie}${secure ? SECURE_COOKIE_END : COOKIE_END}`;
}

/** Returns the `Set-Cookie` that removes the visitor's cookie. */
export function clearedVisitorCookie(secure: boolean): string {
  return `_vid=${cookieEnd(0, secure)}`;
}

/** The attributes of a visitor's cookie, joined once: every redirect needs them. */
const COOKIE_END = cookieEnd(VISITOR_COOKIE_MAX_AGE, false);
const SECURE_COOKIE_END = cookieEnd(VISITOR_COOKIE_MAX_AGE, true);

function cookieEnd(maxAge: number, secure: boolean): string {
  return `; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

// The loops are functions of their own, which V8 optimizes well and does not deoptimize.

function masked(cookies: Uint8Array, mask: Uint8Array): Uint8Array {
  const blocks = new Uint8Array(cookies.length);
  for (let at = 0; at < blocks.length; at++) blocks[at] = (cookies[at] ?? 0) ^ (mask[at & 15] ?? 0);
  return blocks;
}

function stampAll(bytes: Uint8Array, version: 4 | 8): void {
  for (let at = 0; at < bytes.length; at += 16) {
    bytes[at + 6] = ((bytes[at + 6] ?? 0) & 0x0f) | (version << 4);
    bytes[at + 8] = ((bytes[at + 8] ?? 0) & 0x3f) | 0x80;
  }
}

const DIGITS = Buffer.from('0123456789abcdef');

function uuidTexts(bytes: Uint8Array): string {
  const text = Buffer.alloc((bytes.length / 16) * 36, '-');
  let at = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    const within = index & 15;
    if (within === 4 || within === 6 || within === 8 || within === 10) at += 1;
    text[at++] = DIGITS[byte >> 4] ?? 0;
    text[at++] = DIGITS[byte & 15] ?? 0;
  }
  return text.toString('latin1');
}

/** Written by hand: a pattern and a hex decoder would double the cost on every redirect. */
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
