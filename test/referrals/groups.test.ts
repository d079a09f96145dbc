import { describe, expect } from 'vitest';
import type { GroupRecord } from '../../api/referrals/groups/schemas.ts';
import type { TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { PAID_AT_ONCE } from './support.ts';

type Made = GroupRecord & { error?: { details?: { path: string }[]; message: string } };
const add = (shop: TestWorkspace, program_id: string, terms: object = {}, name = 'Newsletters') =>
  shop.post<Made>('/partner-groups', { program_id, name, ...terms });
const join = (shop: TestWorkspace, partner: string, group_id: string | null) =>
  shop.patch<{ group_id: string | null }>(`/enrollments/${partner}`, { group_id });
const commissions = async (shop: TestWorkspace) => {
  type Listed = { commissions: { order_id: string | null; amount: number; status: string }[] };
  const listed = (await shop.get<Listed>('/commissions')).body.commissions;
  return listed.map(({ order_id, amount, status }) => [order_id, amount, status]).reverse();
};
const pathOf = ({ body }: { body: Made }) => body.error?.details?.[0]?.path;

describe('a partner group', () => {
  merchantTest('sets rate, hold period, and minimum payout of later sales alone', async ({ shop, m }) => {
    const { partner_id, programId } = await m.referral({ ...PAID_AT_ONCE, min_payout: 5 });
    const { body: group } = await add(shop, programId, {
      commission_rate: 50,
      hold_days: 30,
      min_payout: 100,
    });
    await m.purchase('n', 'before', 100);
    expect((await join(shop, partner_id, group.id)).body.group_id).toBe(group.id);
    await m.purchase('n', 'inside', 100);
    expect(await m.balance('r')).toEqual({ pending: 50, eligible: 20, paid: 0 });
    expect((await m.stats('r')).terms.commission).toMatchObject({ type: 'percent', rate: 50, hold_days: 30 });
    expect((await m.stats('r')).affiliate.min_payout).toBe(100);
    expect((await m.exportPayouts()).lines).toEqual([]);
    const eligible = await shop.get<{ balances: object[] }>('/payouts/eligible');
    expect(eligible.body.balances).toMatchObject([{ held_back: 'below_minimum', min_payout: 100 }]);

    await shop.patch(`/partner-groups/${group.id}`, { commission_rate: 10, hold_days: 0, min_payout: null });
    await m.purchase('n', 'changed', 100);
    expect((await m.exportPayouts()).lines).toMatchObject([{ amount: '30.00' }]);
    // Each refund reverses its order at the rate that the order earned.
    await m.refund('f1', 'before', 50);
    await m.refund('f2', 'inside', 50);
    await m.refund('f3', 'changed', 50);
    expect(await m.balance('r')).toEqual({ pending: 25, eligible: 15, paid: 0 });

    await shop.delete(`/partner-groups/${group.id}`);
    await m.purchase('n', 'after', 100);
    expect((await m.stats('r')).terms.commission).toMatchObject({ rate: 20, hold_days: 0 });
    expect(await m.balance('r')).toEqual({ pending: 25, eligible: 35, paid: 0 });
    const { history } = (
      await shop.get<{ history: { field: string; from: string | null; to: string | null }[] }>(
        `/enrollments/${partner_id}/history`,
      )
    ).body;
    expect(history.filter(({ field }) => field === 'group_id').map(({ from, to }) => [from, to])).toEqual([
      [group.id, null],
      [null, group.id],
    ]);
  });

  merchantTest("comes after a referrer's own rate, and counts in its program alone", async ({ shop, m }) => {
    const { partner_id, programId, ref } = await m.referral({ ...PAID_AT_ONCE, levels: [5] });
    const other = await m.program({ ...PAID_AT_ONCE, commission_rate: 1 });
    const { body: group } = await add(shop, programId, { commission_rate: 50 });
    await join(shop, partner_id, group.id);
    await shop.patch(`/enrollments/${partner_id}`, { commission_rate: 7 });
    await m.purchase('n', 'own', 100);
    await shop.patch(`/enrollments/${partner_id}`, { commission_rate: null });
    await m.purchase('n', 'group', 100);
    // Higher levels have the program's rates.
    const below = await m.enroll('n', { program_id: programId });
    await m.signup('nn', { ref_code: below.ref });
    await m.purchase('nn', 'level two', 100);
    const moved = await shop.patch<{ group_id: null }>(`/enrollments/${partner_id}`, {
      program_id: other.id,
    });
    expect(moved.body.group_id).toBeNull();
    await m.purchase('n', 'referee of the first program', 100);
    await m.signup('late', { ref_code: ref });
    await m.purchase('late', 'referee of the other', 100);
    expect((await commissions(shop)).filter(([, amount]) => amount !== 20)).toEqual([
      ['own', 7, 'eligible'],
      ['group', 50, 'eligible'],
      ['level two', 5, 'eligible'],
      ['referee of the other', 1, 'eligible'],
    ]);
    const back = await add(shop, other.id, { commission_rate: 90 });
    await join(shop, partner_id, back.body.id);
    await m.purchase('n', 'group of another program', 100);
    expect((await commissions(shop)).at(-1)).toEqual(['group of another program', 20, 'eligible']);
  });

  merchantTest('sets the hold period of imported commissions without a due date', async ({ shop, m }) => {
    const program = await m.program({ ...PAID_AT_ONCE, hold_days: 0 });
    const { partner_id } = await m.enroll('r');
    const { body: group } = await add(shop, program.id, { hold_days: 60 });
    await join(shop, partner_id, group.id);
    const text = 'commission_id,amount,partner_email,status\nc1,10,r@mail.example,pending\n';
    const files = [{ name: 'commissions.csv', text }];
    const imported = await shop.post('/referrals/import', { from: 'csv', program_id: program.id, files });
    expect([imported.status, imported.text]).toEqual([200, expect.any(String)]);
    expect(await m.balance('r')).toEqual({ pending: 10, eligible: 0, paid: 0 });
  });

  merchantTest('is listed, filters referrers, and has one name in a program', async ({ shop, m }) => {
    const { partner_id, programId } = await m.referral();
    const other = await m.program();
    const first = await add(shop, programId, { commission_type: 'flat', commission_rate: 2.5 });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      commission_type: 'flat',
      hold_days: null,
      min_payout: null,
      partners: 0,
    });
    const second = await add(shop, programId, {}, 'Big ones');
    const elsewhere = await add(shop, other.id, {}, 'newsletters');
    expect((await add(shop, programId, {}, 'NEWSLETTERS')).status).toBe(409);
    expect((await shop.patch(`/partner-groups/${second.body.id}`, { name: 'newsletters' })).status).toBe(409);
    await join(shop, partner_id, first.body.id);
    type Listed = { enrollments: { partner_id: string }[] };
    const of = async (id: string) => (await shop.get<Listed>(`/enrollments?group_id=${id}`)).body.enrollments;
    expect((await of(first.body.id)).map((one) => one.partner_id)).toEqual([partner_id]);
    expect(await of(second.body.id)).toEqual([]);
    type Page = { partner_groups: GroupRecord[]; next_cursor: string };
    const page = (await shop.get<Page>('/partner-groups?limit=2')).body;
    expect(page.partner_groups.map(({ id }) => id)).toEqual([elsewhere.body.id, second.body.id]);
    const rest = await shop.get(`/partner-groups?cursor=${page.next_cursor}`);
    expect(rest.body).toMatchObject({
      partner_groups: [{ id: first.body.id, partners: 1 }],
      next_cursor: null,
    });
    expect((await shop.get(`/partner-groups?program_id=${other.id}`)).body).toMatchObject({
      partner_groups: [{ id: elsewhere.body.id }],
    });
  });

  merchantTest('refuses terms that can not be, and says at which field', async ({ shop, m }) => {
    const { partner_id, programId } = await m.referral();
    const other = await m.program({ currency: 'jpy' });
    const foreign = await add(shop, other.id, { min_payout: 500 });
    for (const [terms, path] of [
      [{ commission_rate: 101 }, 'commission_rate'],
      [{ commission_rate: -1 }, 'commission_rate'],
      [{ commission_type: 'flat' }, 'commission_type'],
      [{ commission_type: 'flat', commission_rate: 0.001 }, 'commission_rate'],
      [{ hold_days: 1.5 }, 'hold_days'],
      [{ min_payout: 0.001 }, 'min_payout'],
      [{ name: 'a\u0000b' }, 'name'],
      [{ name: '\ud800' }, 'name'],
      [{ name: '   ' }, 'name'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ comission_rate: 3 }, 'comission_rate'],
    ] as const) {
      const response = await add(shop, programId, terms);
      expect([terms, response.status, pathOf(response)]).toEqual([terms, 400, path]);
    }
    const unknown = '019aabf4-3c00-7000-8000-000000000001';
    expect((await add(shop, unknown)).status).toBe(404);
    expect((await join(shop, partner_id, unknown)).status).toBe(404);
    const wrong = await join(shop, partner_id, foreign.body.id);
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('group_id')]);
    const changed = await shop.patch(`/programs/${other.id}`, { currency: 'usd' });
    expect([changed.status, changed.text]).toEqual([409, expect.stringContaining('minimum payouts')]);
  });

  merchantTest('is joined, changed, and deleted at the same time as orders arrive', async ({ shop, m }) => {
    const { partner_id, programId } = await m.referral({ ...PAID_AT_ONCE });
    const calls: Promise<{ status: number }>[] = [];
    for (let round = 0; round < 6; round += 1) {
      const { body } = await add(shop, programId, { commission_rate: 10 }, `Group ${round}`);
      calls.push(
        join(shop, partner_id, body.id),
        m.purchase('n', `o${round}`, 100),
        shop.patch(`/partner-groups/${body.id}`, { commission_rate: 30 }),
        join(shop, partner_id, null),
        shop.delete(`/partner-groups/${body.id}`),
        join(shop, partner_id, body.id),
      );
    }
    const statuses = new Set((await Promise.all(calls)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 404)).toEqual([]);
    const amounts = (await commissions(shop)).map(([, amount]) => amount);
    expect(amounts).toHaveLength(6);
    expect(amounts.filter((amount) => ![10, 20, 30].includes(Number(amount)))).toEqual([]);
  });
});
