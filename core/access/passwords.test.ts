import { expect, test } from 'vitest';
import { hashesMadeOf, hashPassword, LINK_COST, MEMBER_COST, passwordMatches } from './passwords.ts';

test('only the same password matches a hash, in any Unicode composition', async () => {
  const hash = await hashPassword('caf\u00e9', LINK_COST);
  expect(hash).toMatch(/^scrypt\$16384\$8\$1\$/);
  expect(await passwordMatches('caf\u00e9', hash)).toBe(true);
  expect(await passwordMatches('cafe\u0301', hash)).toBe(true);
  expect(await passwordMatches('cafe', hash)).toBe(false);
});

test('two hashes of one password differ', async () => {
  expect(await hashPassword('same', LINK_COST)).not.toBe(await hashPassword('same', LINK_COST));
});

test('hashes with one salt are checked with one derivation', async () => {
  const salt = Buffer.alloc(16, 7);
  const [mine, others, own] = await Promise.all([
    hashPassword('mine', LINK_COST, salt),
    hashPassword('theirs', LINK_COST, salt),
    hashPassword('mine', LINK_COST),
  ]);
  const many = Array.from(
    { length: 5_000 },
    (_, index) => `${others.slice(0, -4)}${String(index).padStart(4, '0')}`,
  );
  expect(await hashesMadeOf('mine', [...many, others, mine, own])).toEqual(new Set([mine, own]));
});

test('a hash contains its cost, and is checked at that cost', async () => {
  const salt = Buffer.alloc(16, 7);
  const hashes = await Promise.all([LINK_COST, MEMBER_COST].map((cost) => hashPassword('mine', cost, salt)));
  expect(hashes[1]).toMatch(/^scrypt\$16384\$8\$5\$/);
  expect(await hashesMadeOf('mine', hashes)).toEqual(new Set(hashes));
  expect((await hashesMadeOf('theirs', hashes)).size).toBe(0);
});

test('a malformed hash is an error, not a wrong password', async () => {
  await expect(passwordMatches('x', 'plain')).rejects.toThrow('malformed');
});
