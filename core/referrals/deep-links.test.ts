import { describe, expect, test } from 'vitest';
import { pathBelow } from './deep-links.ts';

const DESTINATION = 'https://shop.example/welcome?plan=a';

describe('a page below the destination', () => {
  test.each([
    ['https://shop.example/welcome/shoes', '/shoes'],
    ['https://shop.example/welcome/shoes/', '/shoes/'],
    ['https://shop.example/welcome/', '/'],
    ['https://shop.example/welcome', ''],
    ['https://SHOP.example:443/welcome/shoes?color=red&size=4#top', '/shoes?color=red&size=4'],
    ['https://shop.example/welcome/shoes?ref=thief&_vid=1&a=..%2f..', '/shoes?a=..%2F..'],
    ['https://shop.example/welcome/gr%C3%BC%C3%9Fe/ä', '/gr%C3%BC%C3%9Fe/%C3%A4'],
    ['https://shop.example/welcome/a..b/...', '/a..b/...'],
    ['https://shop.example/welcome/50%25', '/50%25'],
  ])('%s is the path %s', (page, path) => {
    expect(pathBelow(DESTINATION, page)).toBe(path);
  });

  test('is any page of a destination without a path', () => {
    expect(pathBelow('https://shop.example', 'https://shop.example/a/b')).toBe('/a/b');
    expect(pathBelow('https://shop.example/', 'https://shop.example/')).toBe('');
    expect(pathBelow('https://shop.example/w/', 'https://shop.example/w/a')).toBe('/a');
  });

  test.each([
    'https://evil.example/welcome/shoes',
    'https://shop.example.evil.example/welcome/a',
    'https://shop.example@evil.example/welcome/a',
    'https://evil.example\\@shop.example/welcome/a',
    'https://me:secret@shop.example/welcome/a',
    'https://shop.example:8443/welcome/a',
    'https://shop.example./welcome/a',
    'https://www.shop.example/welcome/a',
    'http://shop.example/welcome/a',
    'javascript:alert(1)//shop.example/welcome/',
    'data:text/html,https://shop.example/welcome/a',
    'blob:https://shop.example/welcome/a',
    '//shop.example/welcome/a',
    '/welcome/a',
    'shoes',
    '',
    'https://shop.example/welcomed',
    'https://shop.example/',
    'https://shop.example/WELCOME/a',
    'https://shop.example/welcome/../admin',
    'https://shop.example/welcome/..',
    'https://shop.example/welcome/a/../b',
    'https://shop.example/x/../welcome/a',
    'https://shop.example/welcome/./a',
    'https://shop.example/welcome/%2e%2e/admin',
    'https://shop.example/welcome/.%2E/admin',
    'https://shop.example/welcome/..%2fadmin',
    'https://shop.example/welcome/%2e%2e%5cadmin',
    'https://shop.example/welcome\\..\\admin',
    'https://shop.example/welcome/%252e%252e/admin',
    'https://shop.example/welcome/%25252e%25252e%25252fadmin',
    'https://shop.example/welcome%2fa',
  ])('is not %s', (page) => {
    expect(pathBelow(DESTINATION, page)).toBeNull();
  });
});
