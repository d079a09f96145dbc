import { expect, test } from 'vitest';
import { cleanReferer, REFERER_LIMIT, refererHost, refererOrigin } from './referer.ts';

test('a referer is stored as sent', () => {
  for (const referer of ['', 'https://a.example/ü?x=1#y', 'not a url', ' spaced ']) {
    expect(cleanReferer(referer)).toBe(referer);
  }
});

test('control characters are removed, the rest stays', () => {
  expect(cleanReferer('https://a.example/\r\n\tb\u0000c\u007fd\u0085')).toBe('https://a.example/bcd');
});

test('a long referer is cut, never inside a character', () => {
  expect(cleanReferer('x'.repeat(5_000))).toHaveLength(REFERER_LIMIT);
  const cut = cleanReferer(`${'x'.repeat(REFERER_LIMIT - 1)}😀`);
  expect(cut).toBe('x'.repeat(REFERER_LIMIT - 1));
  expect(cut.isWellFormed()).toBe(true);
});

test('control characters don’t count towards the length', () => {
  expect(cleanReferer(`\n${'x'.repeat(REFERER_LIMIT)}`)).toBe('x'.repeat(REFERER_LIMIT));
});

test('an origin is a host, or the package of an app', () => {
  expect(refererOrigin('https://A.example:8080/x')).toEqual({ name: 'a.example', app: false });
  expect(refererOrigin('android-app://com.Slack/x')).toEqual({ name: 'com.slack', app: true });
  expect(refererOrigin('https://a.example?x')).toEqual({ name: 'a.example', app: false });
  expect(refererOrigin('https://a.example\\@evil.example')).toEqual({ name: 'a.example', app: false });
});

test('a referer’s host is empty where there is none, or a name too long for one', () => {
  expect(refererHost('https://L.Instagram.com/x')).toBe('l.instagram.com');
  expect(refererHost('android-app://com.twitter.lite/')).toBe('com.twitter.lite');
  expect(refererHost('https://[2001:db8::77]:444/a')).toBe('2001:db8::77');
  expect(refererHost('https://[2001:DB8::77]')).toBe('2001:db8::77');
  expect(refererHost('https://[2001:db8/a')).toBe('[2001');
  expect(refererHost('https://блог-сад.example/статья')).toBe('xn----8sbbih2bv0a.example');
  expect(refererHost('https://Bücher.example/')).toBe('xn--bcher-kva.example');
  expect(refererHost('https://\u00ad/')).toBe('\u00ad');
  expect(refererHost('')).toBe('');
  expect(refererHost('about:blank')).toBe('');
  expect(refererHost(`https://${'a'.repeat(253)}/`)).toBe('a'.repeat(253));
  expect(refererHost(`https://${'a'.repeat(254)}/`)).toBe('');
});
