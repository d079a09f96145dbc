import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi(({ config }) => ({ config: { ...config, publishableLimitPerHour: 4 } }));
  shop = await api.addWorkspace();
  const program = {
    name: 'Friends',
    code: 'friends',
    destination_url: 'https://shop.example/',
    payout_methods: ['paypal'],
  };
  expect((await shop.post('/programs', program)).status).toBe(201);
});
afterAll(() => api.close());

const countOf = async (table: string) => {
  const { rows } = await api.stores.pool.query(
    `SELECT count(*) AS count FROM ${table} WHERE workspace_id = $1`,
    [shop.workspace.id],
  );
  return Number(rows[0]?.count);
};
const changesOf = async () => {
  const { rows } = await api.stores.pool.query('SELECT count(*) AS count FROM enrollment_changes');
  return Number(rows[0]?.count);
};
const enroll = (user: string, key = shop.publishableKey) =>
  shop.post(
    '/referrals/enroll',
    { email: `${user}@mail.example`, external_user_id: user, tier: 'free' },
    { key },
  );
const setPayout = (email: string) =>
  shop.post(
    '/referrals/payout-method',
    { external_user_id: 'a', method: 'paypal', email },
    { key: shop.publishableKey },
  );
const signUp = (user: string, key = shop.publishableKey) =>
  shop.post(
    '/referrals/report-signup',
    { new_user_external_user_id: user, referrer_external_user_id: 'a' },
    { key },
  );

test('publishable keys of a workspace have a ceiling of rows an hour: then 429, a metric, and nothing is made', async () => {
  expect([(await enroll('a')).status, (await enroll('b')).status]).toEqual([200, 200]);
  expect((await signUp('new-1')).status).toBe(200);
  expect((await setPayout('a@mail.example')).status).toBe(200);
  // Sums all hours, because an hour may end during this test.
  const { rows } = await api.stores.pool.query('SELECT sum(made)::integer AS made FROM publishable_uses');
  expect(rows).toEqual([{ made: 4 }]);
  await api.stores.pool.query(
    `INSERT INTO publishable_uses (workspace_id, hour, made)
     SELECT $1, date_trunc('hour', now()) + n * interval '1 hour', 4 FROM generate_series(0, 1) AS n
     ON CONFLICT (workspace_id, hour) DO UPDATE SET made = 4`,
    [shop.workspace.id],
  );
  for (const refused of [await enroll('c'), await signUp('new-2')]) {
    expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_requests']);
    const wait = Number(refused.headers['retry-after']);
    expect(wait >= 1 && wait <= 3_600).toBe(true);
  }
  expect([await countOf('enrollments'), await countOf('signups'), await countOf('links')]).toEqual([2, 1, 3]);
  expect(await api.deps.registry.getSingleMetricAsString('hoplog_api_publishable_refused_total')).toMatch(
    / 2$/m,
  );
  // Calls that create no row, servers, and other workspaces are not limited.
  expect([(await enroll('a')).status, (await signUp('new-1')).status]).toEqual([200, 200]);
  expect((await enroll('c', shop.secretKey)).status).toBe(200);
  expect((await (await api.addWorkspace()).get('/me')).status).toBe(200);
  // Each change of a referrer creates a permanent row, and each response that is stored for a replay creates one too.
  const changes = await changesOf();
  const changed = await setPayout('other@mail.example');
  expect([changed.status, await changesOf()]).toEqual([429, changes]);
  expect((await setPayout('a@mail.example')).status).toBe(200);
  const kept = await shop.post(
    '/referrals/report-signup',
    { new_user_external_user_id: 'new-1', referrer_external_user_id: 'a' },
    { key: shop.publishableKey, headers: { 'idempotency-key': 'another' } },
  );
  expect([kept.status, await countOf('idempotency_keys')]).toEqual([429, 0]);
  // The next hour has a limit of its own.
  await api.stores.pool.query("UPDATE publishable_uses SET hour = hour - interval '1 day'");
  expect((await enroll('d')).status).toBe(200);
});
