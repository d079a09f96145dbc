import { expect, test } from 'vitest';
import {
  bioSlugProblem,
  channelSlug,
  generateSlug,
  linkSlugProblem,
  normalizeBioSlug,
  numberedSlug,
  programCodeProblem,
  RESERVED_SLUGS,
  slugKey,
} from './slugs.ts';

test.each(['a', 'A-b_9', 'x'.repeat(64), '-', '_'])('%s is a slug for a link', (slug) => {
  expect(linkSlugProblem(slug)).toBeNull();
});

test.each(['', 'x'.repeat(65), 'a b', 'a/b', 'a.b', 'ü', 'a\n', 'a%20'])(
  '%j is not a slug for a link',
  (slug) => {
    expect(linkSlugProblem(slug)).toBe('invalid');
  },
);

test.each(RESERVED_SLUGS)('%s is reserved in any case, for links, pages and programs', (word) => {
  expect(linkSlugProblem(word)).toBe('reserved');
  expect(linkSlugProblem(word.toUpperCase())).toBe('reserved');
  if (word.length < 3) return;
  expect(bioSlugProblem(word)).toBe('reserved');
  expect(programCodeProblem(word.toUpperCase())).toBe('reserved');
});

test('a bio slug has 3 to 40 lower-case letters, digits and hyphens', () => {
  expect(bioSlugProblem('abc')).toBeNull();
  expect(bioSlugProblem('a-1')).toBeNull();
  expect(bioSlugProblem('x'.repeat(40))).toBeNull();
  for (const slug of ['ab', 'x'.repeat(41), 'Abc', 'a_b', 'a b'])
    expect(bioSlugProblem(slug)).toBe('invalid');
});

test('a program code has 3 to 40 characters of a slug', () => {
  expect(programCodeProblem('Ann_1')).toBeNull();
  for (const code of ['ab', 'x'.repeat(41), 'a.b.c']) expect(programCodeProblem(code)).toBe('invalid');
});

test('spaces and capitals of a bio slug are normalized', () => {
  expect(normalizeBioSlug('  My  Own Page ')).toBe('my-own-page');
  expect(normalizeBioSlug('plain')).toBe('plain');
});

test('slugs are compared without case', () => {
  expect(slugKey('MyPage')).toBe(slugKey('mypage'));
});

test('a custom slug of several links gets its channel, and of a second link on one its number', () => {
  expect(channelSlug('sale', 'tiktok')).toBe('sale-tiktok');
  expect(numberedSlug('sale-tiktok', 2)).toBe('sale-tiktok-2');
});

test('generated slugs are 7 characters of base 58, all valid and evenly distributed', () => {
  const seen = new Set<string>();
  const characters = new Set<string>();
  for (let round = 0; round < 5_000; round++) {
    const slug = generateSlug();
    expect(slug).toMatch(/^[1-9A-HJ-NP-Za-km-z]{7}$/);
    expect(linkSlugProblem(slug)).toBeNull();
    seen.add(slug);
    for (const character of slug) characters.add(character);
  }
  expect(seen.size).toBe(5_000);
  expect(characters.size).toBe(58);
});
