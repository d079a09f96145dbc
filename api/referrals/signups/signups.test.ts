import { expect } from 'vitest';
import { merchantTest } from '../../../test/referrals/fixtures.ts';
import type { TestWorkspace } from '../../../test/support/api.ts';

type Signup = {
  id: string;
  external_user_id: string;
  status: string;
  partner_id: string | null;
  block_reason: string | null;
  lifetime_value: Record<string, number>;
};
type Page = { signups: Signup[]; next_cursor: string | null };

const list = async (shop: TestWorkspace, query = '') =>
  (await shop.get<Page>(`/signups?${query}`)).body.signups;
const users = (signups: Signup[]) => signups.map((one) => one.external_user_id);

merchantTest(
  'signups are listed newest first, blocked ones with their reason and who referred them',
  async ({ shop, m }) => {
    const program = await m.program();
    const r = await m.enroll('r', { device_id: 'phone' });
    const s = await m.enroll('s');
    await m.signup('good', { ref_code: r.ref, email: 'good@mail.example' });
    await m.signup('alias', { ref_code: r.ref, email: 'r+two@mail.example' });
    await m.signup('twin', { ref_code: r.ref, device_id: 'phone' });
    await m.signup('nobody', {}); // without a referrer: stores no signup
    await shop.patch(`/enrollments/${s.partner_id}`, { status: 'suspended' });
    await m.signup('late', { ref_code: s.ref });
    expect(users(await list(shop))).toEqual(['late', 'twin', 'alias', 'good']);
    const blocked = await list(shop, 'blocked=true');
    expect(blocked.map((one) => [one.external_user_id, one.block_reason])).toEqual([
      ['late', 'suspended'],
      ['twin', 'same_device'],
      ['alias', 'same_email'],
    ]);
    expect(blocked[2]).toEqual({
      id: expect.any(String),
      external_user_id: 'alias',
      email: 'r+two@mail.example',
      status: 'matched',
      by_server: true,
      program_id: program.id,
      partner_id: r.partner_id,
      referrer_external_user_id: 'r',
      referrer_name: null,
      referrer_email: 'r@mail.example',
      blocked: true,
      block_reason: 'same_email',
      reported_at: expect.any(String),
      lifetime_value: {},
    });
    // What a customer brought: all purchases less refunds, by currency.
    await m.purchase('good', 'o1', 100);
    await m.purchase('good', 'o2', 20.5, { currency: 'eur' });
    await m.refund('r1', 'o1', 30);
    const values = (await list(shop)).map((one) => [one.external_user_id, one.lifetime_value]);
    expect(Object.fromEntries(values)).toEqual({
      late: {},
      twin: {},
      alias: {},
      good: { usd: 70, eur: 20.5 },
    });
    expect(users(await list(shop, 'blocked=false'))).toEqual(['good']);
    expect(users(await list(shop, 'block_reason=same_device'))).toEqual(['twin']);
    expect(users(await list(shop, `partner_id=${s.partner_id}`))).toEqual(['late']);
    expect(users(await list(shop, `program_id=${program.id}&search=GOOD@`))).toEqual(['good']);
    expect(await list(shop, `program_id=${crypto.randomUUID()}`)).toEqual([]);
  },
);

merchantTest(
  'a signup whose click is not visible yet is pending, and its referrer unknown',
  async ({ api, shop, m }) => {
    await m.program();
    await api.stores.pool.query(
      `INSERT INTO signups (id, workspace_id, external_user_id, visitor_id, state, reported_at)
     VALUES (gen_random_uuid(), $1, 'waiting', gen_random_uuid(), 'pending', now())`,
      [shop.workspace.id],
    );
    expect(await list(shop)).toMatchObject([
      { external_user_id: 'waiting', status: 'pending', partner_id: null, blocked: false },
    ]);
  },
);

merchantTest('signups are walked, each once', async ({ shop, m }) => {
  await m.program();
  const { ref } = await m.enroll('r');
  for (let n = 0; n < 5; n++) await m.signup(`n${n}`, { ref_code: ref });
  const seen: string[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await shop.get<Page>(`/signups?limit=2${cursor}`);
    seen.push(...users(body.signups));
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(seen).toEqual(['n4', 'n3', 'n2', 'n1', 'n0']);
});

merchantTest.for([
  'limit=501',
  'cursor=x',
  'blocked=yes',
  'block_reason=x',
  'partner_id=x',
  'program_id=x',
  'search=',
])('?%s is a 400 that names the field', async (query, { shop }) => {
  const answer = await shop.get(`/signups?${query}`);
  expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, query.split('=')[0]]);
});

merchantTest('signups need a secret key and a paid plan', async ({ api, shop }) => {
  expect((await shop.get('/signups', { key: shop.publishableKey })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/signups')).status).toBe(402);
});
