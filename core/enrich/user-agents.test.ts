import { expect, test } from 'vitest';
import { createAgentKinds } from './agent-kinds.ts';
import { createUserAgents, parseUserAgent } from './user-agents.ts';

test.each([
  [
    'Chrome',
    'Windows',
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  ],
  [
    'Mobile Safari',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  ],
  ['Firefox', 'Linux', 'desktop', 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'],
  [
    'Edge',
    'macOS',
    'desktop',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0',
  ],
  [
    'Instagram',
    'iOS',
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 309.0.0.28.114',
  ],
  ['Facebook', 'Android', 'mobile', '[FBAN/FB4A;FBAV/450.0.0.38.108;FBMF/Google;FBDV/Pixel 7;FBSV/13]'],
  ['Facebook', 'iOS', 'mobile', '[FBAN/FBIOS;FBAV/450.0.0.38.108;FBDV/iPhone14,5;FBSN/iOS;FBSV/17.5]'],
])('%s on %s (%s) is recognized', (browser, os, device, userAgent) => {
  expect(parseUserAgent(userAgent)).toEqual({ browser, os, device, bot: false });
});

test.each(['Android', 'android', 'ANDROID'])('the system %s is Android', (name) => {
  const userAgent = `Mozilla/5.0 (Linux; ${name} 13; Pixel 7) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36`;
  expect(parseUserAgent(userAgent).os).toBe('Android');
});

test.each(['Firefox', 'firefox', 'FIREFOX'])('the browser %s is Firefox', (name) => {
  expect(
    parseUserAgent(`Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 ${name}/130.0`).browser,
  ).toBe('Firefox');
});

test('an unknown browser or system is Other, never undefined', () => {
  expect(parseUserAgent('x')).toEqual({ browser: 'Other', os: 'Other', device: 'other', bot: true });
  expect(parseUserAgent('')).toEqual({ browser: 'Other', os: 'Other', device: 'other', bot: true });
});

test('memoized profiles equal fresh ones, also when the cache overflows', () => {
  const { profileOf } = createUserAgents(10);
  for (let round = 0; round < 3; round++) {
    for (let version = 1; version <= 30; version++) {
      const userAgent = `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
      expect(profileOf(userAgent)).toEqual(parseUserAgent(userAgent));
    }
  }
});

test('the kind that a redirect uses agrees with the profile', () => {
  const kindOf = createAgentKinds(10);
  const tablet = 'Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36';
  expect(kindOf(tablet)).toEqual({ device: 'tablet', bot: false });
  expect(kindOf('curl/8.9.1')).toEqual({ device: 'other', bot: true });
  expect(kindOf(tablet)).toBe(kindOf(tablet));
  for (const userAgent of [tablet, 'curl/8.9.1', '']) {
    const { device, bot } = parseUserAgent(userAgent);
    expect(kindOf(userAgent)).toMatchObject({ device, bot });
  }
});

test('a hostile user agent is parsed as any other', () => {
  for (const userAgent of ['\u0000'.repeat(3_000), '(((((('.repeat(500), '__proto__', 'é😀\ud800']) {
    expect(parseUserAgent(userAgent).browser).toBeTypeOf('string');
  }
});
