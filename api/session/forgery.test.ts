import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { consoleBrowser, cookiesOf, PASSWORD, signedInAs } from '../../test/support/members.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi(({ config }) => ({
    config: { ...config, appUrl: 'https://app.example', baseUrl: 'https://api.example' },
  }));
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const folder = { body: { name: 'Forged' } };

describe('a changing call of a session', () => {
  test.each([
    ['without a CSRF token', { 'x-csrf-token': '' }],
    ['with a wrong one', { 'x-csrf-token': 'A'.repeat(43) }],
    ['from a page of another site', { origin: 'https://evil.example' }],
    ['from a page that has no origin', { origin: 'null' }],
    ['from another port of the console', { origin: 'https://app.example:8443' }],
    ['from the console without TLS', { origin: 'http://app.example' }],
    ['that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
    ["that a neighbor of the console's site makes", { 'sec-fetch-site': 'same-site' }],
  ])('%s is 403 and changes nothing', async (_, headers) => {
    const browser = await signedInAs(api, shop, 'owner');
    const refused = await browser.call('POST', '/folders', { ...folder, headers });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    const out = await browser.call('DELETE', '/session', { headers });
    expect(out.status).toBe(403);
    expect((await shop.get('/folders')).text).not.toContain('Forged');
    expect((await browser.call('GET', '/session')).status).toBe(200);
  });

  test('needs the token of its own session, not of another one', async () => {
    const [ann, bob] = [await signedInAs(api, shop, 'owner'), await signedInAs(api, shop, 'owner')];
    const mixed = await ann.call('POST', '/folders', { ...folder, headers: { 'x-csrf-token': bob.csrf } });
    // The path identifies the refusal: the console then requests the session again.
    expect([mixed.status, mixed.body.error.details?.[0]?.path]).toEqual([403, 'x-csrf-token']);
  });

  test.each([
    ['APP_URL', 'https://app.example'],
    ['BASE_URL', 'https://api.example'],
    ['its own host', 'http://console.local:3000'],
    ['no browser', undefined],
  ])('from %s is taken', async (_, origin) => {
    const browser = await signedInAs(api, shop, 'operator');
    const headers = { host: 'console.local:3000', ...(origin !== undefined && { origin }) };
    expect((await browser.call('POST', '/folders', { body: { name: 'Own' }, headers })).status).toBe(201);
  });
});

describe('a page of another site', () => {
  test.each([
    ['GET', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
    ['HEAD', { origin: 'https://evil.example' }],
  ] as const)('can not even make the browser ask: %s %j', async (method, headers) => {
    const browser = await signedInAs(api, shop, 'owner');
    expect((await browser.call(method, '/links', { headers })).status).toBe(403);
    expect((await browser.call(method, '/session', { headers })).status).toBe(403);
  });

  test('can not use the cookie, read responses or send the CSRF header', async () => {
    const preflight = await api.app.inject({
      method: 'OPTIONS',
      url: '/api/v1/folders',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-csrf-token,content-type',
      },
    });
    expect(preflight.headers['access-control-allow-origin']).toBe('*');
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    expect(String(preflight.headers['access-control-allow-headers']).toLowerCase()).not.toContain('csrf');
    const browser = await signedInAs(api, shop, 'owner');
    const answer = await browser.call('GET', '/links');
    // With `*`, browsers hide the response from a page that sent credentials.
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('can not sign a browser in to an account of its own choice', async () => {
    const { email } = await signedInAs(api, shop, 'owner');
    const headers = { origin: 'https://evil.example' };
    const victim = consoleBrowser(api, '198.51.100.1');
    const answer = await victim.call('POST', '/session', { body: { email, password: PASSWORD }, headers });
    expect([answer.status, victim.token]).toEqual([403, null]);
    const passkey = await victim.call('POST', '/session/passkey/options', { headers });
    expect(passkey.status).toBe(403);
  });

  test('still uses a key of its own, whatever cookie comes along', async () => {
    const { token } = await signedInAs(api, await api.addWorkspace(), 'analyst');
    const headers = { origin: 'https://shop.example', cookie: cookiesOf(token) };
    const made = await shop.post('/folders', { name: 'By key' }, { headers });
    expect(made.status).toBe(201);
    expect((await shop.get('/folders')).text).toContain('By key');
  });
});

test('a key that is wrong is refused, also beside a session that is good', async () => {
  const { token } = await signedInAs(api, shop, 'owner');
  const headers = { cookie: cookiesOf(token) };
  expect((await shop.get('/links', { key: 'lk_live_wrong', headers })).status).toBe(401);
  expect((await shop.get('/links', { key: null, headers })).status).toBe(200);
});

test('a session is refused where a partner key is required', async () => {
  const browser = await signedInAs(api, shop, 'owner');
  expect((await browser.call('GET', '/partner/workspaces/x')).status).toBe(401);
});
