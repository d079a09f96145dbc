import { beforeEach, describe, expect } from 'vitest';
import { outsideTransaction } from '../../sql/database/nested-connections.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { withIdempotency } from './idempotency.ts';

type Created = { destination_id: string; links: { id: string }[] };

/** The wait of the route `/api/v1/test/half` after it has created a folder. */
let half: () => Promise<void>;

test.beforeAll(async ({ api }) => {
  api.app.post(
    '/api/v1/test/half',
    { config: { scope: 'secret', plan: 'any', idempotent: true } },
    async (request, reply) =>
      withIdempotency(api.deps.pool, request, reply, async (tx) => {
        await tx.query('INSERT INTO folders (id, workspace_id, name) VALUES (gen_random_uuid(), $1, $2)', [
          request.auth.workspace.id,
          'half',
        ]);
        await half();
        return { status: 201, body: { made: true } };
      }),
  );
});
beforeEach(async () => {
  half = async () => undefined;
});

const body = { destination_url: 'https://shop.example', name: 'N', channels: ['x', 'slack'] };
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
const create = (shop: TestWorkspace, key: string, given: unknown = body) =>
  shop.post<Created>('/links', given, withKey(key));

async function count(
  api: TestApi,
  shop: TestWorkspace,
  table: 'destinations' | 'folders' | 'idempotency_keys',
): Promise<number> {
  const { rows } = await api.stores.pool.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${table} WHERE workspace_id = $1`,
    [shop.workspace.id],
  );
  return rows[0]?.count ?? -1;
}

test('a replay gets the stored status and body, and says so', async ({ api, shop }) => {
  const first = await create(shop, 'one');
  const second = await create(shop, 'one');
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.text).toBe(first.text);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  expect(await count(api, shop, 'destinations')).toBe(1);
});

/** Creates whose response has a secret: the call, the secret, and the rows that count them. */
const SECRETS: [path: string, body: object, secret: RegExp, rows: string][] = [
  ['/keys', { kind: 'secret' }, /"token":"lk_live_[^"]+",?/, 'api_keys'],
  ['/identity-secret', {}, /"identity_secret":"is_live_[^"]+",?/, 'identity_secrets'],
  ['/members/invites', { role: 'analyst' }, /"url":"[^"]+",?/, 'invites'],
  [
    '/webhooks',
    { url: 'https://8.8.8.8/hook', events: ['click.created'] },
    /"secret":"whsec_[^"]+",?/,
    'webhooks',
  ],
];
test.for(SECRETS)(
  'a replay of POST %s does nothing, and says that it lacks the secret',
  async ([path, sent, secret, table], { api, shop }) => {
    const rowsOf = async () => {
      const row = "(to_jsonb(t) - 'last_used_at')::text";
      const { rows } = await api.stores.pool.query(
        `SELECT md5(string_agg(${row}, '' ORDER BY ${row})) AS all FROM ${table} t`,
      );
      return rows[0]?.all;
    };
    const first = await shop.post(path, sent, withKey('secret'));
    expect(first.text).toMatch(secret);
    const before = await rowsOf();
    const second = await shop.post<{ secret_shown?: boolean }>(path, sent, withKey('secret'));
    expect([second.status, second.headers['idempotent-replayed'], await rowsOf()]).toEqual([
      201,
      'true',
      before,
    ]);
    const { secret_shown: shown, ...rest } = second.body;
    expect(shown).toBe(false);
    expect(rest).toEqual(JSON.parse(first.text.replace(secret, '').replace(/,}/g, '}')));
    const { rows } = await api.stores.pool.query('SELECT body::text AS body FROM idempotency_keys');
    expect(rows.some((row) => secret.test(row.body))).toBe(false);
  },
);

test('the order of keys and the white space of a body do not matter', async ({ api, shop }) => {
  const first = await create(shop, 'order');
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'order' };
  const reordered = `{ "channels": ["x","slack"],\n "name": "N", "destination_url": "https://shop.example" }`;
  const second = await shop.call<Created>('POST', '/links', { body: reordered, headers });
  expect(second.body).toEqual(first.body);
  expect(await count(api, shop, 'destinations')).toBe(1);
});

test('the same key with another body or path is 422', async ({ api, shop }) => {
  await create(shop, 'reused');
  for (const other of [
    { ...body, name: 'M' },
    { ...body, channels: ['slack', 'x'] },
  ]) {
    const answer = await shop.post('/links', other, withKey('reused'));
    expect([answer.status, answer.body.error.code]).toEqual([422, 'idempotency_key_reused']);
  }
  expect((await shop.post('/folders', { name: 'F' }, withKey('reused'))).status).toBe(422);
  expect(await count(api, shop, 'folders')).toBe(0);
});

test('keys belong to their workspace', async ({ api, shop }) => {
  const first = await create(shop, 'shared');
  const other = await api.addWorkspace();
  const theirs = await other.post<Created>('/links', body, withKey('shared'));
  expect(theirs.status).toBe(201);
  expect(theirs.body.destination_id).not.toBe(first.body.destination_id);
});

test("a publishable key, which anyone has, takes no key of the workspace's servers", async ({ shop }) => {
  const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
  expect((await shop.post('/programs', program)).status).toBe(201);
  const enroll = { email: 'a@mail.example', external_user_id: 'a', tier: 'free' };
  const byPage = () =>
    shop.post('/referrals/enroll', enroll, { key: shop.publishableKey, ...withKey('order-1001') });
  expect((await byPage()).status).toBe(200);
  expect((await create(shop, 'order-1001')).status).toBe(201);
  const replayed = await byPage();
  expect([replayed.status, replayed.headers['idempotent-replayed']]).toEqual([200, 'true']);
});

describe('what a key may be', () => {
  test.for<[key: string]>([[''], ['x'.repeat(201)], ['tab\tinside'], ['é']])(
    '%j is 400',
    async ([key], { shop }) => {
      const answer = await shop.post('/links', body, withKey(key));
      expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'Idempotency-Key']);
    },
  );

  test.for(['/links/import', '/keys', '/members/invites'])('%s validates it too', async (path, { shop }) => {
    const given = { text: 'destination_url,name', kind: 'secret', role: 'viewer' };
    const answer = await shop.post(path, given, withKey('x'.repeat(201)));
    expect([answer.status, answer.body.error?.details?.[0]?.path]).toEqual([400, 'Idempotency-Key']);
  });

  test('1 and 200 printable characters are accepted', async ({ shop }) => {
    expect((await create(shop, '1')).status).toBe(201);
    expect((await create(shop, '~'.repeat(200))).status).toBe(201);
    expect((await create(shop, 'with space !"#$%&')).status).toBe(201);
  });

  test('it is validated after the key, like any parameter', async ({ shop }) => {
    const answer = await shop.post('/links', body, { ...withKey(''), key: null });
    expect(answer.status).toBe(401);
  });
});

describe('errors', () => {
  test('create nothing, and a retry runs again', async ({ shop }) => {
    expect((await create(shop, 'retry', { ...body, slug: 'idem', channels: ['x'] })).status).toBe(201);
    const taken = { ...body, slug: 'idem', channels: ['slack'] };
    expect((await create(shop, 'error', taken)).status).toBe(409);
    expect((await create(shop, 'error', { ...taken, slug: 'idem2' })).status).toBe(201);
    expect((await create(shop, 'bad', { ...body, name: 5 })).status).toBe(400);
    expect((await create(shop, 'bad')).status).toBe(201);
  });

  test('a 200 for a known external_id is stored as well', async ({ shop }) => {
    const known = { ...body, channels: ['x'], external_id: 'e' };
    await shop.post('/links', known);
    const first = await create(shop, 'known', known);
    const second = await create(shop, 'known', known);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });
});

test('one of 50 concurrent identical creates makes the campaign, the others replay it or get a 409', async ({
  api,
  shop,
}) => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(shop, 'burst')));
  expect(await count(api, shop, 'destinations')).toBe(1);
  for (const { status } of answers) expect([201, 409]).toContain(status);
  const made = answers.filter((answer) => answer.status === 201);
  expect(new Set(made.map((answer) => answer.text)).size).toBe(1);
  expect(made.filter((answer) => answer.headers['idempotent-replayed'] !== 'true')).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status === 409)) {
    expect(answer.text).toContain('idempotency_in_progress');
  }
});

test('a second request while the first runs is 409, and a replay afterwards', async ({ api, shop }) => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  half = async () => {
    entered.resolve();
    await release.promise;
  };
  const first = shop.post('/test/half', {}, withKey('slow'));
  await entered.promise;
  const second = await shop.post('/test/half', {}, withKey('slow'));
  expect([second.status, second.body.error.code]).toEqual([409, 'idempotency_in_progress']);
  release.resolve();
  expect((await first).status).toBe(201);
  const third = await shop.post('/test/half', {}, withKey('slow'));
  expect([third.status, third.headers['idempotent-replayed']]).toEqual([201, 'true']);
  expect(await count(api, shop, 'folders')).toBe(1);
});

test('a failure half-way leaves neither the work nor the record, and the retry makes it', async ({
  api,
  shop,
}) => {
  half = async () => {
    throw new Error('half-way');
  };
  expect((await shop.post('/test/half', {}, withKey('half'))).status).toBe(500);
  expect([await count(api, shop, 'folders'), await count(api, shop, 'idempotency_keys')]).toEqual([0, 0]);
  half = async () => undefined;
  expect((await shop.post('/test/half', {}, withKey('half'))).status).toBe(201);
  expect([await count(api, shop, 'folders'), await count(api, shop, 'idempotency_keys')]).toEqual([1, 1]);
});

test('a connection that dies half-way leaves neither the work nor the record, and is a 503', async ({
  api,
  shop,
}) => {
  half = async () => {
    await outsideTransaction(() =>
      api.stores.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      ),
    );
  };
  const answer = await shop.post('/test/half', {}, withKey('dead'));
  expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable']);
  expect(answer.headers['retry-after']).toBe('1');
  expect([await count(api, shop, 'folders'), await count(api, shop, 'idempotency_keys')]).toEqual([0, 0]);
});

test('a record is ignored after 24 hours, and deleted later', async ({ api, shop }) => {
  const first = await create(shop, 'old');
  await create(shop, 'older');
  await api.stores.pool.query(
    `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE workspace_id = $1`,
    [shop.workspace.id],
  );
  const second = await create(shop, 'old');
  expect(second.body.destination_id).not.toBe(first.body.destination_id);
  expect((await create(shop, 'old')).body).toEqual(second.body);
  expect(await count(api, shop, 'idempotency_keys')).toBe(1);
});

test('without a key every create makes something', async ({ api, shop }) => {
  await shop.post('/links', body);
  await shop.post('/links', body);
  expect(await count(api, shop, 'destinations')).toBe(2);
  expect(await count(api, shop, 'idempotency_keys')).toBe(0);
});
