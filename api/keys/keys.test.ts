import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { KeyRecord, KeyWithToken } from './schemas.ts';

type List = { keys: KeyRecord[]; next_cursor: string | null };

async function create(shop: TestWorkspace, body: object, workspace = shop): Promise<KeyWithToken> {
  const answer = await workspace.post<KeyWithToken>('/keys', body);
  expect([answer.status, answer.headers['cache-control']]).toEqual([201, 'no-store']);
  return answer.body;
}
const list = async (shop: TestWorkspace, query = '', workspace = shop) =>
  (await workspace.get<List>(`/keys${query}`)).body;

describe('POST /keys', () => {
  sharedShopTest(
    'makes a key that works at once; its token is in this response and nowhere else',
    async ({ api, shop }) => {
      const { token, ...key } = await create(shop, { kind: 'secret', label: ' checkout ' });
      expect(key).toEqual({
        id: expect.any(String),
        kind: 'secret',
        label: 'checkout',
        prefix: token.slice(0, 'lk_live_'.length + 8),
        scopes: ['secret'],
        manage: false,
        created_by: { type: 'key', id: expect.any(String) },
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
      });
      expect(token).toMatch(/^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
      expect((await shop.get('/channels', { key: token })).status).toBe(200);
      const { text } = await shop.get('/keys');
      expect(text).toContain(key.prefix);
      expect(text).not.toContain(token.slice(-48));
      const { rows } = await api.stores.pool.query('SELECT k::text FROM api_keys k WHERE id = $1', [key.id]);
      expect(JSON.stringify(rows)).not.toContain(token.slice(-48));
    },
  );

  sharedShopTest('makes publishable keys, which may not do what secret ones may', async ({ shop }) => {
    const { token } = await create(shop, { kind: 'publishable' });
    expect(token).toMatch(/^pk_live_/);
    expect((await shop.get('/me', { key: token })).status).toBe(200);
    expect((await shop.get('/keys', { key: token })).status).toBe(403);
    expect((await shop.post('/keys', { kind: 'secret' }, { key: token })).status).toBe(403);
    const [own] = (await list(shop)).keys;
    expect((await shop.delete(`/keys/${own?.id}`, { key: token })).status).toBe(403);
  });

  sharedShopTest(
    'a repeated call with an Idempotency-Key creates no second key, and its response has no token',
    async ({ api, shop }) => {
      const options = { headers: { 'idempotency-key': 'one' } };
      const first = await shop.post<KeyWithToken>('/keys', { kind: 'secret' }, options);
      const second = await shop.post<KeyWithToken>('/keys', { kind: 'secret' }, options);
      const { token, ...rest } = first.body;
      expect(second.status).toBe(201);
      expect(second.body).toEqual({ ...rest, secret_shown: false });
      const { rows } = await api.stores.pool.query('SELECT body::text FROM idempotency_keys');
      expect(JSON.stringify(rows)).not.toContain(token);
    },
  );

  sharedShopTest.for([
    ['kind', {}],
    ['kind', { kind: 'partner' }],
    ['label', { kind: 'secret', label: 'x'.repeat(101) }],
    ['label', { kind: 'secret', label: 7 }],
  ] as const)('refuses a bad %s: %j', async ([field, body], { shop }) => {
    const answer = await shop.post('/keys', body);
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, field]);
  });

  sharedShopTest('works on any plan', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    await create(shop, { kind: 'publishable' }, free);
    expect((await list(shop, '', free)).keys).toHaveLength(3);
  });
});

describe('GET /keys', () => {
  sharedShopTest(
    'lists newest first, revoked ones too, and a walk returns every key once',
    async ({ api, shop }) => {
      const other = await api.addWorkspace();
      const made: string[] = [];
      for (let n = 0; n < 4; n++)
        made.unshift((await create(shop, { kind: 'secret', label: `${n}` }, other)).id);
      await other.delete(`/keys/${made[1]}`);
      const all = (await list(shop, '', other)).keys;
      expect(all.slice(0, 4).map((key) => key.id)).toEqual(made);
      expect(all.map((key) => key.label).slice(4)).toEqual(['publishable', 'secret']);
      expect(all.map((key) => key.revoked_at !== null)).toEqual([false, true, false, false, false, false]);
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: List = await list(shop, `?limit=4${cursor && `&cursor=${cursor}`}`, other);
        seen.push(...page.keys.map((key) => key.id));
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(all.map((key) => key.id));
      expect((await other.get('/keys?cursor=soon')).status).toBe(400);
      expect((await other.get('/keys?limit=501')).status).toBe(400);
    },
  );

  sharedShopTest('shows when a key was last used', async ({ api, shop }) => {
    const other = await api.addWorkspace();
    const { id, token } = await create(shop, { kind: 'secret' }, other);
    await other.get('/me', { key: token });
    const used = async () => (await list(shop, '', other)).keys.find((key) => key.id === id)?.last_used_at;
    await expect.poll(used).toEqual(expect.stringMatching(/Z$/));
  });
});

describe('DELETE /keys/:id', () => {
  sharedShopTest('revokes the key at once and for good; a second call changes nothing', async ({ shop }) => {
    const { id, token } = await create(shop, { kind: 'secret' });
    expect(await shop.delete(`/keys/${id}`)).toMatchObject({ status: 200, body: { ok: true } });
    expect((await shop.get('/me', { key: token })).status).toBe(401);
    const { revoked_at } = (await list(shop)).keys.find((key) => key.id === id) ?? {};
    expect((await shop.delete(`/keys/${id}`)).status).toBe(200);
    expect((await list(shop)).keys.find((key) => key.id === id)?.revoked_at).toBe(revoked_at);
  });

  sharedShopTest('lets a key revoke itself, and says so while it still can', async ({ shop }) => {
    const { id, token } = await create(shop, { kind: 'secret' });
    expect((await shop.delete(`/keys/${id}`, { key: token })).status).toBe(200);
    expect((await shop.delete(`/keys/${id}`, { key: token })).status).toBe(401);
  });

  sharedShopTest(
    'of an unknown key, or of another workspace: 404, and that one stays',
    async ({ api, shop }) => {
      const other = await api.addWorkspace();
      const { id, token } = await create(shop, { kind: 'secret' }, other);
      for (const key of [crypto.randomUUID(), id])
        expect((await shop.delete(`/keys/${key}`)).status).toBe(404);
      expect((await shop.delete('/keys/mine')).status).toBe(400);
      expect((await other.get('/me', { key: token })).status).toBe(200);
    },
  );
});

sharedShopTest('in the console keys are an owner\u2019s, and no operator\u2019s', async ({ api, shop }) => {
  const owner = await signedInAs(api, shop, 'owner');
  const made = await owner.call<KeyWithToken>('POST', '/keys', {
    body: { kind: 'secret', label: 'By hand' },
  });
  expect(made.status).toBe(201);
  expect((await shop.get('/me', { key: made.body.token })).status).toBe(200);
  expect((await owner.call('GET', '/keys')).text).toContain('By hand');
  for (const role of ['operator', 'analyst'] as const) {
    const member = await signedInAs(api, shop, role);
    expect((await member.call('GET', '/keys')).status).toBe(403);
    expect((await member.call('POST', '/keys', { body: { kind: 'secret' } })).status).toBe(403);
    expect((await member.call('DELETE', `/keys/${made.body.id}`)).status).toBe(403);
  }
  expect((await owner.call('DELETE', `/keys/${made.body.id}`)).status).toBe(200);
  expect((await shop.get('/me', { key: made.body.token })).status).toBe(401);
});
