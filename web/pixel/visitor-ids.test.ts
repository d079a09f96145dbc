import { beforeEach, describe, expect, test } from 'vitest';
import { cookieDomains, cookieText, createVisitorIds, idsIn, newestOf, type Page } from './visitor-ids.ts';

const id = (n: number) => `${String(n).padStart(8, '0')}-c9bd-8db2-8a30-83f8041ed7fd`;

describe('the ids in cookies', () => {
  test('are found among others, newest first, each once', () => {
    expect(idsIn(`a=b; _vid=${id(1)}; c=d`)).toEqual([id(1)]);
    expect(idsIn(`_vids=${id(2)}.${id(3)}.${id(1)}; _vid=${id(1)}`)).toEqual([id(1), id(2), id(3)]);
    expect(idsIn(`x_vid=${id(1)}; _vid=mine; _vids=.x.`)).toEqual([]);
    expect(idsIn('')).toEqual([]);
  });

  test('are at most eight', () => {
    expect(newestOf(Array.from({ length: 12 }, (_, n) => id(n)))).toHaveLength(8);
  });

  test('last a year on their domain, and are secure on https', () => {
    expect(cookieText('_vid', id(1), 'a.example', true)).toBe(
      `_vid=${id(1)};path=/;max-age=31536000;samesite=lax;domain=a.example;secure`,
    );
    expect(cookieText('_vid', id(1), '', false)).toBe(`_vid=${id(1)};path=/;max-age=31536000;samesite=lax`);
    expect(cookieText('_vids', '', '', false)).toBe('_vids=;path=/;max-age=0;samesite=lax');
  });

  test('are tried on the widest domain first, on the host alone last', () => {
    expect(cookieDomains('shop.a.example')).toEqual(['a.example', 'shop.a.example', '']);
    expect(cookieDomains('a.example')).toEqual(['a.example', '']);
    expect(cookieDomains('localhost')).toEqual(['']);
  });
});

describe('the ids of a browser', () => {
  /** A cookie jar of one host, in which some names can't be written. */
  let jar: Map<string, string>;
  let page: Page;
  const readOnly = new Set<string>();
  beforeEach(() => {
    jar = new Map();
    readOnly.clear();
    const document = {
      get cookie() {
        return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      },
      set cookie(text: string) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        if (readOnly.has(name)) return;
        if (text.includes('max-age=0')) jar.delete(name);
        else jar.set(name, value);
      },
    };
    page = { document, location: { hostname: 'localhost', protocol: 'http:' } };
  });

  test('begin with the newest, and keep seven before it', () => {
    const ids = createVisitorIds(page);
    for (let n = 0; n < 10; n++) ids.add(id(n), 1_000 + n);
    ids.add(id(5), 2_000);
    expect(jar.get('_vid')).toBe(id(5));
    expect(jar.get('_vids')).toBe([9, 8, 7, 6, 4, 3, 2].map(id).join('.'));
    expect(createVisitorIds(page).all()).toEqual([5, 9, 8, 7, 6, 4, 3, 2].map(id));
  });

  test('leave another tool’s cookie of the same name alone, and are kept beside it', () => {
    jar.set('_vid', 'theirs');
    const ids = createVisitorIds(page);
    ids.add(id(1), 1_000);
    ids.add(id(2), 2_000);
    expect(Object.fromEntries(jar)).toMatchObject({ _vid: 'theirs', _vids: `${id(2)}.${id(1)}` });
    expect(ids.all()).toEqual([id(2), id(1)]);
    ids.clear();
    expect(Object.fromEntries(jar)).toEqual({ _vid: 'theirs' });
  });

  test('are kept where the page can’t write `_vid`', () => {
    readOnly.add('_vid');
    createVisitorIds(page).add(id(1), 1_000);
    expect(createVisitorIds(page).all()).toEqual([id(1)]);
  });

  test('stay in the page where cookies throw', () => {
    Object.defineProperty(page.document, 'cookie', {
      get() {
        throw new Error('sandboxed');
      },
    });
    const ids = createVisitorIds(page);
    ids.add(id(1), 1_000);
    ids.add(id(2), 2_000);
    expect(ids.all()[0]).toBe(id(2));
    ids.clear();
    expect(ids.all()).toEqual([]);
  });

  test('have the time at which their address was opened first, on other pages too', () => {
    createVisitorIds(page).add(id(1), 1_000);
    createVisitorIds(page).add(id(2), 1_600);
    createVisitorIds(page).add(id(1), 9_000);
    expect(jar.get('_vidt')).toBe('00000001rs.0000000218g');
    expect(createVisitorIds(page).ages(10_000)).toEqual({ [id(1)]: 9_000, [id(2)]: 8_400 });
    createVisitorIds(page).clear();
    expect([...jar]).toEqual([]);
  });

  test('have no time that is believed where it is not known, also when they come again', () => {
    jar.set('_vid', id(1));
    createVisitorIds(page).add(id(1), 1_700_000_000);
    createVisitorIds(page).add(id(2), Number.NaN);
    const now = 1_800_000_000;
    expect(createVisitorIds(page).ages(now)).toEqual({ [id(1)]: now, [id(2)]: now });
  });
});
