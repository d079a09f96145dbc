import { expect, test } from 'vitest';
import { isUserHash, userHash } from './user-hash.ts';

// Computed with `printf %s ID | openssl dgst -sha256 -hmac SECRET`.
test.each([
  ['u_123', '660fbf3637f3e249e2cb3e2e477e7634c6b8184a8ed71d14873f797c4353e4cd'],
  ['Zoë 💥', 'f521bed1976bece4379d90b2f77f9b1fce1fc65523415918745ebe6e908751c0'],
])('the hash of %s is that of openssl', (user, hash) => {
  expect(userHash('is_live_0123', user)).toBe(hash);
});

test('a hash proves its own user with its own secret only, in either case', () => {
  const hash = userHash('is_live_0123', 'u_1');
  expect(isUserHash('is_live_0123', 'u_1', hash)).toBe(true);
  expect(isUserHash('is_live_0123', 'u_1', hash.toUpperCase())).toBe(true);
  expect(isUserHash('is_live_0123', 'u_2', hash)).toBe(false);
  expect(isUserHash('is_live_0124', 'u_1', hash)).toBe(false);
  for (const given of ['', 'x', `${hash}0`, hash.slice(1), 'é'.repeat(32)]) {
    expect(isUserHash('is_live_0123', 'u_1', given)).toBe(false);
  }
});
