import { expect, test } from 'vitest';
import { hexColor, readSettings } from './settings.ts';

const KEY = 'pk_live_00000000_000000000000000000000000000000000000000000000000';

function problemsOf(query: string): string[] {
  const read = readSettings(query);
  return read.ok ? [] : read.problems.map(({ parameter }) => parameter);
}

const HASH = 'ab'.repeat(32);

test('requires key and user ID only, and applies the defaults', () => {
  expect(readSettings(`?key=${KEY}&uid=u1`)).toEqual({
    ok: true,
    settings: {
      key: KEY,
      userId: 'u1',
      userHash: null,
      email: null,
      tier: 'free',
      theme: 'light',
      accent: null,
      days: 30,
      apiBase: null,
    },
  });
});

test('reads every parameter', () => {
  const query = `?key=${KEY}&uid=u%2F1&uh=${HASH}&email=a%2Bb%40example.com&tier=paid&theme=dark&accent=FA0&days=90&api_base=https://api.example.com/`;
  expect(readSettings(query)).toEqual({
    ok: true,
    settings: {
      key: KEY,
      userId: 'u/1',
      userHash: HASH,
      email: 'a+b@example.com',
      tier: 'paid',
      theme: 'dark',
      accent: '#ffaa00',
      days: 90,
      apiBase: 'https://api.example.com',
    },
  });
});

test('takes one of the languages only', () => {
  expect(problemsOf(`?key=${KEY}&uid=u&language=ar`)).toEqual([]);
  for (const language of ['de-CH', 'xx', 'EN'])
    expect(problemsOf(`?key=${KEY}&uid=u&language=${language}`)).toEqual(['language']);
});

test('takes a hash of 64 hex digits only', () => {
  for (const uh of ['x', 'ab'.repeat(31), 'zz'.repeat(32)]) {
    expect(problemsOf(`?key=${KEY}&uid=u&uh=${uh}`)).toEqual(['uh']);
  }
});

test('reports all invalid parameters at once, with their attributes', () => {
  const read = readSettings('?tier=gold&theme=pink&accent=red&days=3&api_base=nonsense');
  expect(read.ok).toBe(false);
  expect(problemsOf('?tier=gold&theme=pink&accent=red&days=3&api_base=nonsense')).toEqual([
    'key',
    'uid',
    'tier',
    'theme',
    'accent',
    'days',
    'api_base',
  ]);
  if (!read.ok) expect(read.problems[1]?.attribute).toBe('data-user-id');
});

test('accepts a whole number of days from 7 to 90', () => {
  for (const days of ['7', '30', '90']) expect(problemsOf(`?key=${KEY}&uid=u&days=${days}`)).toEqual([]);
  for (const days of ['6', '91', '7.5', '-30', '3e1', '0x1e', 'week', '999999999999999999999']) {
    expect(problemsOf(`?key=${KEY}&uid=u&days=${days}`), days).toEqual(['days']);
  }
});

test('accepts a user ID of at most 200 characters, counted like the API', () => {
  const problems = (id: string) => problemsOf(`?key=${KEY}&uid=${encodeURIComponent(id)}`);
  expect(problems('🦊'.repeat(200))).toEqual([]);
  expect(problems('u'.repeat(201))).toEqual(['uid']);
});

test('refuses a secret key and advises to revoke it', () => {
  const read = readSettings(`?key=lk_live_00000000_00&uid=u`);
  expect(read).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining('revoke') }] });
});

test('keeps a valid theme when other parameters are invalid', () => {
  expect(readSettings('?theme=dark')).toMatchObject({ ok: false, theme: 'dark' });
});

test('accepts only an http or https origin as API base', () => {
  for (const base of [
    'javascript:alert(1)',
    'ftp://x.example',
    'https://u:p@x.example',
    'https://:p@x.example',
    'https://x.example/v1',
    // The page's policy can't name these.
    'https://my_api.example',
    'https://[::1]:3000',
    'https://a;b',
  ]) {
    expect(problemsOf(`?key=${KEY}&uid=u&api_base=${encodeURIComponent(base)}`), base).toEqual(['api_base']);
  }
  const read = readSettings(`?key=${KEY}&uid=u&api_base=${encodeURIComponent('https://früh.example')}`);
  expect(read).toMatchObject({ settings: { apiBase: 'https://xn--frh-ioa.example' } });
});

test('accepts hex colors of three or six digits', () => {
  expect(hexColor('4F46E5')).toBe('#4f46e5');
  expect(hexColor('#abc')).toBe('#aabbcc');
  for (const text of ['', 'abcd', '12345', 'red', '#ggg', '4f46e5;', 'ffffff00']) {
    expect(hexColor(text), text).toBeNull();
  }
});
