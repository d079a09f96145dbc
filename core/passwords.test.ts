import { expect, test } from 'vitest';
import { hashPassword, passwordMatches } from './passwords.ts';

test('a password matches its own hash, however its letters are composed, and no other does', async () => {
  const hash = await hashPassword('caf\u00e9');
  expect(hash).toMatch(/^scrypt\$16384\$8\$1\$/);
  expect(await passwordMatches('caf\u00e9', hash)).toBe(true);
  expect(await passwordMatches('cafe\u0301', hash)).toBe(true);
  expect(await passwordMatches('cafe', hash)).toBe(false);
});

test('two hashes of one password differ', async () => {
  expect(await hashPassword('same')).not.toBe(await hashPassword('same'));
});

test('what is no hash is an error, not a wrong password', async () => {
  await expect(passwordMatches('x', 'plain')).rejects.toThrow('malformed');
});
