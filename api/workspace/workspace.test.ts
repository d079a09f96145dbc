import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { WorkspaceSettings } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => api.close());

test('settings have defaults, and a change leaves the others', async () => {
  const before = await shop.get<WorkspaceSettings>('/workspace');
  expect(before.body).toEqual({
    id: shop.workspace.id,
    name: 'Corner Shop',
    slug: expect.stringContaining('corner-shop'),
    attribution_model: 'last_click',
    attribution_window: 30,
    primary_domain: null,
    currency: 'usd',
    identity_verification: 'off',
    payout_hold_days: 3,
    allowed_origins: [],
    language: null,
    problem_mails: true,
    check_destinations: false,
    time_zone: null,
    tracking: 'full',
    retention_months: null,
    logo: null,
    default_domain: null,
    identity_secret_set: false,
  });
  const changed = await shop.patch<WorkspaceSettings>('/workspace', { payout_hold_days: 14 });
  expect([changed.status, changed.body]).toEqual([200, { ...before.body, payout_hold_days: 14 }]);
  await shop.patch('/workspace', { identity_verification: 'required', tracking: 'cookieless' });
  expect((await shop.get<WorkspaceSettings>('/workspace')).body).toMatchObject({
    identity_verification: 'required',
    payout_hold_days: 14,
    tracking: 'cookieless',
  });
  const kept = await shop.patch<WorkspaceSettings>('/workspace', { retention_months: 13 });
  expect(kept.body.retention_months).toBe(13);
  const forever = await shop.patch<WorkspaceSettings>('/workspace', { retention_months: null });
  expect(forever.body.retention_months).toBeNull();
  expect((await shop.patch('/workspace', {})).status).toBe(200);
});

test.each([
  ['name', { name: ' ' }],
  ['attribution_model', { attribution_model: 'best' }],
  ['attribution_window', { attribution_window: 0 }],
  ['attribution_window', { attribution_window: 366 }],
  ['primary_domain', { primary_domain: 'https://shop.example' }],
  ['primary_domain', { primary_domain: 'shop.example/path' }],
  ['primary_domain', { primary_domain: 'shop' }],
  ['currency', { currency: 'bitcoin' }],
  ['language', { language: 'de-CH' }],
  ['language', { language: '' }],
  ['identity_verification', { identity_verification: 'on' }],
  ['payout_hold_days', { payout_hold_days: -1 }],
  ['payout_hold_days', { payout_hold_days: 91 }],
  ['payout_hold_days', { payout_hold_days: '3' }],
  ['allowed_origins', { allowed_origins: null }],
  ['allowed_origins', { allowed_origins: Array.from({ length: 51 }, (_, n) => `https://${n}.example`) }],
  ['allowed_origins.0', { allowed_origins: ['shop.example'] }],
  ['allowed_origins.0', { allowed_origins: ['https:shop.example'] }],
  ['allowed_origins.1', { allowed_origins: ['https://shop.example', 'https://shop.example/cart'] }],
  ['allowed_origins.0', { allowed_origins: ['https://shop.example?a=b'] }],
  ['allowed_origins.0', { allowed_origins: ['https://user@shop.example'] }],
  ['allowed_origins.0', { allowed_origins: ['https://*.shop.example'] }],
  ['allowed_origins.0', { allowed_origins: ['null'] }],
  ['tracking', { tracking: 'some' }],
  ['tracking', { tracking: null }],
  ['retention_months', { retention_months: 0 }],
  ['retention_months', { retention_months: 121 }],
  ['retention_months', { retention_months: 1.5 }],
])('a wrong %s is a 400 that names it: %j', async (path, body) => {
  const answer = await shop.patch('/workspace', body);
  expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, path]);
});

test('each call makes another identity secret, which is shown there only', async () => {
  const first = await shop.post<{ identity_secret: string }>('/identity-secret');
  expect([first.status, first.headers['cache-control']]).toEqual([201, 'no-store']);
  expect(first.body).toEqual({ identity_secret: expect.stringMatching(/^is_live_[0-9a-f]{48}$/) });
  const second = await shop.post<{ identity_secret: string }>('/identity-secret');
  expect(second.body.identity_secret).not.toBe(first.body.identity_secret);
  const { body, text } = await shop.get<WorkspaceSettings>('/workspace');
  expect(body.identity_secret_set).toBe(true);
  expect(text).not.toContain(second.body.identity_secret);
});

