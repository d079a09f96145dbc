import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';

let plain: TestApi;
let secure: TestApi;

beforeAll(async () => {
  plain = await testApi();
  const urls = { SHORT_URL: 'https://hop.example', BASE_URL: 'https://api.example' };
  secure = await testApi(() => ({ config: readConfig(urls) }));
});
afterAll(async () => {
  await plain?.close();
  await secure?.close();
});

test('responses forbid guessing their type, and those for a key forbid storing them', async () => {
  const shop = await plain.addWorkspace();
  for (const call of [
    shop.get('/me'),
    shop.get('/links/x'),
    shop.get('/nowhere'),
    shop.post('/folders', {}),
  ]) {
    const { headers } = await call;
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['strict-transport-security']).toBeUndefined();
  }
  expect((await shop.get('/me')).headers['cache-control']).toBe('no-store');
  expect((await shop.get('/links?view=records')).headers['cache-control']).toBe('no-store');
});

test('on https browsers must keep to it, and the session cookie belongs to this host alone', async () => {
  const { headers } = await secure.app.inject('/health/live');
  expect(headers['strict-transport-security']).toBe('max-age=31536000');
  const { sessionCookieOf } = await import('../session/cookie.ts');
  expect(sessionCookieOf('https://api.example')).toBe('__Host-hoplog_session');
  expect(sessionCookieOf('http://127.0.0.1:3000')).toBe('hoplog_session');
});
