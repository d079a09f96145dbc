import { describe, expect } from 'vitest';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { roomInUtcDay } from '../support/utc-day.ts';
import { merchantTest } from './fixtures.ts';
import { type Merchant, queuedEvents } from './support.ts';

type Signup = { id: string; external_user_id: string; status: string; block_reason: string | null };

const CREDITS = { credit_enabled: true, signup_credit: { free: 5, paid: 50 }, purchase_credit: 7 };

const credits = async (m: Merchant, user: string) => (await m.credits(`external_user_id=${user}`)).balance;
const held = async (shop: TestWorkspace) =>
  (await shop.get<{ signups: Signup[] }>('/signups?status=held')).body.signups;
const decide = (shop: TestWorkspace, id: string | undefined, decision: 'approve' | 'reject') =>
  shop.post<Signup>(`/signups/${id}/${decision}`);
const types = async (api: TestApi, shop: TestWorkspace) =>
  (await queuedEvents(api, shop)).map(({ type }) => type);

describe('a cap', () => {
  merchantTest(
    "blocks a referrer's signups of a day beyond it, however they come",
    async ({ api, shop, m }) => {
      await roomInUtcDay();
      await m.program({ ...CREDITS, max_signups_per_day: 3 });
      const [r, s] = [await m.enroll('r', { tier: 'paid' }), await m.enroll('s')];
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => m.signup(`n${n}`, { ref_code: r.ref }, shop.publishableKey)),
      );
      expect(answers.filter(({ body }) => body.blocked === false)).toHaveLength(3);
      expect(new Set(answers.map(({ body }) => body.block_reason))).toEqual(new Set([null, 'cap']));
      expect(await credits(m, 'r')).toEqual({ credits: { earned: 150, delivered: 0 } });
      // The limit is of one referrer, and a blocked signup's purchases earn nothing.
      expect((await m.signup('other', { ref_code: s.ref })).body.blocked).toBe(false);
      expect((await m.signup('last', { ref_code: r.ref })).body.block_reason).toBe('cap');
      expect((await m.purchase('last', 'o1', 10)).body).toMatchObject({ matched: true, reason: 'cap' });
      const { rowCount } = await api.stores.pool.query(
        `UPDATE signups SET reported_at = reported_at - interval '1 day' WHERE workspace_id = $1`,
        [shop.workspace.id],
      );
      expect(rowCount).toBe(22);
      expect((await m.signup('tomorrow', { ref_code: r.ref })).body.blocked).toBe(false);
    },
  );
});

