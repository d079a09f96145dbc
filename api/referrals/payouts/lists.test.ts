import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { merchantTest } from '../../../test/referrals/fixtures.ts';
import type { Merchant } from '../../../test/referrals/support.ts';
import type { TestWorkspace } from '../../../test/support/api.ts';
import { signedInAs } from '../../../test/support/members.ts';

type File = { export_id: string; totals: Record<string, number>; referrers: number; paid_at: string | null };
type Files = { payouts: File[]; next_cursor: string | null };
type Line = { external_user_id: string; amount: number; currency: string };
type Lines = { lines: Line[]; next_cursor: string | null };
type Eligible = {
  referrers: number;
  totals: Record<string, number>;
  balances: (Line & { held_back: string | null })[];
  next_cursor: string | null;
};

async function exported(shop: TestWorkspace, query = '') {
  const answer = await shop.get<string>(`/payouts/export${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  const lines = parse(answer.text, { columns: true }) as Record<string, string>[];
  return { id: String(answer.headers['x-export-id']), lines };
}

const files = async (shop: TestWorkspace, query = '') =>
  (await shop.get<Files>(`/payouts?${query}`)).body.payouts;
const eligible = async (shop: TestWorkspace, query = '') =>
  (await shop.get<Eligible>(`/payouts/eligible?${query}`)).body;

/** A referrer of the program with a referee who bought for this amount. */
async function sale(m: Merchant, user: string, amount: number, program: { id: string; currency: string }) {
  const { ref, partner_id } = await m.enroll(user, { program_id: program.id });
  await m.address(partner_id, user);
  await m.signup(`n-${user}`, { ref_code: ref });
  await m.purchase(`n-${user}`, `o-${user}`, amount, { currency: program.currency });
  return partner_id;
}

describe('payout files', () => {
  merchantTest('are listed with what each pays, and when it was paid', async ({ shop, m }) => {
    const dollars = await m.program({ commission_rate: 10, hold_days: 0 });
    const yen = await m.program({ commission_rate: 10, hold_days: 0, currency: 'jpy' });
    await sale(m, 'a', 123.45, dollars);
    await sale(m, 'b', 0.1, dollars);
    await sale(m, 'c', 5_000, yen);
    const one = await exported(shop, `?program_id=${yen.id}`);
    const all = await exported(shop);
    const paid = await shop.post<{ paid: number; totals: object }>('/payouts', { export_id: all.id });
    expect(await files(shop)).toEqual([
      {
        id: all.id,
        export_id: all.id,
        program_id: null,
        format: 'csv',
        status: 'paid',
        referrers: paid.body.paid,
        totals: paid.body.totals,
        ledger_head: expect.stringMatching(/^[0-9a-f]{64}$/),
        created_at: expect.any(String),
        paid_at: expect.any(String),
        canceled_at: null,
      },
      {
        id: one.id,
        export_id: one.id,
        program_id: yen.id,
        format: 'csv',
        // The file of all programs has only one line, which is paid.
        status: 'paid',
        referrers: 1,
        totals: { jpy: 500 },
        ledger_head: expect.stringMatching(/^[0-9a-f]{64}$/),
        created_at: expect.any(String),
        paid_at: expect.any(String),
        canceled_at: null,
      },
    ]);
    expect(paid.body).toEqual({ paid: 3, totals: { usd: 12.35, jpy: 500 } });
    const open = await exported(shop);
    expect((await files(shop, 'paid=true')).map((file) => file.export_id)).toEqual([all.id, one.id]);
    expect((await files(shop, 'paid=false')).map((file) => file.export_id)).toEqual([open.id]);
    const { body } = await shop.get<Files>('/payouts?limit=1');
    expect(body.next_cursor).toBe(open.id);
    expect((await files(shop, `limit=1&cursor=${body.next_cursor}`)).map((file) => file.export_id)).toEqual([
      all.id,
    ]);
  });

  merchantTest('have lines that are those of the CSV, in its order', async ({ shop, m }) => {
    const program = await m.program({ commission_rate: 10, hold_days: 0 });
    for (const [user, amount] of [
      ['a', 10],
      ['b', 20],
      ['c', 33.3],
    ] as const) {
      await sale(m, user, amount, program);
    }
    const file = await exported(shop);
    const seen: Line[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await shop.get<Lines>(`/payouts/${file.id}/lines?limit=2${cursor}`);
      seen.push(...body.lines);
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen.map((line) => [line.external_user_id, line.amount.toFixed(2), line.currency])).toEqual(
      file.lines.map((line) => [line.external_user_id, line.amount, line.currency]),
    );
    expect(seen[0]).toEqual({
      partner_id: expect.any(String),
      external_user_id: 'a',
      name: null,
      method: 'paypal',
      payout_method: { method: 'paypal', email: 'a***@pay.example', paypal_email: 'a***@pay.example' },
      status: 'open',
      amount: 1,
      paid_amount: null,
      currency: 'usd',
      commissions: 1,
      fail_reason: null,
      paid_at: null,
      failed_at: null,
      retried_at: null,
    });
    expect((await shop.get(`/payouts/${crypto.randomUUID()}/lines`)).status).toBe(404);
  });

  merchantTest('without lines pay nothing', async ({ shop }) => {
    const { id } = await exported(shop);
    expect(await files(shop)).toMatchObject([{ export_id: id, referrers: 0, totals: {} }]);
    expect((await shop.get<Lines>(`/payouts/${id}/lines`)).body).toEqual({ lines: [], next_cursor: null });
  });
});

describe('eligible balances', () => {
  merchantTest('are what an export would pay now, and say why others wait', async ({ shop, m }) => {
    const program = await m.program({ commission_rate: 10, hold_days: 0, min_payout: 5 });
    await sale(m, 'paid-back', 100, program);
    await shop.post('/payouts', { export_id: (await exported(shop)).id });
    await m.refund('f', 'o-paid-back', 30);
    const suspended = await sale(m, 'suspended', 80, program);
    await shop.patch(`/enrollments/${suspended}`, { status: 'suspended' });
    await sale(m, 'little', 49.9, program);
    await sale(m, 'enough', 50, program);
    await sale(m, 'more', 123.45, program);
    const answer = await eligible(shop);
    expect(answer.balances.map((one) => [one.external_user_id, one.amount, one.held_back])).toEqual([
      ['more', 12.34, null],
      ['enough', 5, null],
      ['little', 4.99, 'below_minimum'],
      ['suspended', 8, 'suspended'],
      ['paid-back', -3, 'negative'],
    ]);
    expect(answer).toMatchObject({ referrers: 2, totals: { usd: 17.34 }, next_cursor: null });
    expect(answer.balances[0]).toMatchObject({
      program_id: program.id,
      min_payout: 5,
      payout_method: { method: 'paypal' },
      commissions: 1,
    });
    expect(await files(shop)).toHaveLength(1); // a preview creates none
    const { lines } = await exported(shop);
    expect(new Map(lines.map((line) => [line.external_user_id, line.amount]))).toEqual(
      new Map([
        ['enough', '5.00'],
        ['more', '12.34'],
      ]),
    );
  });

  merchantTest(
    'include rewards whose hold has ended before the job ran, and none that are held',
    async ({ api, shop, m }) => {
      const over = await m.program({ commission_rate: 10, hold_days: 1 });
      const held = await m.program({ commission_rate: 10, hold_days: 1 });
      await sale(m, 'over', 100, over);
      await sale(m, 'held', 100, held);
      await api.stores.admin.query(
        `ALTER TABLE commissions DISABLE TRIGGER commissions_moves;
       UPDATE commissions SET eligible_at = now() WHERE program_id = '${over.id}';
       ALTER TABLE commissions ENABLE TRIGGER commissions_moves`,
      );
      const before = await eligible(shop);
      expect(before).toMatchObject({
        referrers: 1,
        totals: { usd: 10 },
        balances: [{ external_user_id: 'over' }],
      });
      await exported(shop);
      // The balance now waits for the file.
      expect(await eligible(shop)).toMatchObject({
        referrers: 0,
        totals: {},
        balances: [{ external_user_id: 'over', amount: 10, in_open_files: 10, held_back: 'in_open_file' }],
      });
      // Files of PayPal have a format of their own, and those of Wise exclude balances of PayPal.
      expect(await eligible(shop, 'format=paypal')).toMatchObject({ referrers: 1, totals: { usd: 10 } });
      expect(await eligible(shop, 'format=wise')).toMatchObject({ referrers: 0, balances: [] });
    },
  );

  merchantTest('are of one program or all, in pages', async ({ shop, m }) => {
    const one = await m.program({ commission_rate: 10, hold_days: 0 });
    const two = await m.program({ commission_rate: 10, hold_days: 0 });
    await sale(m, 'a', 10, one);
    await sale(m, 'b', 20, two);
    await sale(m, 'c', 30, one);
    expect(await eligible(shop, `program_id=${one.id}`)).toMatchObject({
      totals: { usd: 4 },
      balances: [{ external_user_id: 'c' }, { external_user_id: 'a' }],
    });
    const first = await eligible(shop, 'limit=2');
    expect(first).toMatchObject({ referrers: 3, totals: { usd: 6 } });
    const rest = await eligible(shop, `limit=2&cursor=${first.next_cursor}`);
    expect([...first.balances, ...rest.balances].map((line) => line.external_user_id)).toEqual([
      'c',
      'b',
      'a',
    ]);
    expect(rest.next_cursor).toBeNull();
  });
});

merchantTest.for([
  ['/payouts', 'limit=0'],
  ['/payouts', 'cursor=x'],
  ['/payouts', 'paid=1'],
  ['/payouts/eligible', 'program_id=x'],
  ['/payouts/eligible', 'cursor=x'],
  [`/payouts/${crypto.randomUUID()}/lines`, 'cursor=x'],
  [`/payouts/${crypto.randomUUID()}/lines`, 'limit=501'],
] as const)('%s?%s is a 400 that names the field', async ([path, query], { shop }) => {
  const answer = await shop.get(`${path}?${query}`);
  expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, query.split('=')[0]]);
});

merchantTest('the lists of payouts need a secret key and a paid plan', async ({ api, shop }) => {
  const free = await api.addWorkspace({ plan: 'free' });
  for (const path of ['/payouts', '/payouts/eligible', `/payouts/${crypto.randomUUID()}/lines`]) {
    expect((await shop.get(path, { key: shop.publishableKey })).status).toBe(403);
    expect((await free.get(path)).status).toBe(402);
  }
});

merchantTest(
  'an analyst of the console sees what can be paid and what was, and can not export or pay',
  async ({ api, shop }) => {
    const analyst = await signedInAs(api, shop, 'analyst');
    const operator = await signedInAs(api, shop, 'operator');
    expect((await analyst.call('GET', '/payouts')).status).toBe(200);
    expect((await analyst.call('GET', '/payouts/eligible')).status).toBe(200);
    expect((await analyst.call('GET', '/payouts/export')).status).toBe(403);
    expect(await files(shop)).toEqual([]);
    const made = await operator.call('GET', '/payouts/export');
    expect(made.status).toBe(200);
    const body = { export_id: made.headers['x-export-id'] };
    expect((await analyst.call('POST', '/payouts', { body })).status).toBe(403);
    expect((await operator.call('POST', '/payouts', { body })).status).toBe(200);
  },
);
