import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bytesToUuid, isUuid, uuidToBytes } from '../ids.ts';
import {
  clearedVisitorCookie,
  createVisitorIds,
  hasVisitorCookie,
  parseVisitorCookie,
  visitorCookie,
} from './visitors.ts';

const key = Buffer.alloc(32, 7);
const cookie = uuidToBytes('0b6fa12c-4f6e-4b3d-9a61-0c9d6c1f6a11');
const workspace = uuidToBytes('01931b6a-7a00-7000-8000-000000000001');
const freshCookie = () => uuidToBytes(randomUUID());
const other = uuidToBytes('01931b6a-7a00-7000-8000-000000000002');

describe('a visitor id', () => {
  test('is the same for the same cookie and workspace, permanently', () => {
    const id = bytesToUuid(createVisitorIds(key).visitorIdOf(cookie, workspace));
    expect(id).toBe('5b104370-c9bd-8db2-8a30-83f8041ed7fd');
  });

  test('is a UUID of version 8 for any cookie', () => {
    const { visitorIdOf } = createVisitorIds(key);
    for (let round = 0; round < 200; round++) {
      const id = bytesToUuid(visitorIdOf(freshCookie(), workspace));
      expect(isUuid(id)).toBe(true);
      expect(id).toMatch(/^.{14}8.{4}[89ab]/);
    }
  });

  test('differs between workspaces, cookies and keys', () => {
    const ids = createVisitorIds(key);
    const seen = new Set([
      bytesToUuid(ids.visitorIdOf(cookie, workspace)),
      bytesToUuid(ids.visitorIdOf(cookie, other)),
      bytesToUuid(ids.visitorIdOf(freshCookie(), workspace)),
      bytesToUuid(createVisitorIds(randomBytes(32)).visitorIdOf(cookie, workspace)),
    ]);
    expect(seen.size).toBe(4);
  });

  test('of two workspaces has no constant difference that would link them', () => {
    const ids = createVisitorIds(key);
    const differences = Array.from({ length: 50 }, () => {
      const fresh = freshCookie();
      const left = ids.visitorIdOf(fresh, workspace);
      const right = ids.visitorIdOf(fresh, other);
      return Buffer.from(left.map((byte, at) => byte ^ (right[at] ?? 0))).toString('hex');
    });
    expect(new Set(differences).size).toBe(50);
  });

  test('is the same through the prepared form of a workspace, also when two are in use', () => {
    const ids = createVisitorIds(key);
    const first = ids.forWorkspace(workspace);
    const second = ids.forWorkspace(other);
    const kept = first.idOf(cookie);
    expect(second.idOf(cookie)).toEqual(ids.visitorIdOf(cookie, other));
    expect(kept).toEqual(ids.visitorIdOf(cookie, workspace));
  });

  test('leaves the cookie as it was', () => {
    const before = Buffer.from(cookie);
    createVisitorIds(key).visitorIdOf(cookie, workspace);
    expect(cookie).toEqual(before);
  });

  test('requires a key of 32 bytes', () => {
    expect(() => createVisitorIds(Buffer.alloc(16))).toThrow(RangeError);
  });
});

describe('the visitor cookie', () => {
  const value = '0b6fa12c-4f6e-4b3d-9a61-0c9d6c1f6a11';

  test('of a new visitor is a new UUID of version 4, and leads back to the same visitor', () => {
    const visitors = createVisitorIds(key).forWorkspace(workspace);
    const seen = new Set<string>();
    for (let round = 0; round < 1_000; round++) {
      const { id, idText, cookieText } = visitors.newVisitor();
      expect(cookieText).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(bytesToUuid(visitors.idOf(uuidToBytes(cookieText)))).toBe(idText);
      expect(bytesToUuid(id)).toBe(idText);
      seen.add(cookieText);
    }
    expect(seen.size).toBe(1_000);
  });

  test('is set for a year, HTTP-only, and secure on https', () => {
    expect(visitorCookie(value, false)).toBe(
      '_vid=0b6fa12c-4f6e-4b3d-9a61-0c9d6c1f6a11; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax',
    );
    expect(visitorCookie(value, true)).toMatch(/; Secure$/);
    expect(clearedVisitorCookie(true)).toBe('_vid=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure');
  });

  test.each([`_vid=${value}`, `a=b; _vid=${value}`, `_vid=${value}; c=d`, `x_vid=1; _vid=${value}; y=2`])(
    'is read from %s',
    (header) => {
      expect(parseVisitorCookie(header)).toEqual(new Uint8Array(cookie));
    },
  );

  test.each([
    '',
    'a=b',
    '_vid=',
    '_vid',
    `x_vid=${value}`,
    `_vid=${value.toUpperCase()}`,
    `_vid=${value}0`,
    `_vid=${value.slice(0, -1)}`,
    `_vid=${value.replace('-4b3d', '-7b3d')}`,
    `_vid=${value.replace('-9a61', '-ca61')}`,
    `_vid="${value}"`,
    `_vid=${value.replaceAll('-', '')}`,
    `_vid=${value.replace('-', '_')}`,
    `_vid=${value.slice(0, -1)}g`,
    `_vid= ${value}`,
    `_vid=<script>; _vid=${value.replace('-4b3d', '-8b3d')}`,
  ])('is missing when the header is %j', (header) => {
    expect(parseVisitorCookie(header)).toBeNull();
  });

  test('is found behind the pixel’s cookie of a destination on the same domain', () => {
    const pixel = value.replace('-4b3d', '-8b3d');
    expect(parseVisitorCookie(`_vid=${pixel}; _vid=${value}`)).toEqual(new Uint8Array(cookie));
    expect(parseVisitorCookie(`_vid=${value}; _vid=${pixel}`)).toEqual(new Uint8Array(cookie));
    expect(parseVisitorCookie(`_vid=${pixel}`)).toBeNull();
  });

  test('is recognized in any form for clearing', () => {
    expect(hasVisitorCookie('_vid=junk')).toBe(true);
    expect(hasVisitorCookie('a=b; _vid=')).toBe(true);
    expect(hasVisitorCookie('x_vid=1')).toBe(false);
  });

  test('survives the round trip through its own header', () => {
    const header = visitorCookie(value, true).split(';')[0] ?? '';
    expect(parseVisitorCookie(header)).toEqual(new Uint8Array(cookie));
  });
});
