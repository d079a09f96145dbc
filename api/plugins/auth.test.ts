import { describe, expect } from 'vitest';
import { mintKey } from '../../core/access/keys.ts';
import { revokeKey } from '../../sql/workspaces/keys.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';

let partnerToken: string;

test.beforeAll(async ({ api }) => {
  api.app.get('/api/v1/partner/test', { config: { scope: 'partner' } }, async (request) => ({
    partner: request.partner.name,
  }));
  const minted = mintKey('partner');
  partnerToken = minted.token;
  await api.stores.pool.query(
    'INSERT INTO partners (id, name, key_lookup, key_hash) VALUES (gen_random_uuid(), $1, $2, $3)',
    ['Platform', minted.lookup, minted.hash],
  );
});

const status = async (shop: TestWorkspace, path: string, key: string | null) =>
  (await shop.get(path, { key })).status;

describe('401', () => {
  test.for([
    ['no key', null],
    ['no Bearer token', ''],
    ['no key at all', 'hello'],
    ['an unknown key', mintKey('secret').token],
    ['an unknown publishable key', mintKey('publishable').token],
  ])('%s', async ([_, key], { shop }) => {
    const answer = await shop.get('/me', { key });
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('a known prefix with a wrong secret', async ({ shop }) => {
    const wrong = shop.secretKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await status(shop, '/me', wrong)).toBe(401);
  });

  test('a key with the prefix of the other kind', async ({ shop }) => {
    expect(await status(shop, '/me', shop.publishableKey.replace('pk_', 'lk_'))).toBe(401);
    expect(await status(shop, '/links?view=records', shop.publishableKey.replace('pk_', 'lk_'))).toBe(401);
  });

  test('another scheme than Bearer', async ({ shop }) => {
    const headers = { authorization: `Basic ${shop.secretKey}` };
    expect((await shop.get('/me', { key: null, headers })).status).toBe(401);
  });

  test('a revoked key, with the next request', async ({ api }) => {
    const other = await api.addWorkspace();
    const { body } = await other.get<{ key: { id: string } }>('/me');
    await revokeKey(api.stores.pool, body.key.id);
    expect((await other.get('/me')).status).toBe(401);
    expect((await other.get('/me', { key: other.publishableKey })).status).toBe(200);
  });

  test('a partner key outside partner endpoints, a workspace key on them', async ({ shop }) => {
    expect(await status(shop, '/me', partnerToken)).toBe(401);
    expect(await status(shop, '/links', partnerToken)).toBe(401);
    expect(await status(shop, '/partner/test', shop.secretKey)).toBe(401);
    expect(await status(shop, '/partner/test', shop.publishableKey)).toBe(401);
    expect(await status(shop, '/partner/test', mintKey('partner').token)).toBe(401);
    expect(await status(shop, '/partner/test', partnerToken)).toBe(200);
  });
});

test('the scheme is read in any case of letters', async ({ shop }) => {
  const headers = { authorization: `bearer ${shop.secretKey}` };
  expect((await shop.get('/me', { key: null, headers })).status).toBe(200);
});

test('a publishable key on an endpoint for secret keys is 403', async ({ shop }) => {
  const answer = await shop.get('/links', { key: shop.publishableKey });
  expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
});

describe('the order of checks', () => {
  test('key, scope, plan, parameters, existence, conflict', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const bad = '/links/not-a-uuid';
    expect((await free.get(bad, { key: mintKey('secret').token })).status).toBe(401);
    expect((await free.get(bad, { key: free.publishableKey })).status).toBe(403);
    expect((await free.get(bad)).status).toBe(402);
    expect((await shop.get(bad)).status).toBe(400);
    const unknown = '/links/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2';
    expect((await shop.patch(unknown, { slug: 'admin' })).status).toBe(400);
    expect((await shop.patch(unknown, { slug: 'free' })).status).toBe(404);
  });

  test('a malformed body is validated after key, scope and plan', async ({ api, shop }) => {
    const headers = { 'content-type': 'application/json' };
    const free = await api.addWorkspace({ plan: 'free' });
    const path = '/links/01a1fda0-08a1-7000-b1c0-3017c3a6f7c2';
    const call = (key: string | null) => free.call('PATCH', path, { key, body: '{', headers });
    expect((await call(null)).status).toBe(401);
    expect((await call(free.publishableKey)).status).toBe(403);
    expect((await call(free.secretKey)).status).toBe(402);
    expect((await call(shop.secretKey)).status).toBe(400);
  });
});

describe('plans', () => {
  test.for([
    ['free', 'active', 402],
    ['starter', 'active', 200],
    ['pro', 'trialing', 200],
    ['pro', 'past_due', 402],
    ['unlimited', 'canceled', 402],
  ] as const)('%s, %s: %i on a paid endpoint', async ([plan, plan_status, expected], { api }) => {
    const other = await api.addWorkspace({ plan });
    const made = await other.post<{ links: { id: string }[] }>('/links', {
      destination_url: 'https://shop.example',
      name: 'N',
      smart: true,
    });
    await api.stores.pool.query('UPDATE workspaces SET plan_status = $2 WHERE id = $1', [
      other.workspace.id,
      plan_status,
    ]);
    const answer = await other.get(`/links/${made.body.links[0]?.id}`);
    expect(answer.status).toBe(expected);
    if (expected === 402) expect(answer.body.error.code).toBe('payment_required');
  });
});

describe('last_used_at', () => {
  const noted = async (api: TestApi, token: string) => {
    const { rows } = await api.stores.pool.query<{ last_used_at: Date | null }>(
      'SELECT last_used_at FROM api_keys WHERE lookup = $1',
      [token.split('_')[2]],
    );
    return rows[0]?.last_used_at?.getTime() ?? null;
  };

  test('is updated at the first use, and not again within a minute', async ({ api }) => {
    const other = await api.addWorkspace();
    expect(await noted(api, other.secretKey)).toBeNull();
    await other.get('/me');
    await expect.poll(() => noted(api, other.secretKey)).not.toBeNull();
    const first = await noted(api, other.secretKey);
    await Promise.all(Array.from({ length: 20 }, () => other.get('/me')));
    expect(await noted(api, other.secretKey)).toBe(first);
    await api.stores.pool.query(
      `UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE workspace_id = $1`,
      [other.workspace.id],
    );
    const old = (await noted(api, other.secretKey)) ?? 0;
    await other.get('/me');
    await expect.poll(() => noted(api, other.secretKey)).toBeGreaterThan(old);
  });

  test('is not touched by a refused call', async ({ api }) => {
    const other = await api.addWorkspace();
    await other.get('/links', { key: other.publishableKey });
    await other.get('/me', { key: `${other.publishableKey.slice(0, -1)}x` });
    expect(await noted(api, other.publishableKey)).toBeNull();
  });
});

test('a route under /api/v1 that declares no scope is refused at start', async ({ api }) => {
  const { app } = api;
  expect(() => app.get('/api/v1/forgotten', async () => 1)).toThrow();
});
