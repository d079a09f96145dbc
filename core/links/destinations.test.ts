import { expect, test } from 'vitest';
import { isLoopback } from '../addresses/loopback.ts';
import { AppError } from '../errors.ts';
import {
  DESTINATION_LIMIT,
  isOnDomain,
  registrableDomain,
  requireAppDestination,
  requireDestination,
} from './destinations.ts';

const rules = { shortUrl: 'https://go.example' };
const check = (text: string, shortUrl = rules.shortUrl) =>
  requireDestination('destination_url', text, { shortUrl });

test.each([
  'https://example.com',
  'https://example.com:8443/path?a=1#b',
  'HTTPS://EXAMPLE.com/',
  'https://xn--bcher-kva.example/ü',
  'https://bücher.example/',
  'https://go.example.org/',
  'https://sub.go.example/',
  'https://go.example:8443/',
  'http://localhost:3000/',
  'http://app.localhost/',
  'http://127.0.0.1:9999/x',
  'http://127.9.9.9/',
  'http://[::1]:80/',
  'https://10.0.0.1/',
  'https://example.com./',
  `https://example.com/${'ü'.repeat(600)}`,
])('%s is a destination', (text) => {
  expect(check(text)).toBeInstanceOf(URL);
});

test.each([
  '',
  'example',
  'example.com',
  '//example.com',
  'https:example.com',
  'https:/example.com',
  'https://',
  'https:///path',
  'https://exa mple.com',
  'https://example.com/a b',
  ' https://example.com',
  'https://example.com\n',
  'https://example.com/\u0000',
  'java\tscript:alert(1)',
  'javascript:alert(1)',
  'data:text/html,x',
  'ftp://example.com/',
  'file:///etc/passwd',
  'http://example.com/',
  'http://10.0.0.1/',
  'http://localhost.example/',
  'http://127.0.0.1.example/',
  'https://user@example.com/',
  'https://user:pw@example.com/',
  'https://:pw@example.com/',
  'https://go.example',
  'https://go.example/abc',
  'https://GO.example./abc',
  'https://go.example:443/abc',
  'https://.',
  'https://.:8443/',
  'https://..',
  'https://a..example',
  'https://.example',
  'https://example..',
  'https://a%2e.example',
  'https://a。。example',
  'http://.localhost/',
  'https://https://example.com',
  'https://http://example.com/a',
  'https://www.https://example.com',
  'https://www.https//example.com',
  'https://example.comhttps://example.com',
  'https://example.com://a',
  'https://example',
  'https://example./a',
  'https://example.com/\u202egnp.exe',
  'https://example.com/a\u2066b',
  `https://example.com/${'a'.repeat(DESTINATION_LIMIT)}`,
  `https://example.com/${'漢'.repeat(DESTINATION_LIMIT / 2)}`,
])('%s is rejected with a 400 that names the field', (text) => {
  const attempt = () => check(text);
  expect(attempt).toThrow(AppError);
  expect(attempt).toThrow(/^`destination_url` /);
});

test('a loopback short-link origin is rejected under every loopback name, on its own port only', () => {
  const short = 'http://127.0.0.1:8080';
  expect(() => check('http://localhost:8080/a', short)).toThrow(AppError);
  expect(() => check('http://[::1]:8080/a', short)).toThrow(AppError);
  expect(check('http://127.0.0.1:8081/a', short).port).toBe('8081');
});

test.each([
  'geo:52.5,13.4',
  'tel:+4930123456',
  'mailto:a@example.com',
  'sms:+4930123456',
  'myapp://product/17',
])('%s opens an app', (text) => {
  expect(requireAppDestination('targeting.android', text, rules)).toBeInstanceOf(URL);
  expect(() => check(text)).toThrow(AppError);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'shop.example:8080',
  'geo:',
  'tel:+49 30',
  'blob:x',
  'ftp://a',
])('%s opens no app', (text) => {
  expect(() => requireAppDestination('targeting.android', text, rules)).toThrow(/^`targeting.android` /);
});

test('an import takes a link to a host of an intranet', () => {
  expect(requireDestination('url', 'http://wiki/a', { ...rules, allowsHttp: true }).host).toBe('wiki');
});

test('hosts that merely look like loopback are not', () => {
  expect(['localhost', 'a.localhost', '127.0.0.1', '[::1]'].every(isLoopback)).toBe(true);
  expect(['localhost.example', '128.0.0.1', '127.0.0.1.example', '[::2]'].some(isLoopback)).toBe(false);
});

test.each([
  ['https://shop.example.com/', 'example.com'],
  ['https://a.b.example.co.uk/', 'example.co.uk'],
  ['https://alice.github.io/', 'alice.github.io'],
  ['https://example.com./', 'example.com'],
  ['https://www.bücher.de/', 'xn--bcher-kva.de'],
  ['http://localhost:3000/', 'localhost'],
  ['http://127.0.0.1:3000/', '127.0.0.1'],
  ['http://[::1]/', '[::1]'],
  ['https://intranet/', 'intranet'],
  ['https://github.io/', 'github.io'],
])('the own-site domain of %s is %s', (url, domain) => {
  expect(registrableDomain(new URL(url))).toBe(domain);
  expect(isOnDomain(new URL(url), domain)).toBe(true);
});

test('an own-site domain covers its subdomains and no neighbor', () => {
  expect(isOnDomain(new URL('https://a.b.example.com/'), 'Example.com')).toBe(true);
  expect(isOnDomain(new URL('https://notexample.com/'), 'example.com')).toBe(false);
  expect(isOnDomain(new URL('https://example.com.evil.test/'), 'example.com')).toBe(false);
  expect(isOnDomain(new URL('https://example.com/'), 'shop.example.com')).toBe(false);
});
