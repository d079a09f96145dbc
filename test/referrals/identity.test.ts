import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { userHash } from '../../core/access/user-hash.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { type Merchant, merchant } from './support.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;
let secret: string;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
  m = merchant(shop);
  await m.program({ commission_rate: 20, allow_affiliate_upgrade: true, credit_enabled: true });
  secret = (await shop.post<{ identity_secret: string }>('/identity-secret')).body.identity_secret;
});
afterAll(() => api.close());

/** Every call with a publishable key that names a user. */
const CALLS: [string, (user_hash: object, key: string) => Promise<{ status: number; text: string }>][] = [
  [
    'enroll',
    (proof, key) =>
      shop.post(
        '/referrals/enroll',
        { email: 'u@mail.example', external_user_id: 'u', tier: 'free', ...proof },
        { key },
      ),
  ],
  [
    'report-signup',
    (proof, key) =>
      shop.post('/referrals/report-signup', { new_user_external_user_id: 'u', ...proof }, { key }),
  ],
  [
    'stats',
    (proof, key) =>
      shop.get(
        `/referrals/stats?${new URLSearchParams({ external_user_id: 'u', ...proof } as Record<string, string>)}`,
        { key },
      ),
  ],
  [
    'reward-mode',
    (proof, key) =>
      shop.post('/referrals/reward-mode', { external_user_id: 'u', mode: 'affiliate', ...proof }, { key }),
  ],
  [
    'payout-method',
    (proof, key) =>
      shop.post(
        '/referrals/payout-method',
        { external_user_id: 'u', method: 'paypal', email: 'u@mail.example', ...proof },
        { key },
      ),
  ],
];

test('a page needs the hash of the user whom it names, where it is required; a server needs none', async () => {
  await shop.patch('/workspace', { identity_verification: 'required' });
  const page = shop.publishableKey;
  for (const [name, call] of CALLS) {
    const bad = [{}, { user_hash: userHash(secret, 'other') }, { user_hash: userHash(`${secret}0`, 'u') }];
    for (const proof of [...bad, { user_hash: 'x' }]) {
      const refused = await call(proof, page);
      expect([name, refused.status, JSON.parse(refused.text).error.code]).toEqual([name, 403, 'forbidden']);
    }
    expect([name, (await call({ user_hash: userHash(secret, 'u') }, page)).status]).toEqual([name, 200]);
    expect([name, (await call({}, shop.secretKey)).status]).toEqual([name, 200]);
  }
});

test('nothing is required while the setting is off, and a new secret replaces the former', async () => {
  const page = shop.publishableKey;
  for (const [name, call] of CALLS) expect([name, (await call({}, page)).status]).toEqual([name, 200]);
  await shop.patch('/workspace', { identity_verification: 'required' });
  const [, call] = CALLS[0] ?? [];
  if (!call) throw new Error('no call');
  const before = secret;
  secret = (await shop.post<{ identity_secret: string }>('/identity-secret')).body.identity_secret;
  expect((await call({ user_hash: userHash(before, 'u') }, page)).status).toBe(403);
  expect((await call({ user_hash: userHash(secret, 'u').toUpperCase() }, page)).status).toBe(200);
});

test('without a secret no page proves anything', async () => {
  const other = await api.addWorkspace();
  await merchant(other).program();
  await other.patch('/workspace', { identity_verification: 'required' });
  const answer = await other.get(`/referrals/stats?external_user_id=u&user_hash=${userHash(secret, 'u')}`, {
    key: other.publishableKey,
  });
  expect(answer.status).toBe(403);
});
