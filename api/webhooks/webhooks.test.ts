import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ResolveHost } from '../../core/webhooks/resolve-host.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';

type Hook = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  filter: object | null;
  is_active: boolean;
  disabled_at: string | null;
  secret?: string;
  created_at: string;
  updated_at: string;
};
type Refused = { error: { details: { path: string }[] } };
type Delivery = { id: string; created_at: string };

const NAMES: Record<string, string[]> = {
  'public.example': ['8.8.8.8', '2606:4700::1111'],
  'private.example': ['10.0.0.1'],
  'both.example': ['8.8.8.8', '127.0.0.1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
};

const resolveHost: ResolveHost = async (name) => {
  const addresses = NAMES[name];
  if (!addresses) throw new Error('ENOTFOUND');
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

let api: TestApi;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi(() => ({ resolveHost }));
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const BODY = { url: 'https://public.example/hook', events: ['click.created'] };

async function create(body: object = BODY, workspace = shop): Promise<Hook> {
  const answer = await workspace.post<Hook>('/webhooks', body);
  expect(answer.status).toBe(201);
  return answer.body;
}

describe('a webhook', () => {
  test('is created with its secret, which is shown nowhere else', async () => {
    const hook = await create({ ...BODY, events: ['click.created', 'click.created', 'sale.created'] });
    expect(hook).toEqual({
      id: expect.any(String),
      url: BODY.url,
      events: ['click.created', 'sale.created'],
      description: null,
      filter: null,
      format: 'json',
      batch: null,
      is_active: true,
      disabled_at: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]+=*$/),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { secret, ...made } = hook;
    const shown = { ...made, last_delivery: null };
    const one = await shop.get<Hook>(`/webhooks/${hook.id}`);
    expect(one.body).toEqual(shown);
    const list = await shop.get<{ webhooks: Hook[]; next_cursor: string | null }>('/webhooks');
    expect(list.body.webhooks).toContainEqual(shown);
    expect(list.text + one.text).not.toContain(secret);
  });

  test('needs a secret key and a paid plan', async () => {
    const free = await api.addWorkspace({ plan: 'free' });
    const late = await api.addWorkspace({ plan: 'pro', plan_status: 'past_due' });
    const calls = [
      ['GET', '/webhooks'],
      ['POST', '/webhooks'],
      ['GET', `/webhooks/${crypto.randomUUID()}`],
      ['PATCH', `/webhooks/${crypto.randomUUID()}`],
      ['DELETE', `/webhooks/${crypto.randomUUID()}`],
      ['POST', `/webhooks/${crypto.randomUUID()}/test`],
      ['POST', `/webhooks/${crypto.randomUUID()}/rotate-secret`],
      ['GET', `/webhooks/${crypto.randomUUID()}/deliveries`],
      ['GET', `/webhooks/${crypto.randomUUID()}/deliveries/${crypto.randomUUID()}`],
      ['POST', `/webhooks/${crypto.randomUUID()}/deliveries/${crypto.randomUUID()}/redeliver`],
    ] as const;
    for (const [method, path] of calls) {
      const options = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
      for (const workspace of [free, late]) {
        const answer = await workspace.call(method, path, options);
        expect([path, answer.status, answer.body.error.code]).toEqual([path, 402, 'payment_required']);
      }
      const publishable = await shop.call(method, path, { ...options, key: shop.publishableKey });
      expect([path, publishable.status]).toEqual([path, 403]);
    }
  });

  test('takes a filter, a format, and batches, and names what is wrong with them', async () => {
    const { body: folder } = await shop.post<{ id: string }>('/folders', { name: 'Spring' });
    const filter = { folder_ids: [folder.id, folder.id.toUpperCase()], channels: ['newsletter'] };
    const chosen = { filter, format: 'discord', batch: { max: 100, seconds: 5 } };
    const hook = await create({ ...BODY, ...chosen });
    const kept = { ...chosen, filter: { folder_ids: [folder.id], channels: ['newsletter'] } };
    expect(hook).toMatchObject(kept);
    expect((await shop.patch(`/webhooks/${hook.id}`, { description: 'x' })).body).toMatchObject(kept);
    // A folder that is deleted may stay in the filter: the console sends all of it.
    await shop.delete(`/folders/${folder.id}`);
    const narrower = { folder_ids: [folder.id], channels: ['reddit'] };
    expect((await shop.patch(`/webhooks/${hook.id}`, { filter: narrower })).body).toMatchObject({
      filter: narrower,
    });
    await shop.patch(`/webhooks/${hook.id}`, { filter: kept.filter });
    // Another filter is another webhook.
    expect(await create()).toMatchObject({ filter: null, format: 'json', batch: null });
    expect((await shop.post('/webhooks', { ...BODY, filter: {} })).status).toBe(409);
    const other = (await api.addWorkspace()).post<{ id: string }>('/folders', { name: 'Other' });
    const cases: [string, object][] = [
      ['filter.folder_ids.0', { filter: { folder_ids: [(await other).body.id] } }],
      ['filter.link_ids.1', { filter: { link_ids: [crypto.randomUUID(), 'x'] } }],
      ['filter.link_ids.0', { filter: { link_ids: [crypto.randomUUID()] } }],
      ['filter.link_ids', { filter: { link_ids: [] } }],
      ['filter.links', { filter: { links: [folder.id] } }],
      ['filter.channels.0', { filter: { channels: ['pigeon'] } }],
      ['format', { format: 'teams' }],
      ['batch.max', { batch: { max: 1, seconds: 5 } }],
      ['batch.seconds', { batch: { max: 10, seconds: 61 } }],
      ['batch.seconds', { batch: { max: 10 } }],
      ['batch', { events: ['sale.created'], batch: { max: 10, seconds: 5 } }],
    ];
    for (const [path, change] of cases) {
      for (const answer of [
        await shop.post<Refused>('/webhooks', { ...BODY, url: `${BODY.url}?${path}`, ...change }),
        await shop.patch<Refused>(`/webhooks/${hook.id}`, change),
      ])
        expect([answer.status, answer.body.error.details.map((one) => one.path)]).toEqual([400, [path]]);
    }
    const gone = await shop.patch<Hook>(`/webhooks/${hook.id}`, {
      filter: null,
      batch: null,
      format: 'json',
    });
    expect([gone.status, gone.body.filter]).toEqual([409, undefined]);
    const url = `${BODY.url}?json`;
    const plain = await shop.patch(`/webhooks/${hook.id}`, {
      url,
      filter: null,
      batch: null,
      format: 'json',
    });
    expect(plain.body).toMatchObject({ filter: null, batch: null, format: 'json' });
  });

  test('is changed in any subset of its fields', async () => {
    const hook = await create();
    const changed = await shop.patch<Hook>(`/webhooks/${hook.id}`, {
      url: 'http://public.example:8080/other',
      events: ['lead.created'],
      description: 'CRM',
    });
    expect(changed.body).toMatchObject({
      url: 'http://public.example:8080/other',
      events: ['lead.created'],
      description: 'CRM',
      is_active: true,
    });
    const off = await shop.patch<Hook>(`/webhooks/${hook.id}`, { is_active: false, description: null });
    expect(off.body).toMatchObject({ is_active: false, description: null, events: ['lead.created'] });
    expect((await shop.patch<Hook>(`/webhooks/${hook.id}`, {})).body).toEqual(off.body);
    expect((await shop.get<Hook>(`/webhooks/${hook.id}`)).body).toEqual({ ...off.body, last_delivery: null });
  });

  test('is read with the outcome of its newest delivery', async () => {
    const hook = await create();
    const other = await create({ ...BODY, url: `${BODY.url}?other` });
    await shop.post<Delivery>(`/webhooks/${hook.id}/test`);
    const { body: newest } = await shop.post<Delivery>(`/webhooks/${hook.id}/test`);
    const last_delivery = {
      id: newest.id,
      type: 'webhook.test',
      status: 'pending',
      attempts: 0,
      response_status: null,
      error: null,
      created_at: newest.created_at,
    };
    expect((await shop.get<Hook>(`/webhooks/${hook.id}`)).body).toMatchObject({ last_delivery });
    const list = await shop.get<{ webhooks: Hook[] }>('/webhooks?limit=2');
    expect(list.body.webhooks).toMatchObject([
      { id: other.id, last_delivery: null },
      { id: hook.id, last_delivery },
    ]);
  });

  test('is gone after it is deleted, with its deliveries', async () => {
    const hook = await create();
    const { body: delivery } = await shop.post<Delivery>(`/webhooks/${hook.id}/test`);
    expect(await shop.delete(`/webhooks/${hook.id}`)).toMatchObject({ status: 200, body: { ok: true } });
    const path = `/webhooks/${hook.id}`;
    expect((await shop.get(path)).status).toBe(404);
    expect((await shop.patch(path, { description: 'x' })).status).toBe(404);
    expect((await shop.delete(path)).status).toBe(404);
    expect((await shop.post(`${path}/test`)).status).toBe(404);
    expect((await shop.post(`${path}/rotate-secret`)).status).toBe(404);
    expect((await shop.get(`${path}/deliveries`)).status).toBe(404);
    expect((await shop.get(`${path}/deliveries/${delivery.id}`)).status).toBe(404);
    expect((await shop.post(`${path}/deliveries/${delivery.id}/redeliver`)).status).toBe(404);
    expect((await shop.get('/webhooks')).text).not.toContain(hook.id);
  });

  test('is created once with an Idempotency-Key', async () => {
    const options = { headers: { 'idempotency-key': 'one' } };
    const [first, second] = [
      await shop.post<Hook>('/webhooks', BODY, options),
      await shop.post<Hook>('/webhooks', BODY, options),
    ];
    expect(second.body).toMatchObject({ id: first.body.id, secret_shown: false });
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test('is returned to a replay, also when its host has a refused address by then', async () => {
    const body = { ...BODY, url: 'https://moving.example/hook' };
    const headers = { 'idempotency-key': 'one webhook that moves' };
    NAMES['moving.example'] = ['8.8.8.8'];
    const first = await shop.post<Hook>('/webhooks', body, { headers });
    expect(first.status).toBe(201);
    NAMES['moving.example'] = ['10.0.0.1'];
    const again = await shop.post<Hook>('/webhooks', body, { headers });
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    // A new request checks the address.
    const other = await shop.post('/webhooks', body, { headers: { 'idempotency-key': 'another webhook' } });
    expect(other.status).toBe(400);
  });

  test('comes up once in a walk through pages, newest first', async () => {
    const owner = await api.addWorkspace();
    const made = [];
    for (let hook = 0; hook < 7; hook++) {
      made.push((await create({ ...BODY, url: `${BODY.url}?${hook}` }, owner)).id);
    }
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await owner.get<{ webhooks: Hook[]; next_cursor: string | null }>(
        `/webhooks?limit=3${query}`,
      );
      expect(body.webhooks.length).toBeLessThanOrEqual(3);
      seen.push(...body.webhooks.map((hook) => hook.id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(made.toReversed());
  });

  test.each([
    ['url', { events: ['click.created'] }],
    ['url', { ...BODY, url: 'not a url' }],
    ['url', { ...BODY, url: 'ftp://public.example' }],
    ['url', { ...BODY, url: 'javascript:alert(1)' }],
    ['url', { ...BODY, url: 'https://user:word@public.example' }],
    ['url', { ...BODY, url: `https://public.example/${'x'.repeat(2_048)}` }],
    ['events', { url: BODY.url }],
    ['events', { ...BODY, events: [] }],
    ['events', { ...BODY, events: ['click.deleted'] }],
    ['events', { ...BODY, events: ['webhook.test'] }],
    ['events', { ...BODY, events: 'click.created' }],
    ['is_active', { ...BODY, is_active: 'yes' }],
    ['description', { ...BODY, description: 'x'.repeat(501) }],
  ])('is refused for a bad %s: %j', async (field, body) => {
    const answer = await shop.post('/webhooks', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toContain(field);
  });
});

test('an unknown webhook is a 404, after validation and before any DNS lookup', async () => {
  const path = '/webhooks/01890000-0000-7000-8000-000000000000';
  for (const url of [
    'ftp://x',
    'not a url',
    'https://user:word@public.example',
    ' https://public.example',
    'https://public.example/a b',
    'https:public.example',
    'https://public..example',
    'http://public.example:0/hook',
  ]) {
    const answer = await shop.patch(path, { url });
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'url']);
  }
  expect((await shop.get(`${path}/deliveries?cursor=yesterday`)).status).toBe(400);
  expect((await shop.patch(path, { url: 'https://public.example/' })).status).toBe(404);
  // A name with a refused address is looked up only for an existing webhook.
  NAMES['inside.example'] = ['10.0.0.1'];
  expect((await shop.patch(path, { url: 'https://inside.example/' })).status).toBe(404);
  expect((await shop.get(`${path}/deliveries`)).status).toBe(404);
});

describe('an address', () => {
  const REFUSED = [
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.0.0.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0/',
    'http://localhost/',
    'http://LOCALHOST./',
    'https://api.localhost/',
    'http://10.1.2.3/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'https://private.example/',
    'https://both.example/',
    'https://mapped.example/',
    'https://nat64.example/',
  ];

  test.each(REFUSED)('like %s is refused when a webhook is created and when it is changed', async (url) => {
    const created = await shop.post('/webhooks', { ...BODY, url });
    expect([url, created.status]).toEqual([url, 400]);
    expect(created.body.error.details?.[0]?.path).toBe('url');
    const hook = await create();
    expect((await shop.patch(`/webhooks/${hook.id}`, { url })).status).toBe(400);
  });

  test.each(['https://unknown.example/', 'http://8.8.8.8/', 'https://[2606:4700::1111]/'])(
    'like %s is accepted: public, or a name that does not resolve yet',
    async (url) => {
      await create({ ...BODY, url });
    },
  );
});

test('a workspace has at most 20 webhooks, and one for each URL and set of events', async () => {
  const hook = await create({ ...BODY, events: ['click.created', 'sale.created'] });
  const twin = await shop.post('/webhooks', { ...BODY, events: ['sale.created', 'click.created'] });
  expect([twin.status, twin.body.error.code]).toEqual([409, 'conflict']);
  for (const url of ['HTTPS://Public.example/hook', 'https://public.example.:443/hook', `${BODY.url}#part`]) {
    expect([url, (await shop.post('/webhooks', { url, events: hook.events })).status]).toEqual([url, 409]);
  }
  const other = await create();
  expect((await shop.patch(`/webhooks/${other.id}`, { events: hook.events })).status).toBe(409);
  expect((await shop.patch(`/webhooks/${other.id}`, { events: other.events })).status).toBe(200);
  for (let n = 2; n < 20; n++) await create({ ...BODY, url: `${BODY.url}?${n}` });
  const beyond = await shop.post('/webhooks', { ...BODY, url: `${BODY.url}?20` });
  expect([beyond.status, beyond.body.error.message]).toEqual([409, 'a workspace has at most 20 webhooks']);
  expect((await shop.delete(`/webhooks/${hook.id}`)).status).toBe(200);
  await create({ ...BODY, url: `${BODY.url}?20` });
  await create(BODY, await api.addWorkspace());
});

test('a secret is not stored for replays, and a replay lacks it', async () => {
  const send = (path: string, body: object) =>
    shop.post<Hook>(path, body, { headers: { 'idempotency-key': path } });
  const made = await send('/webhooks', BODY);
  const rotate = `/webhooks/${made.body.id}/rotate-secret`;
  for (const [path, body] of [
    ['/webhooks', BODY],
    [rotate, {}],
  ] as const) {
    const first = path === rotate ? await send(path, body) : made;
    const again = await send(path, body);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const { secret, ...rest } = first.body;
    expect([secret !== undefined, again.body]).toEqual([true, { ...rest, secret_shown: false }]);
    const { rows } = await api.stores.pool.query('SELECT body::text AS body FROM idempotency_keys');
    expect(rows.some((row) => row.body.includes('whsec_'))).toBe(false);
  }
});
