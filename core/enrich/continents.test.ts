import { expect, test } from 'vitest';
import { continentOf } from './continents.ts';

test('every country code has exactly one continent', () => {
  const displayed = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, n) => String.fromCharCode(65 + n));
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  // Regions that Unicode names and ISO 3166-1 has not assigned: groups, reserved and retired codes.
  const unassigned =
    'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH NT QO RH SU TA TP UK UN VD XA XB YD YU ZR ZZ'.split(' ');
  const countries = codes.filter((code) => displayed.of(code) && !unassigned.includes(code));
  expect(countries.filter((code) => continentOf(code) === '')).toEqual([]);
  expect(codes.filter((code) => continentOf(code) !== '')).toHaveLength(250);
});

test('an unknown code has none', () => {
  expect(continentOf('')).toBe('');
  expect(continentOf('de')).toBe('');
});
