import { describe, expect } from 'vitest';
import { merchantTest } from '../../../test/referrals/fixtures.ts';
import { linkIdOf, storeClicks } from '../../../test/referrals/support.ts';
import type { TestWorkspace } from '../../../test/support/api.ts';
import { BYTE_ORDER_MARK } from '../../byte-order-mark.ts';
import { CSV_CHUNK } from '../../csv-rows.ts';
import type { EnrollmentHistory, EnrollmentRecord, EnrollmentWithTotals } from './schemas.ts';

type Page = {
  enrollments: EnrollmentWithTotals[];
  next_cursor: string | null;
  next_offset: number | null;
};

const list = async (shop: TestWorkspace, query = '') =>
  (await shop.get<Page>(`/enrollments?${query}`)).body.enrollments;
const users = (enrollments: EnrollmentWithTotals[]) => enrollments.map((one) => one.external_user_id);

describe('enrollments', () => {
  merchantTest('carry the link, figures and balances', async ({ api, shop, m }) => {
    const program = await m.program({
      commission_rate: 20,
      hold_days: 0,
      allow_affiliate_upgrade: true,
      payout_methods: ['wise'],
    });
    const made = await m.enroll('r', { name: 'Rosa' });
    const linkId = await linkIdOf(api, made.ref);
    const at = new Date(Date.now() - 60_000);
    await storeClicks(api, { workspaceId: shop.workspace.id, linkId, at, count: 3 });
    await storeClicks(api, { workspaceId: shop.workspace.id, linkId, at, count: 2, isBot: true });
    await m.signup('n', { ref_code: made.ref });
    await m.signup('r', { ref_code: made.ref }); // self-referral
    await m.purchase('n', 'o1', 49.95);
    await m.purchase('r', 'o2', 10); // of a blocked signup
    await m.mode('r', 'affiliate');
    await shop.post('/referrals/payout-method', {
      external_user_id: 'r',
      method: 'wise',
      email: 'rosa@bank.example',
    });
    const [enrollment] = await list(shop);
    expect(enrollment).toEqual({
      partner_id: made.partner_id,
      program_id: program.id,
      external_user_id: 'r',
      email: 'r@mail.example',
      name: 'Rosa',
      tier: 'free',
      status: 'approved',
      reward_mode: 'affiliate',
      payout_method: { method: 'wise', email: 'r***@bank.example' },
      payout_name: null,
      payout_held_until: null,
      commission_type: null,
      commission_rate: null,
      group_id: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      referral_link: made.referral_link,
      totals: {
        clicks: 3,
        signups: 1,
        blocked_signups: 1,
        purchases: 1,
        buyers: 1,
        revenue: { usd: 49.95 },
        epc: { usd: 3.33 },
        average_lifetime_value: { usd: 49.95 },
      },
      balances: { cash: { usd: { pending: 0, eligible: 9.99, paid: 0 } }, credits: {} },
    });
    expect((await shop.get(`/enrollments/${made.partner_id}`)).body).toEqual(enrollment);
    const { stats } = await m.stats('r');
    expect(stats).toMatchObject({ clicks: 3, signups: 1, purchases: 1 });
  });

  merchantTest('are sorted by each column, both ways, and paged by offset', async ({ api, shop, m }) => {
    await m.program({ commission_rate: 10, hold_days: 0, allow_affiliate_upgrade: true });
    const refs = { a: '', b: '', c: '' };
    for (const user of ['a', 'b', 'c'] as const) refs[user] = (await m.enroll(user)).ref;
    await m.mode('a', 'affiliate');
    await m.mode('b', 'affiliate');
    const at = new Date(Date.now() - 60_000);
    for (const [ref, count] of [
      [refs.a, 10],
      [refs.b, 2],
    ] as const) {
      const linkId = await linkIdOf(api, ref);
      await storeClicks(api, { workspaceId: shop.workspace.id, linkId, at, count });
    }
    // `a`: two buyers of 30 each; `b`: one buyer of 50, of which 10 are refunded.
    for (const [user, ref, amount] of [
      ['a1', refs.a, 30],
      ['a2', refs.a, 30],
      ['b1', refs.b, 50],
    ] as const) {
      await m.signup(user, { ref_code: ref });
      await m.purchase(user, `of-${user}`, amount);
    }
    await m.refund('back', 'of-b1', 10);
    const sorted = async (query: string) => users(await list(shop, query)).join('');
    expect({
      newest: await sorted(''),
      oldest: await sorted('order=asc'),
      name: await sorted('sort=name'),
      clicks: await sorted('sort=clicks'),
      signups: await sorted('sort=signups'),
      purchases: await sorted('sort=purchases&order=asc'),
      revenue: await sorted('sort=revenue'),
      owed: await sorted('sort=owed'),
      epc: await sorted('sort=epc'),
      ltv: await sorted('sort=average_lifetime_value'),
    }).toEqual({
      newest: 'cba',
      oldest: 'abc',
      name: 'abc',
      clicks: 'abc',
      signups: 'abc',
      purchases: 'cba',
      revenue: 'abc',
      owed: 'abc',
      epc: 'bac',
      ltv: 'bac',
    });
    const first = (await shop.get<Page>('/enrollments?sort=epc&limit=2')).body;
    expect([users(first.enrollments), first.next_cursor, first.next_offset]).toEqual([['b', 'a'], null, 2]);
    const rest = (await shop.get<Page>(`/enrollments?sort=epc&limit=2&offset=${first.next_offset}`)).body;
    expect([users(rest.enrollments), rest.next_offset]).toEqual([['c'], null]);
    for (const [query, path] of [
      ['sort=shoe_size', 'sort'],
      ['offset=1', 'offset'],
      [`sort=name&cursor=${crypto.randomUUID()}`, 'cursor'],
      ['bom=1', 'bom'],
    ]) {
      const { status, body } = await shop.get<object>(`/enrollments?${query}`);
      expect([query, status, JSON.stringify(body)]).toEqual([
        query,
        400,
        expect.stringContaining(`"${path}"`),
      ]);
    }
  });

  merchantTest('are a file of all rows, as commissions and signups are', async ({ shop, m }) => {
    await m.program({ commission_rate: 10, hold_days: 0 });
    const { ref } = await m.enroll('r', { name: '=Rosa, "R"' });
    for (let nth = 0; nth < CSV_CHUNK; nth += 1) await m.enroll(`more-${nth}`);
    await m.signup('n', { ref_code: ref, email: 'n@mail.example' });
    await m.purchase('n', 'o1', 50);
    const file = async (path: string) => {
      const { headers, body } = await shop.get<string>(`${path}?format=csv&bom=1&limit=1`);
      expect([headers['content-type'], body.startsWith(BYTE_ORDER_MARK)]).toEqual([
        'text/csv; charset=utf-8',
        true,
      ]);
      return body.slice(1).split('\r\n');
    };
    const referrers = await file('/enrollments');
    expect(referrers.length).toBe(1 + CSV_CHUNK + 1 + 1);
    expect(referrers.at(-2)).toMatch(
      /^[^,]+,"'=Rosa, ""R""",r@mail\.example,r,.*,0,1,0,1,1,usd,50,0,5,0,0,50,$/,
    );
    const [head, sale] = await file('/commissions');
    expect(head).toMatch(/^id,created_at,partner_id,referrer_name,referrer_email,/);
    expect(sale).toMatch(/,"'=Rosa, ""R""",r@mail\.example,r,.*,sale,o1,1,5,5,usd,eligible,,$/);
    expect((await file('/signups'))[1]).toMatch(/,n,n@mail\.example,matched,.*,r@mail\.example,r,50 usd$/);
    // A filter without rows leaves the heading.
    const none = await shop.get<string>('/signups?format=csv&search=of-no-one');
    expect(none.body.split('\r\n')).toEqual([expect.stringMatching(/^id,reported_at,/), '']);
  });

  merchantTest(
    'count the clicks of every link that the referrer had, and have none where all were deleted',
    async ({ api, shop, m }) => {
      await m.program();
      const made = await m.enroll('r');
      const linkId = await linkIdOf(api, made.ref);
      await storeClicks(api, { workspaceId: shop.workspace.id, linkId, at: new Date(Date.now() - 60_000) });
      await shop.delete(`/links/${linkId}`);
      expect((await list(shop))[0]).toMatchObject({ referral_link: null, totals: { clicks: 1 } });
      const again = await m.enroll('r');
      expect((await list(shop))[0]).toMatchObject({
        referral_link: again.referral_link,
        totals: { clicks: 1 },
      });
    },
  );

  merchantTest('are found by program, status, mode and part of id, email or name', async ({ shop, m }) => {
    const first = await m.program({ credit_enabled: true, allow_affiliate_upgrade: true });
    const second = await m.program({ credit_enabled: true });
    const a = await m.enroll('user-a', { program_id: first.id, name: 'Ünal 100%' });
    await m.enroll('user-b', { program_id: second.id, email: 'Bee@Hive.example' });
    await m.enroll('user-c', { program_id: first.id });
    await m.mode('user-a', 'affiliate');
    await shop.patch(`/enrollments/${a.partner_id}`, { status: 'suspended' });
    expect(users(await list(shop))).toEqual(['user-c', 'user-b', 'user-a']);
    expect(users(await list(shop, `program_id=${first.id}`))).toEqual(['user-c', 'user-a']);
    expect(users(await list(shop, 'status=suspended'))).toEqual(['user-a']);
    expect(users(await list(shop, 'reward_mode=referrer'))).toEqual(['user-c', 'user-b']);
    expect(users(await list(shop, 'search=hive'))).toEqual(['user-b']);
    expect(users(await list(shop, 'search=USER-'))).toEqual(['user-c', 'user-b', 'user-a']);
    expect(users(await list(shop, `search=${encodeURIComponent('0%')}`))).toEqual(['user-a']);
    expect(users(await list(shop, 'search=%25r'))).toEqual([]);
    expect(users(await list(shop, `search=user&program_id=${first.id}&status=approved`))).toEqual(['user-c']);
    expect(await list(shop, `program_id=${crypto.randomUUID()}`)).toEqual([]);
  });

  merchantTest('are walked, each once, newest first', async ({ shop, m }) => {
    await m.program();
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.push((await m.enroll(`r${n}`)).partner_id);
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await shop.get<Page>(`/enrollments?limit=3${cursor}`);
      seen.push(...body.enrollments.map((one) => one.partner_id));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(made.toReversed());
  });

  merchantTest(
    'that are suspended earn nothing and are paid nothing, until they are approved',
    async ({ shop, m }) => {
      await m.program({ commission_rate: 10, hold_days: 0 });
      const made = await m.enroll('r');
      await m.signup('n', { ref_code: made.ref });
      await m.purchase('n', 'o1', 100);
      const suspended = await shop.patch<EnrollmentRecord>(`/enrollments/${made.partner_id}`, {
        status: 'suspended',
      });
      expect([suspended.status, suspended.body.status]).toEqual([200, 'suspended']);
      expect(suspended.body).not.toHaveProperty('totals');
      expect((await m.purchase('n', 'o2', 100)).body).toMatchObject({ rewarded: false, reason: 'suspended' });
      expect((await shop.get<string>('/payouts/export')).text.trim().split('\r\n')).toHaveLength(1);
      const again = await shop.patch<EnrollmentRecord>(`/enrollments/${made.partner_id}`, {
        status: 'suspended',
      });
      expect(again.body).toEqual(suspended.body);
      await shop.patch(`/enrollments/${made.partner_id}`, { status: 'approved' });
      expect((await m.purchase('n', 'o3', 100)).body).toMatchObject({ rewarded: true });
      expect((await list(shop))[0]?.balances.cash.usd).toEqual({ pending: 0, eligible: 20, paid: 0 });
      const { body } = await shop.get<EnrollmentHistory>(`/enrollments/${made.partner_id}/history`);
      expect(body.history.map(({ field, to }) => [field, to])).toEqual([
        ['status', 'approved'],
        ['status', 'suspended'],
        ['status', 'approved'],
      ]);
    },
  );

  merchantTest('refuse invalid parameters and unauthorized callers', async ({ api, shop, m }) => {
    await m.program();
    const { partner_id } = await m.enroll('r');
    for (const query of ['limit=0', 'cursor=x', 'status=x', 'reward_mode=x', 'program_id=x', 'search=']) {
      expect([query, (await shop.get(`/enrollments?${query}`)).status]).toEqual([query, 400]);
    }
    for (const body of [{ status: 'deleted' }, { status: null }]) {
      const answer = await shop.patch(`/enrollments/${partner_id}`, body);
      expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'status']);
    }
    expect((await shop.patch(`/enrollments/${crypto.randomUUID()}`, { status: 'approved' })).status).toBe(
      404,
    );
    expect((await shop.get(`/enrollments/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await shop.get('/enrollments/r')).status).toBe(400);
    const options = { key: shop.publishableKey };
    expect((await shop.get('/enrollments', options)).status).toBe(403);
    expect((await shop.patch(`/enrollments/${partner_id}`, { status: 'suspended' }, options)).status).toBe(
      403,
    );
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.get('/enrollments')).status).toBe(402);
  });
});
