import { expect, test } from 'vitest';
import { preferredLanguage } from './languages.ts';

test.each([
  ['de-DE,de;q=0.9,en;q=0.8', 'de'],
  ['en;q=0.8, de-AT', 'de'],
  ['fr', 'fr'],
  ['EN-us', 'en'],
  ['*', ''],
  ['*, pt-BR;q=0.5', 'pt'],
  ['en;q=0, it;q=0.1', 'it'],
  ['en;q=0', ''],
  ['en;q=0.5,de;q=0.5', 'en'],
  ['zh-Hant-TW', 'zh'],
  ['gsw-CH', 'gsw'],
  ['i-klingon, nl', 'nl'],
  ['en;q=abc', 'en'],
  ['<script>', ''],
  ['', ''],
  [`${'x'.repeat(600)},de`, ''],
])('the most preferred language of %j is %j', (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
  expect(preferredLanguage(header)).toBe(language);
});