describe('a review of signups', () => {
  merchantTest('holds a signup and its purchases until it is approved', async ({ api, shop, m }) => {
    await m.program({ ...CREDITS, review: 'signups' });
    const { ref, partner_id } = await m.enroll('r');
    expect((await m.signup('n', { ref_code: ref })).body).toMatchObject({
      matched: true,
      partner_id,
      blocked: false,
      status: 'held',
    });
    expect((await m.purchase('n', 'o1', 10)).body).toMatchObject({
      matched: true,
      rewarded: false,
      status: 'held',
    });
    expect([await credits(m, 'r'), await types(api, shop)]).toEqual([{}, ['sale.created']]);
    expect((await m.stats('r')).stats).toMatchObject({ signups: 0, purchases: 0 });
    const purchases = await shop.get<{ purchases: { order_id: string }[] }>('/purchases?held=true');
    expect(purchases.body.purchases).toMatchObject([{ order_id: 'o1', held: true, matched: true }]);
    const [signup] = await held(shop);
    expect(signup).toMatchObject({ external_user_id: 'n', status: 'held' });
    const approved = await decide(shop, signup?.id, 'approve');
    expect([approved.status, approved.body]).toEqual([200, { ...signup, status: 'matched' }]);
    expect(await credits(m, 'r')).toEqual({ credits: { earned: 12, delivered: 0 } });
    expect(await types(api, shop)).toEqual([
      'sale.created',
      'lead.created',
      'credit.earned',
      'credit.earned',
    ]);
    expect((await m.purchase('n', 'o1', 10)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
    expect((await m.stats('r')).stats).toMatchObject({ signups: 1, purchases: 1 });
    expect(await held(shop)).toEqual([]);
    expect((await decide(shop, signup?.id, 'approve')).status).toBe(409);
    expect((await decide(shop, signup?.id, 'reject')).status).toBe(409);
  });

  merchantTest('that rejects leaves the signup blocked, and sends lead.blocked', async ({ api, shop, m }) => {
    await m.program({ ...CREDITS, review: 'signups' });
    const { ref, partner_id } = await m.enroll('r');
    await m.signup('n', { ref_code: ref });
    await m.purchase('n', 'o1', 10);
    const [signup] = await held(shop);
    expect((await decide(shop, signup?.id, 'reject')).body).toMatchObject({
      status: 'matched',
      blocked: true,
      block_reason: 'rejected',
    });
    expect(await credits(m, 'r')).toEqual({});
    expect((await queuedEvents(api, shop)).at(-1)).toMatchObject({
      type: 'lead.blocked',
      data: { external_user_id: 'n', partner_id, block_reason: 'rejected' },
    });
    expect((await m.purchase('n', 'o1', 10)).body).toMatchObject({ rewarded: false, reason: 'rejected' });
    expect((await m.purchase('n', 'o2', 10)).body).toMatchObject({ rewarded: false, reason: 'rejected' });
    expect((await m.signup('n', { ref_code: ref })).body).toMatchObject({ block_reason: 'rejected' });
  });

  merchantTest('has one outcome when both decisions come at once', async ({ shop, m }) => {
    await m.program({ ...CREDITS, review: 'signups' });
    const { ref } = await m.enroll('r');
    await m.signup('n', { ref_code: ref });
    const [signup] = await held(shop);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => decide(shop, signup?.id, n % 2 === 0 ? 'approve' : 'reject')),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
  });

  merchantTest('does not hold what is blocked anyway', async ({ api, shop, m }) => {
    await m.program({ ...CREDITS, review: 'signups' });
    const { ref } = await m.enroll('r');
    expect((await m.signup('n', { ref_code: ref, email: 'r+1@mail.example' })).body).toMatchObject({
      blocked: true,
      block_reason: 'same_email',
    });
    expect(await held(shop)).toEqual([]);
    expect(await types(api, shop)).toEqual(['lead.blocked']);
  });

  merchantTest('of a referrer who was suspended meanwhile blocks it', async ({ shop, m }) => {
    await m.program({ ...CREDITS, review: 'signups' });
    const { ref, partner_id } = await m.enroll('r');
    await m.signup('n', { ref_code: ref });
    await shop.patch(`/enrollments/${partner_id}`, { status: 'suspended' });
    const [signup] = await held(shop);
    expect((await decide(shop, signup?.id, 'approve')).body.block_reason).toBe('suspended');
  });
});

merchantTest('a review of rewards matches at once and holds what is earned', async ({ api, shop, m }) => {
  await m.program({ commission_rate: 20, review: 'rewards' });
  const { ref } = await m.enroll('r');
  expect((await m.signup('n', { ref_code: ref })).body).toMatchObject({ matched: true, status: 'held' });
  expect(await types(api, shop)).toEqual(['lead.created']);
  expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({ rewarded: false, status: 'held' });
  expect((await m.stats('r')).stats.signups).toBe(1);
  const [signup] = await held(shop);
  expect((await decide(shop, signup?.id, 'approve')).body.status).toBe('matched');
  expect(await m.balance('r')).toMatchObject({ pending: 20 });
  expect((await m.purchase('n', 'o2', 100)).body).toMatchObject({ rewarded: true });
  // The match was reported before.
  expect((await types(api, shop)).filter((type) => type.startsWith('lead.'))).toEqual(['lead.created']);
});

merchantTest(
  'only a signup of the workspace that is under review is decided, with a secret key',
  async ({ shop, m }) => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    await m.signup('n', { ref_code: ref });
    const { signups } = (await shop.get<{ signups: Signup[] }>('/signups')).body;
    expect((await decide(shop, signups[0]?.id, 'approve')).status).toBe(409);
    expect((await decide(shop, crypto.randomUUID(), 'approve')).status).toBe(404);
    expect((await decide(shop, 'x', 'reject')).status).toBe(400);
    const options = { key: shop.publishableKey };
    expect((await shop.post(`/signups/${signups[0]?.id}/approve`, {}, options)).status).toBe(403);
  },
);
