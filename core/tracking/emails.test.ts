import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codePoint } from '../../test/support/code-point.ts';
import { isEmail, normalizeEmail, selfReferralEmail } from './emails.ts';

test.each(['a@b.co', ' Ann.Lee+x@Example.co.uk ', 'ü@bücher.example', "o'neil@example.com"])(
  '%j is an address',
  (text) => {
    expect(isEmail(text)).toBe(true);
  },
);

test.each([
  '',
  'a',
  'a@',
  '@b.co',
  'a@b',
  'a b@c.de',
  'a@b..de',
  'a@@b.de',
  'a@b.de, c@d.de',
  `${'x'.repeat(250)}@b.co`,
  '\u200b@b.co',
])('%j is not an address', (text) => {
  expect(isEmail(text)).toBe(false);
});

test.each([
  ['case and surrounding space', '  Ann.Lee+Shop@Gmail.com ', 'ann.lee+shop@gmail.com'],
  ['the form of Unicode', 'jose\u0301@mail.example', 'jos\u00e9@mail.example'],
  ['zero-width characters', 'a\u200bnn\u2060@mail\ufeff.exam\u00adple', 'ann@mail.example'],
  ['the spelling of the host', 'ann@B\u00fccher.example', 'ann@xn--bcher-kva.example'],
  ['wide letters and dots of the host', 'ann@\uff47mail\u3002com', 'ann@gmail.com'],
])('identity ignores %s', (_, text, expected) => {
  expect(normalizeEmail(text)).toBe(expected);
});

test('identity keeps everything else, and does not change when it is taken again', () => {
  expect(normalizeEmail("o'neil+1.x@mail.example")).toBe("o'neil+1.x@mail.example");
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), fc.domain(), (name, host) => {
      const once = normalizeEmail(`${name}@${host}`);
      expect(normalizeEmail(once)).toBe(once);
    }),
  );
});

test.each([
  ['Ann+shop@Example.com', 'ann@example.com'],
  ['ann.lee@example.com', 'ann.lee@example.com'],
  ['A.n.n+1+2@gmail.com', 'ann@gmail.com'],
  ['ann.lee@googlemail.com', 'annlee@gmail.com'],
  ['+tag@example.com', '+tag@example.com'],
  ['no address', 'no address'],
])('for self-referral %s compares as %s', (text, expected) => {
  expect(selfReferralEmail(text)).toBe(expected);
  expect(selfReferralEmail(expected)).toBe(expected);
});
