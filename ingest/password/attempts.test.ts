import { expect, test } from 'vitest';
import { addressBytes } from '../http/addresses.ts';
import { createAttempts } from './attempts.ts';

const address = (text: string) => addressBytes(text) ?? new Uint8Array(16);

test('five attempts in a minute are counted, and each is forgotten a minute after it', () => {
  let now = 0;
  const attempts = createAttempts(() => now);
  const begin = () => attempts.begin('link', address('192.0.2.1'));
  expect(Array.from({ length: 6 }, begin)).toEqual([true, true, true, true, true, false]);
  now = 59_999;
  expect(begin()).toBe(false);
  now = 60_001;
  expect(begin()).toBe(true);
});

test('addresses of one IPv6 /64 count together, IPv4 addresses and links apart', () => {
  const attempts = createAttempts(() => 0);
  for (let index = 0; index < 5; index++) attempts.begin('link', address(`2001:db8::${index}`));
  expect(attempts.begin('link', address('2001:db8::ffff'))).toBe(false);
  expect(attempts.begin('link', address('2001:db8:0:1::1'))).toBe(true);
  expect(attempts.begin('other', address('2001:db8::1'))).toBe(true);
  for (let index = 0; index < 5; index++) attempts.begin('link', address('192.0.2.1'));
  expect(attempts.begin('link', address('192.0.2.2'))).toBe(true);
});
