import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
  expect((await shop.post('/programs', program)).status).toBe(201);
});
afterAll(() => api.close());

test.each(['\u001b[2J', 'a\nb', '\u0007', '\u009b1m', '\u007f'])(
  '%j is refused in every name',
  async (name) => {
    const url = 'https://shop.example/';
    const user = { email: 'a@mail.example', external_user_id: 'a', tier: 'free' };
    for (const [path, body] of [
      ['/links', { destination_url: url, smart: true, name }],
      ['/folders', { name }],
      ['/programs', { name, code: 'other', destination_url: url }],
      ['/referrals/enroll', { ...user, name }],
    ] as const) {
      const { status, body: answer } = await shop.post(path, body);
      const [detail] = answer.error.details ?? [];
      expect([path, status, detail]).toEqual([
        path,
        400,
        { path: 'name', message: 'must not contain control characters' },
      ]);
    }
  },
);

test('a reason or a note that is only white space is refused', async () => {
  const id = crypto.randomUUID();
  for (const [path, body, field] of [
    ['/commissions', { external_user_id: 'a', amount: 1, note: ' ' }, 'note'],
    ['/credits/1/revoke', { reason: '\u00a0\n' }, 'reason'],
    [`/payouts/${id}/lines/${id}/fail`, { reason: '\t' }, 'reason'],
  ] as const) {
    const { status, body: answer } = await shop.post(path, body);
    expect([path, status, answer.error.details]).toEqual([
      path,
      400,
      [{ path: field, message: 'must not be blank' }],
    ]);
  }
});
