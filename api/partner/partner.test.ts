import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import {
  type Answer,
  type ErrorBody,
  type TestApi,
  type TestWorkspace,
  testApi,
} from '../../test/support/api.ts';
import type { Me } from '../me/schemas.ts';
import type { Provisioned } from './schemas.ts';

let api: TestApi;
/** Used only to send calls, with other keys. */
let shop: TestWorkspace;
let platform: Platform;

type Platform = { key: string; post(body: object): Promise<Answer<Provisioned>>; find: Find };
type Find = (externalId: string) => Promise<Answer<Provisioned>>;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  platform = await addPartner('Platform');
});
afterAll(() => api.close());

async function addPartner(name: string): Promise<Platform> {
  const { token: key } = await createPartner(api.stores.pool, name);
  return {
    key,
    post: (body) => shop.post<Provisioned>('/partner/workspaces', body, { key }),
    find: (externalId) =>
      shop.get<Provisioned>(`/partner/workspaces/${encodeURIComponent(externalId)}`, { key }),
  };
}

const me = (key: string | null) => shop.get<Me>('/me', { key });
const keyOf = (answer: Answer<Provisioned>) => answer.body.key ?? '';

describe('POST /partner/workspaces', () => {
  test('a repeated call with an Idempotency-Key revokes nothing, and answers as the first did without the key', async () => {
    const post = (idempotencyKey: string) =>
      shop.post<Provisioned & ErrorBody>(
        '/partner/workspaces',
        { external_id: 'cus_key', name: 'Shop' },
        { key: platform.key, headers: { 'idempotency-key': idempotencyKey } },
      );
    const refused = await post('x'.repeat(201));
    expect([refused.status, refused.body.error?.details?.[0]?.path]).toEqual([400, 'Idempotency-Key']);
    const made = await post('one');
    const again = await post('one');
    expect([made.status, again.status, again.headers['idempotent-replayed']]).toEqual([201, 201, 'true']);
    expect(again.body).toEqual({ workspace: made.body.workspace, key: null, secret_shown: false });
    const rotate = (name: string) =>
      shop.post<Provisioned & ErrorBody>(
        '/partner/workspaces',
        { external_id: 'cus_key', name, rotate_key: true },
        { key: platform.key, headers: { 'idempotency-key': 'two' } },
      );
    const rotated = await rotate('Shop');
    const replayed = await rotate('Shop');
    expect([replayed.status, replayed.body.key, replayed.body.secret_shown]).toEqual([200, null, false]);
    expect((await me(keyOf(rotated))).status).toBe(200);
    const other = await rotate('Another');
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    // Another partner's keys are its own.
    const rival = await addPartner('Rival with the same key');
    const theirs = await shop.post<Provisioned>(
      '/partner/workspaces',
      { external_id: 'cus_key', name: 'Shop' },
      { key: rival.key, headers: { 'idempotency-key': 'one' } },
    );
    expect([theirs.status, theirs.headers['idempotent-replayed']]).toEqual([201, undefined]);
    const { rows } = await api.stores.pool.query('SELECT body::text AS body FROM idempotency_keys');
    expect(rows.some((row) => row.body.includes('lk_live_'))).toBe(false);
  });

  test('makes a workspace with a secret key: 201', async () => {
    const { status, body, headers } = await platform.post({ external_id: 'cus_1', name: 'Corner Shop' });
    expect(status).toBe(201);
    expect(body).toEqual({
      workspace: {
        id: expect.any(String),
        name: 'Corner Shop',
        slug: expect.stringMatching(/^corner-shop/),
        partner_external_id: 'cus_1',
      },
      key: expect.stringMatching(/^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$/),
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('one that exists comes back without a key and unchanged: 200', async () => {
    const made = await platform.post({ external_id: 'cus_2', name: 'First' });
    const again = await platform.post({ external_id: 'cus_2', name: 'Second' });
    expect([again.status, again.body]).toEqual([200, { workspace: made.body.workspace, key: null }]);
    expect((await me(made.body.key)).status).toBe(200);
  });

  test('rotate_key gives a new key and revokes those that the partner minted before, no others: 200', async () => {
    const made = await platform.post({ external_id: 'cus_3', name: 'N' });
    const { token: ofTheTeam } = await createKey(api.stores.pool, {
      workspaceId: made.body.workspace.id,
      kind: 'secret',
      label: 'of the team',
    });
    const first = await platform.post({ external_id: 'cus_3', name: 'N', rotate_key: true });
    const second = await platform.post({ external_id: 'cus_3', name: 'N', rotate_key: true });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.workspace).toEqual(made.body.workspace);
    const statuses = await Promise.all(
      [keyOf(made), keyOf(first), keyOf(second), ofTheTeam].map(async (key) => (await me(key)).status),
    );
    expect(statuses).toEqual([401, 401, 200, 200]);
  });

  test('a rotation leaves the keys of other workspaces of the partner', async () => {
    const other = await platform.post({ external_id: 'cus_4a', name: 'N' });
    await platform.post({ external_id: 'cus_4b', name: 'N' });
    await platform.post({ external_id: 'cus_4b', name: 'N', rotate_key: true });
    expect((await me(other.body.key)).status).toBe(200);
  });

  test('rotate_key on one that does not exist yet makes it: 201', async () => {
    const answer = await platform.post({ external_id: 'cus_5', name: 'N', rotate_key: true });
    expect([answer.status, (await me(answer.body.key)).status]).toEqual([201, 200]);
    const { body } = await me(answer.body.key);
    expect(body.key.label).toBe('partner:Platform');
  });

  test('the workspace is on the unlimited plan, without caps, and says that a partner manages it', async () => {
    const made = await platform.post({ external_id: 'cus_6', name: 'Managed' });
    const { body } = await me(made.body.key);
    expect(body.workspace).toMatchObject({ name: 'Managed', partner_managed: true });
    expect(body.plan).toMatchObject({ tier: 'unlimited', status: 'active' });
    expect(Object.values(body.plan.limits).map((one) => one.limit)).toEqual([null, null, null]);
    expect(body.key).toMatchObject({ label: 'partner:Platform', scopes: ['secret'] });
  });

  test('its key works on the other endpoints: links, reports, clicks', async () => {
    const { body } = await platform.post({ external_id: 'cus_7', name: 'N' });
    const link = { destination_url: 'https://shop.example', name: 'N', channel: 'x', external_id: 'post-1' };
    expect((await shop.post('/links', link, { key: body.key })).status).toBe(201);
    for (const path of ['/links', '/channels', '/clicks']) {
      expect((await shop.get(path, { key: body.key })).status).toBe(200);
    }
  });

  test('external ids are compared exactly', async () => {
    const ids = ['cus_8', 'CUS_8', ' cus_8', 'cus_8 ', 'cus_8/a', 'cus%5F8', 'kä', 'ka\u0308'];
    const made = await Promise.all(ids.map((external_id) => platform.post({ external_id, name: 'N' })));
    expect(made.map((answer) => answer.status)).toEqual(ids.map(() => 201));
    expect(new Set(made.map((answer) => answer.body.workspace.id)).size).toBe(ids.length);
    for (const [index, id] of ids.entries()) {
      const found = await platform.find(id);
      expect([found.status, found.body.workspace]).toEqual([200, made[index]?.body.workspace]);
    }
  });

  test('of many calls at once one makes the workspace', async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => platform.post({ external_id: 'cus_9', name: 'Same' })),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([...Array(23).fill(200), 201]);
    expect(new Set(answers.map((answer) => answer.body.workspace.id)).size).toBe(1);
    expect(answers.filter((answer) => answer.body.key !== null)).toHaveLength(1);
  });

  test('of many rotations at once one key is left, and it works', async () => {
    await platform.post({ external_id: 'cus_10', name: 'N' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => platform.post({ external_id: 'cus_10', name: 'N', rotate_key: true })),
    );
    const statuses = await Promise.all(answers.map(async (answer) => (await me(answer.body.key)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  test('many workspaces of one name each get a slug of their own', async () => {
    const made = await Promise.all(
      Array.from({ length: 15 }, (_, n) => platform.post({ external_id: `same-${n}`, name: 'Same name' })),
    );
    expect(new Set(made.map((answer) => answer.body.workspace.slug)).size).toBe(15);
  });

  test.each([
    ['no external_id', { name: 'N' }],
    ['an empty one', { external_id: '', name: 'N' }],
    ['201 characters', { external_id: 'x'.repeat(201), name: 'N' }],
    ['a number', { external_id: 7, name: 'N' }],
    ['a dot, which no path can hold', { external_id: '.', name: 'N' }],
    ['two dots', { external_id: '..', name: 'N' }],
    ['no name', { external_id: 'bad' }],
    ['an empty name', { external_id: 'bad', name: '' }],
    ['a name of 101 characters', { external_id: 'bad', name: 'x'.repeat(101) }],
    ['rotate_key as text', { external_id: 'bad', name: 'N', rotate_key: 'true' }],
  ])('%s: 400', async (_, body) => {
    expect((await platform.post(body)).status).toBe(400);
    expect((await platform.find('bad')).status).toBe(404);
  });

  test('200 characters of either are accepted', async () => {
    const body = { external_id: '😀'.repeat(200), name: '😀'.repeat(100) };
    expect((await platform.post(body)).status).toBe(201);
    expect((await platform.find(body.external_id)).body.workspace.name).toBe(body.name);
  });
});

describe('GET /partner/workspaces/:external_id', () => {
  test('gives the workspace and never a key', async () => {
    const made = await platform.post({ external_id: 'https://x.example/a?b=c', name: 'N' });
    const found = await platform.find('https://x.example/a?b=c');
    expect([found.status, found.body]).toEqual([200, { workspace: made.body.workspace }]);
  });

  test('an unknown one: 404 not_found', async () => {
    const answer = await shop.get('/partner/workspaces/nobody', { key: platform.key });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  });
});

describe('between partners', () => {
  test("another partner's workspace is not found, and its external_id is free", async () => {
    const rival = await addPartner('Rival');
    const made = await platform.post({ external_id: 'shared', name: 'N' });
    expect((await rival.find('shared')).status).toBe(404);
    const own = await rival.post({ external_id: 'shared', name: 'N', rotate_key: true });
    expect(own.status).toBe(201);
    expect(own.body.workspace.id).not.toBe(made.body.workspace.id);
    await rival.post({ external_id: 'shared', name: 'N', rotate_key: true });
    expect((await me(made.body.key)).status).toBe(200);
    expect((await platform.find('shared')).body.workspace.id).toBe(made.body.workspace.id);
  });

  test('a workspace that no partner made is not found', async () => {
    expect((await platform.find(shop.workspace.id)).status).toBe(404);
  });
});

describe('keys', () => {
  test('a workspace key is refused here: 401', async () => {
    for (const key of [shop.secretKey, shop.publishableKey, null]) {
      expect((await shop.get('/partner/workspaces/cus_1', { key })).status).toBe(401);
      const body = { external_id: 'stolen', name: 'N' };
      expect((await shop.post('/partner/workspaces', body, { key })).status).toBe(401);
    }
    expect((await platform.find('stolen')).status).toBe(404);
  });

  test('the key of a partner workspace is a workspace key like any other', async () => {
    const made = await platform.post({ external_id: 'cus_11', name: 'N' });
    expect((await shop.get('/partner/workspaces/cus_11', { key: made.body.key })).status).toBe(401);
  });

  test('a partner key is refused everywhere else: 401', async () => {
    for (const path of ['/me', '/links', '/clicks', '/programs', '/folders']) {
      const { status } = await shop.get(path, { key: platform.key });
      expect([path, status]).toEqual([path, 401]);
    }
  });
});
