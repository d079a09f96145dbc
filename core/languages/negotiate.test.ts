import { expect, test } from 'vitest';
import { negotiateLanguage } from './negotiate.ts';

test.each([
  ['', 'en'],
  ['de', 'de'],
  ['de-CH', 'de'],
  ['DE-ch,en;q=0.9', 'de'],
  ['pt-BR,pt;q=0.9,en;q=0.8', 'pt'],
  ['ar-EG', 'ar'],
  ['ja', 'ja'],
  // The first that there is, by weight.
  ['sv,da;q=0.9,nl;q=0.3,pl;q=0.4', 'pl'],
  ['sv-SE,sv;q=0.9', 'en'],
  ['fr;q=0.5,it;q=0.5', 'fr'],
  ['en;q=0.8, fr', 'fr'],
  ['de;q=0.001', 'de'],
  // The rest.
  ['*', 'en'],
  ['*;q=0.1', 'en'],
  ['de, *;q=0.5', 'de'],
  ['de;q=0.5, *', 'en'],
  ['en;q=0.2, *;q=0.8', 'de'],
  ['sv, *;q=0.1', 'en'],
  // Refused ones.
  ['de;q=0, fr;q=0.1', 'fr'],
  ['en;q=0', 'en'],
  ['en;q=0, *', 'de'],
  ['*;q=0', 'en'],
  ['de;q=0, *;q=0', 'en'],
])('of %j it is %s', (header, language) => {
  expect(negotiateLanguage(header)).toBe(language);
});

test.each([
  [`${'x'.repeat(600)},de`],
  [','.repeat(16_000)],
  [';q=1'.repeat(4_000)],
  ['__proto__, constructor;q=0.9, toString;q=0.8'],
  ['<script>alert(1)</script>'],
  ['../../de'],
  ['de_DE'],
  ['\u0000'],
  ['-'.repeat(500)],
  ['e\u0301s'],
])('hostile %j is English', (header) => {
  expect(negotiateLanguage(header)).toBe('en');
});

test.each([
  ['de;q=abc', 'de'],
  ['de;q=2, fr;q=0.5', 'de'],
  [' de ; q=0.3 ,\tfr ; q=0.9 ', 'fr'],
  ['de;level=1;q=0.2, fr;q=0.3', 'fr'],
  [',,,fr,,', 'fr'],
])('malformed %j is %s', (header, language) => {
  expect(negotiateLanguage(header)).toBe(language);
});
