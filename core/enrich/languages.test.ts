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
  ['en-US;q=0.1,de', 'de'],
  ['en-US-x;q=0,de', 'de'],
  ['enx,de;q=0.5', 'enx'],
  ['en ,de', 'en'],
  ['e,de', 'de'],
  ['en_US,de', 'de'],
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
});
