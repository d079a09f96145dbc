import { expect, test } from 'vitest';
import {
  bioSlugProblem,
  channelSlug,
  generateSlug,
  isKeptSlug,
  keptSlugProblem,
  linkSlugProblem,
  normalizeBioSlug,
  numberedSlug,
  programCodeProblem,
  RESERVED_SLUGS,
  slugInPath,
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

test('slugs of other letters are compared in NFC and without case, as Unicode folds it', () => {
  const same = [
    ['Café', 'CAFE\u0301'],
    ['ΟΔΟΣ', 'οδος'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['МЕНЮ/Чай', 'меню/чай'],
  ];
  for (const [one = '', other = ''] of same) expect(slugKey(one)).toBe(slugKey(other));
  expect(slugKey('ı')).not.toBe(slugKey('i'));
  for (let code = 0x80; code < 0x2_0000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const key = slugKey(String.fromCodePoint(code));
    // The database and the link table call it on keys too.
    if (slugKey(key) !== key || key.toLowerCase() !== key) expect(code.toString(16)).toBe('stable');
  }
});

test('an import keeps slugs of two to five segments and of other letters, below no reserved word', () => {
  const kept = ['guide/start', 'a/b/c/d/e', 'Меню', 'café/Menü', 'हिन्दी', '日本語', 'é'.repeat(64), 'plain'];
  for (const slug of kept) {
    expect([slug, keptSlugProblem(slug)]).toEqual([slug, null]);
    expect(isKeptSlug(slug)).toBe(true);
  }
  const not = [
    '',
    '/',
    'a/',
    '/a',
    'a//b',
    'a/b/c/d/e/f',
    'a b',
    'é!',
    '😀',
    'a/../b',
    'é'.repeat(65),
    '𝔘'.repeat(64),
  ];
  for (const slug of not) expect([slug, keptSlugProblem(slug)]).toEqual([slug, 'invalid']);
  for (const slug of ['api/v1', 'API/v1', 'docs/a']) expect(keptSlugProblem(slug)).toBe('reserved');
  expect(slugInPath('café/Menü')).toBe('caf%C3%A9/Men%C3%BC');
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
