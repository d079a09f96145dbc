import { expect, test } from 'vitest';
import { PAGE_PATHS } from '../page-paths.ts';
import { ACTIONS, documentsAt, matching, PAGE_WORDS, SETTINGS, SIGN_OUT } from './palette-entries.ts';

const ALL = [
  ...Object.entries(PAGE_WORDS).map(([label, also]) => ({ label, also, path: '/' })),
  ...ACTIONS,
  ...SETTINGS,
  SIGN_OUT,
  ...documentsAt('https://hop.example'),
];

test.each([
  'payout',
  'csv',
  'pixel',
  'help',
  'docs',
  'stripe',
  '2fa',
  'affiliate',
  'gdpr',
  'dns',
  'utm',
  'webhook secret',
  'language',
  'sign out',
])('%s is found', (word) => {
  expect(matching(word, ALL).length).toBeGreaterThan(0);
});

test('every word counts, in any case and order', () => {
  expect(matching('REFERRERS pay', ALL).map(({ label }) => label)).toContain('Pay referrers');
  expect(matching('pay nonsense', ALL)).toEqual([]);
});

test('every entry of the console leads to a page of it', () => {
  const paths = new Set<string>(['/', ...Object.values(PAGE_PATHS)]);
  for (const { path } of [...ACTIONS, ...SETTINGS]) expect(paths).toContain(path.split('?', 1)[0]);
});
