import { expect, test } from 'vitest';
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
])('%j is not an address', (text) => {
  expect(isEmail(text)).toBe(false);
});

test('identity ignores case and surrounding space, nothing else', () => {
  expect(normalizeEmail('  Ann.Lee+Shop@Gmail.com ')).toBe('ann.lee+shop@gmail.com');
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