test('settings need a secret key', async () => {
  const options = { key: shop.publishableKey };
  expect((await shop.get('/workspace', options)).status).toBe(403);
  expect((await shop.patch('/workspace', { payout_hold_days: 0 }, options)).status).toBe(403);
  expect((await shop.post('/identity-secret', {}, options)).status).toBe(403);
});

test('the time zone of reports is set by its name, reaches the session, and is removed', async () => {
  const shop = await api.addWorkspace();
  const owner = await signedInAs(api, shop, 'owner');
  const set = (time_zone: unknown) =>
    owner.call<{ time_zone: string | null }>('PATCH', '/workspace', { body: { time_zone } });
  const inSession = async () =>
    (await owner.call<{ workspace: { time_zone: string | null } }>('GET', '/session')).body.workspace
      .time_zone;
  expect(await inSession()).toBe(null);
  expect((await set('Europe/Berlin')).body.time_zone).toBe('Europe/Berlin');
  expect(await inSession()).toBe('Europe/Berlin');
  for (const wrong of ['Mars/Olympus', '+01:00', '', 5]) expect((await set(wrong)).status).toBe(400);
  expect((await set(null)).body.time_zone).toBe(null);
  expect(await inSession()).toBe(null);
});

test('attribution, own site, and name are changed, and the currency until there is an order', async () => {
  const change = {
    name: 'Corner Store',
    attribution_model: 'linear',
    attribution_window: 7,
    primary_domain: 'WWW.Corner.Example',
    currency: 'EUR',
  };
  const changed = await shop.patch<WorkspaceSettings>('/workspace', change);
  expect([changed.status, changed.body]).toMatchObject([
    200,
    { ...change, primary_domain: 'corner.example', currency: 'eur' },
  ]);
  const link = { destination_url: 'https://else.example/', name: 'Else', channel: 'newsletter' };
  const refused = await shop.post('/links', link);
  expect([refused.status, refused.body.error.details?.[0]?.code]).toEqual([400, 'external_destination']);
  expect((await shop.post('/links', { ...link, destination_url: 'https://corner.example/' })).status).toBe(
    201,
  );
  const order = { order_id: 'o1', amount: 5, currency: 'eur', external_user_id: 'ada' };
  expect((await shop.post('/referrals/report-purchase', order)).status).toBe(200);
  expect((await shop.patch('/workspace', { currency: 'usd' })).status).toBe(409);
  // Sending the present currency is not a change.
  expect((await shop.patch('/workspace', { currency: 'eur', primary_domain: null })).body).toMatchObject({
    currency: 'eur',
    primary_domain: null,
  });
});

test('a publishable key may be used from the allowed origins and without an origin, a secret key from any', async () => {
  const from = async (origin: string | null, key = shop.publishableKey) => {
    const headers: Record<string, string> = origin === null ? {} : { origin };
    const { status, body } = await shop.get('/me', { key, headers });
    return status === 200 ? 200 : [status, body.error.code];
  };
  const refused = [403, 'forbidden'];
  const { appUrl } = api.deps.config;
  expect(await from('https://evil.example')).toBe(200);
  const sent = [
    'https://Shop.example/',
    'http://localhost:8080',
    'capacitor://localhost',
    'https://shop.example',
  ];
  const { body } = await shop.patch<WorkspaceSettings>('/workspace', { allowed_origins: sent });
  expect(body.allowed_origins).toEqual([
    'https://shop.example',
    'http://localhost:8080',
    'capacitor://localhost',
  ]);
  for (const origin of [...body.allowed_origins, appUrl, null]) {
    expect([origin, await from(origin)]).toEqual([origin, 200]);
  }
  const others = [
    'https://evil.example',
    'http://shop.example',
    'https://shop.example:8443',
    'http://localhost',
  ];
  for (const origin of [...others, 'https://www.shop.example', 'null']) {
    expect([origin, await from(origin)]).toEqual([origin, refused]);
  }
  expect(await from('https://evil.example', shop.secretKey)).toBe(200);
  const enroll = await shop.post(
    '/referrals/enroll',
    { external_user_id: 'u', email: 'u@shop.example', tier: 'free' },
    { key: shop.publishableKey, headers: { origin: 'https://evil.example' } },
  );
  expect([enroll.status, enroll.body.error.message]).toEqual([
    403,
    expect.stringContaining('https://evil.example'),
  ]);
  await shop.patch('/workspace', { allowed_origins: [] });
  expect(await from('https://evil.example')).toBe(200);
});
