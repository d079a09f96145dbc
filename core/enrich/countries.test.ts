import { expect, test } from 'vitest';
import { requireCountry } from './countries.ts';

test.each([
  ['UK', 'GB'],
  ['uk', 'GB'],
  ['EL', 'GR'],
  ['SU', 'RU'],
  ['ZR', 'CD'],
  ['Germany', 'DE'],
  ['united kingdom', 'GB'],
])('%s is refused, and means %s', (text, meant) => {
  expect(() => requireCountry('country', text)).toThrow(
    `\`country\` must be a code of ISO 3166-1, such as DE; did you mean ${meant}?`,
  );
});

test.each(['ZZ', 'XX', 'EU', 'GBR', 'D', '', 'D-', 'Atlantis', 'unknown', '\u0130T'])(
  '"%s" is refused',
  (text) => {
    expect(() => requireCountry('country', text)).toThrow(/such as DE$/);
  },
);

test('a code is taken in any case', () => {
  expect(['GB', 'de', 'Xk'].map((text) => requireCountry('country', text))).toEqual(['GB', 'DE', 'XK']);
});
