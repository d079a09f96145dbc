import { beforeEach, describe, expect, test } from 'vitest';
import { cookieDomains, createVisitorIds, type Page } from './visitor-ids.ts';

const id = (n: number) => `${String(n).padStart(8, '0')}-c9bd-8db2-8a30-83f8041ed7fd`;

test('cookies are tried on the widest domain first, on the host alone last', () => {
  expect(cookieDomains('shop.a.example')).toEqual(['a.example', 'shop.a.example', '']);
  expect(cookieDomains('a.example')).toEqual(['a.example', '']);
  expect(cookieDomains('localhost')).toEqual(['']);
});

describe('the ids of a browser', () => {
  /** A cookie jar of one host, in which some names can't be written. */
  let jar: Map<string, string>;
  let page: Page;
  /** The values that were written to `document.cookie`. */
  let written: string[];
  const idsOf = (of: Page) => createVisitorIds(of, (step) => step());
  const idsNow = (of: Page) => Object.keys(idsOf(of).ages(0));
  const readOnly = new Set<string>();
  beforeEach(() => {
    jar = new Map();
    written = [];
    readOnly.clear();
    const document = {
      get cookie() {
        return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      },
      set cookie(text: string) {
        written.push(text);
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        if (readOnly.has(name)) return;
        if (text.includes('max-age=0')) jar.delete(name);
        else jar.set(name, value);
      },
    };
    page = { document, location: { hostname: 'localhost', protocol: 'http:' } };
  });

  test('are found among other cookies, newest first, each once', () => {
    for (const [name, value] of [
      ['a', 'b'],
      ['_vids', `${id(2)}.${id(3)}.${id(1)}`],
      ['_vid', id(1)],
      ['x_vid', id(9)],
    ] as const)
      jar.set(name, value);
    expect(idsNow(page)).toEqual([id(1), id(2), id(3)]);
    jar.set('_vid', 'mine').set('_vids', '.x.');
    expect(idsNow(page)).toEqual([]);
  });

  test('last a year, and are secure on https', () => {
    idsOf(page).add(id(1), 1_000);
    expect(written[0]).toBe(`_vid=${id(1)};path=/;max-age=31536000;samesite=lax`);
    idsOf({ ...page, location: { hostname: 'shop.a.example', protocol: 'https:' } }).add(id(2), 1_000);
    expect(written).toContain(`_vid=${id(2)};path=/;max-age=31536000;samesite=lax;domain=a.example;secure`);
  });

  test('write no cookie to remove what is not there', () => {
    idsOf(page).clear();
    expect(written).toEqual([]);
    idsOf(page).add(id(1), 1_000);
    written = [];
    idsOf(page).clear();
    expect(written).toEqual(['_vid=;path=/;max-age=0;samesite=lax', '_vidt=;path=/;max-age=0;samesite=lax']);
  });

  test('begin with the newest, and keep seven before it', () => {
    const ids = idsOf(page);
    for (let n = 0; n < 10; n++) ids.add(id(n), 1_000 + n);
    ids.add(id(5), 2_000);
    expect(jar.get('_vid')).toBe(id(5));
    expect(jar.get('_vids')).toBe([9, 8, 7, 6, 4, 3, 2].map(id).join('.'));
    expect(idsNow(page)).toEqual([5, 9, 8, 7, 6, 4, 3, 2].map(id));
  });

  test('leave another tool’s cookie of the same name alone, and are kept beside it', () => {
    jar.set('_vid', 'theirs');
    const ids = idsOf(page);
    ids.add(id(1), 1_000);
    ids.add(id(2), 2_000);
    expect(Object.fromEntries(jar)).toMatchObject({ _vid: 'theirs', _vids: `${id(2)}.${id(1)}` });
    expect(Object.keys(ids.ages(0))).toEqual([id(2), id(1)]);
    ids.clear();
    expect(Object.fromEntries(jar)).toEqual({ _vid: 'theirs' });
  });

  test('are kept where the page can’t write `_vid`', () => {
    readOnly.add('_vid');
    idsOf(page).add(id(1), 1_000);
    expect(idsNow(page)).toEqual([id(1)]);
  });

  test('stay in the page where cookies throw', () => {
    Object.defineProperty(page.document, 'cookie', {
      get() {
        throw new Error('sandboxed');
      },
    });
    const ids = idsOf(page);
    ids.add(id(1), 1_000);
    ids.add(id(2), 2_000);
    expect(Object.keys(ids.ages(0))[0]).toBe(id(2));
    ids.clear();
    expect(Object.keys(ids.ages(0))).toEqual([]);
  });

  test('have the time at which their address was opened first, on other pages too', () => {
    idsOf(page).add(id(1), 1_000);
    idsOf(page).add(id(2), 1_600);
    idsOf(page).add(id(1), 9_000);
    expect(jar.get('_vidt')).toBe('00000001rs.0000000218g');
    expect(idsOf(page).ages(10_000)).toEqual({ [id(1)]: 9_000, [id(2)]: 8_400 });
    idsOf(page).clear();
    expect([...jar]).toEqual([]);
  });

  test('have no time that is believed where it is not known, also when they come again', () => {
    jar.set('_vid', id(1));
    idsOf(page).add(id(1), 1_700_000_000);
    idsOf(page).add(id(2), Number.NaN);
    const now = 1_800_000_000;
    expect(idsOf(page).ages(now)).toEqual({ [id(1)]: now, [id(2)]: now });
  });
});
