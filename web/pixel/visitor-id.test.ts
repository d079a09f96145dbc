import { describe, expect, test } from 'vitest';
import { cookieDomains, cookieText, hasVisitorId, takeVisitorId, visitorIdIn } from './visitor-id.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';

describe('taking the visitor’s id out of an address', () => {
  test.each([
    [`https://a.example/?_vid=${VID}`, 'https://a.example/'],
    [`https://a.example/p?x=1&_vid=${VID}&y=%7E+z`, 'https://a.example/p?x=1&y=%7E+z'],
    [`https://a.example/p?_vid=${VID}&x#_vid=1`, 'https://a.example/p?x#_vid=1'],
    [`https://a.example/p?_vid=${VID}#top?x=1`, 'https://a.example/p#top?x=1'],
    [`https://a.example/?_vid=junk&_vid=${VID}&_vid=${VID.replace('5b', '6b')}`, 'https://a.example/'],
  ])('%s leaves %s', (href, rest) => {
    expect(takeVisitorId(href)).toEqual({ href: rest, visitorId: VID });
  });

  test.each([
    'https://a.example/',
    'https://a.example/?',
    'https://a.example/?x_vid=1&vid=2&_vids=3',
    `https://a.example/#?_vid=${VID}`,
    'https://a.example/?a=%zz&&b',
  ])('%s has none and stays as it is', (href) => {
    expect(takeVisitorId(href)).toEqual({ href, visitorId: null });
  });

  test.each(['', 'x', VID.toUpperCase(), `${VID}0`, '<script>'])(
    '%j is no id, and goes all the same',
    (value) => {
      expect(takeVisitorId(`https://a.example/?a=1&_vid=${value}`)).toEqual({
        href: 'https://a.example/?a=1',
        visitorId: null,
      });
    },
  );
});

describe('the cookie', () => {
  test('is found among others', () => {
    expect(visitorIdIn(`a=b; _vid=${VID}; c=d`)).toBe(VID);
    expect(visitorIdIn(`x_vid=${VID}`)).toBeNull();
    expect(visitorIdIn('')).toBeNull();
  });

  test('of another form is no id, but is there and is not replaced', () => {
    expect(visitorIdIn('_vid=mine')).toBeNull();
    expect(hasVisitorId('_vid=mine')).toBe(true);
    expect(hasVisitorId('x_vid=mine; y=_vid=1')).toBe(false);
  });

  test('lasts a year on its domain, and is secure on https', () => {
    expect(cookieText(VID, 'a.example', true)).toBe(
      `_vid=${VID};path=/;max-age=31536000;samesite=lax;domain=a.example;secure`,
    );
    expect(cookieText(VID, '', false)).toBe(`_vid=${VID};path=/;max-age=31536000;samesite=lax`);
    expect(cookieText(null, '', false)).toBe('_vid=;path=/;max-age=0;samesite=lax');
  });

  test('is tried on the widest domain first, on the host alone last', () => {
    expect(cookieDomains('shop.a.example')).toEqual(['a.example', 'shop.a.example', '']);
    expect(cookieDomains('a.example')).toEqual(['a.example', '']);
    expect(cookieDomains('localhost')).toEqual(['']);
  });
});
