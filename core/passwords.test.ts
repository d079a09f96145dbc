import { expect, test } from 'vitest';
import { hashesMadeOf, hashPassword, passwordMatches } from './passwords.ts';

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

test('of many hashes with one salt those of the password are found for the price of one', async () => {
  const salt = Buffer.alloc(16, 7);
  const [mine, others, own] = await Promise.all([
    hashPassword('mine', salt),
    hashPassword('theirs', salt),
    hashPassword('mine'),
  ]);
  const many = Array.from(
    { length: 5_000 },
    (_, index) => `${others.slice(0, -4)}${String(index).padStart(4, '0')}`,
  );
  expect(await hashesMadeOf('mine', [...many, others, mine, own])).toEqual(new Set([mine, own]));
});

test('what is no hash is an error, not a wrong password', async () => {
  await expect(passwordMatches('x', 'plain')).rejects.toThrow('malformed');
});
