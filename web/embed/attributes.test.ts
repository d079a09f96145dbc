import { expect, test } from 'vitest';
import { pageUrl } from './attributes.ts';

const ORIGIN = 'https://app.example.com';

test('maps every attribute to its query parameter', () => {
  const url = pageUrl(
    {
      key: 'pk_live_1',
      userId: 'u&1',
      userHash: 'ab12',
      userEmail: 'a+b@example.com',
      userTier: 'paid',
      theme: 'dark',
      language: 'de',
      accent: '#4f46e5',
      days: '7',
      mount: '#here',
      apiBase: 'https://api.example.com',
    },
    ORIGIN,
  );
  expect(url.origin + url.pathname).toBe('https://app.example.com/embed/referrals');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    key: 'pk_live_1',
    uid: 'u&1',
    uh: 'ab12',
    email: 'a+b@example.com',
    tier: 'paid',
    theme: 'dark',
    language: 'de',
    accent: '4f46e5',
    days: '7',
    api_base: 'https://api.example.com',
  });
});

test('omits missing and empty attributes', () => {
  expect(pageUrl({ key: 'pk_live_1', userId: 'u1', userEmail: ' ', theme: '' }, ORIGIN).search).toBe(
    '?key=pk_live_1&uid=u1',
  );
});

test('never puts a secret key into the URL', () => {
  expect(pageUrl({ key: 'lk_live_12345678_abcdef', userId: 'u1' }, ORIGIN).search).toBe('?key=lk_&uid=u1');
});
