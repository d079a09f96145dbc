import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { type Merchant, merchant, PAID_AT_ONCE, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
});
test.afterEach(async ({ api, shop }) => {
  expect(await verifyLedger(api.stores.pool, [shop.workspace.id])).toMatchObject({ ok: true, wrong: [] });
});

/** Three referrers, each with a sale of 100, and a payout file of them. */
async function threeLines() {
  const program = await m.program(PAID_AT_ONCE);
  const partners: string[] = [];
  for (const user of ['a', 'b', 'c']) {
    const { partner_id, ref } = await m.enroll(user, { program_id: program.id });
    await m.address(partner_id, user);
    await m.signup(`n-${user}`, { ref_code: ref });
    await m.purchase(`n-${user}`, `o-${user}`, 100);
    partners.push(partner_id);
  }
  const [a = '', b = '', c = ''] = partners;
  return { programId: program.id, a, b, c, file: await m.exportPayouts() };
}

const paidOf = async (user: string) => (await m.balance(user)).paid;
const eventsOf = async (api: TestApi, shop: TestWorkspace, type: string) =>
  (await queuedEvents(api, shop)).flatMap((event) => (event.type === type ? [event.data] : []));

describe('a line of a payout', () => {
  test('is paid alone, and the file stays open for the others', async () => {
    const { a, b, c, file } = await threeLines();
    const one = await m.pay(file.id, { partner_ids: [b] });
    expect([one.status, one.body]).toEqual([200, { paid: 1, totals: { usd: 20 } }]);
    expect((await m.pay(file.id, { partner_ids: [b] })).body).toEqual(one.body);
    expect((await m.pay(file.id, { partner_ids: [b, b.toUpperCase()] })).body).toEqual(one.body);
    expect([await paidOf('a'), await paidOf('b'), await paidOf('c')]).toEqual([0, 20, 0]);
    const open = await m.payout(file.id);
    expect([open.id, open.export_id, open.status, open.paid_at]).toEqual([file.id, file.id, 'open', null]);
    expect(open.lines.map(({ partner_id, status }) => [partner_id, status])).toEqual([
      [a, 'open'],
      [b, 'paid'],
      [c, 'open'],
    ]);
    expect((await m.pay(file.id)).body).toEqual({ paid: 3, totals: { usd: 60 } });
    expect((await m.payout(file.id)).status).toBe('paid');
    expect((await m.pay(file.id, { partner_ids: [crypto.randomUUID()] })).status).toBe(404);
  });

  test('that bounces gives the amount back, and waits for a changed address or a retry', async ({
    api,
    shop,
  }) => {
    const { b, file, programId } = await threeLines();
    expect((await m.fail(file.id, b)).status).toBe(409); // not paid yet
    await m.pay(file.id);
    const failed = await m.fail(file.id, b.toUpperCase());
    expect([failed.status, failed.body]).toMatchObject([
      200,
      { partner_id: b, status: 'failed', amount: 20, paid_amount: 20, fail_reason: 'account closed' },
    ]);
    expect((await m.fail(file.id, b, 'again')).body).toEqual(failed.body);
    expect(await m.balance('b')).toEqual({ pending: 0, eligible: 20, paid: 0 });
    const { rows } = await api.stores.pool.query(
      `SELECT cause, account, amount::int AS amount FROM ledger_entries
       WHERE workspace_id = $1 AND external_user_id = 'b' ORDER BY id`,
      [shop.workspace.id],
    );
    expect(rows).toEqual([
      { cause: 'sale', account: 'cash_eligible', amount: 2_000 },
      { cause: 'payout', account: 'cash_eligible', amount: -2_000 },
      { cause: 'payout', account: 'cash_paid', amount: 2_000 },
      { cause: 'payout_failed', account: 'cash_eligible', amount: 2_000 },
      { cause: 'payout_failed', account: 'cash_paid', amount: -2_000 },
    ]);
    expect((await m.stats('b')).affiliate.payouts).toMatchObject([{ amount: 20, status: 'failed' }]);
    expect((await m.pay(file.id, { partner_ids: [b] })).status).toBe(409);
    const held = await m.exportPayouts(`?program_id=${programId}`);
    expect([held.lines, held.headers['x-held-back']]).toEqual([[], 'payout_failed=1']);
    await m.address(b, 'b'); // the same address
    expect((await m.exportPayouts(`?program_id=${programId}`)).lines).toEqual([]);
    const retried = await m.retry(file.id, b.toUpperCase());
    expect(retried.body).toEqual({ ...failed.body, retried_at: expect.any(String) });
    expect((await m.retry(file.id, b)).body).toEqual(retried.body);
    const next = await m.exportPayouts(`?program_id=${programId}`);
    expect(next.lines).toMatchObject([{ external_user_id: 'b', amount: '20.00' }]);
    expect((await m.retry(next.id, b)).status).toBe(409);
    expect((await m.pay(next.id)).body).toEqual({ paid: 1, totals: { usd: 20 } });
    expect(await m.balance('b')).toEqual({ pending: 0, eligible: 0, paid: 20 });
    expect(await eventsOf(api, shop, 'payout.failed')).toEqual([
      {
        id: file.id,
        program_id: null,
        status: 'paid',
        totals: { usd: 60 },
        created_at: expect.any(String),
        partner_id: b,
        amount: 20,
        currency: 'usd',
        reason: 'account closed',
      },
    ]);
  });

  test('that failed leaves a refund of its order nothing to deduct later', async () => {
    const { a, file } = await threeLines();
    await m.pay(file.id);
    await m.fail(file.id, a);
    await m.refund('f1', 'o-a', 25);
    expect(await m.balance('a')).toEqual({ pending: 0, eligible: 15, paid: 0 });
    expect((await m.exportPayouts()).lines).toEqual([]);
    await m.address(a, 'another');
    expect((await m.exportPayouts()).lines).toMatchObject([{ amount: '15.00', commissions: '1' }]);
  });

  test('pays nothing where a refund leaves no positive amount', async () => {
    const { a, file } = await threeLines();
    await m.refund('f1', 'o-a', 50); // the open file may have been paid: a negative commission
    const later = await m.exportPayouts('?include_open=true');
    await m.pay(file.id, { partner_ids: [a] });
    expect((await m.pay(later.id, { partner_ids: [a] })).body).toEqual({ paid: 0, totals: {} });
    expect(await m.balance('a')).toEqual({ pending: 0, eligible: -10, paid: 20 });
  });
});

describe('a payout file', () => {
  test('that is canceled pays nothing any more, and its commissions shrink with refunds again', async ({
    shop,
  }) => {
    const { file } = await threeLines();
    expect((await shop.delete(`/payouts/${file.id}`)).body).toEqual({ ok: true });
    expect((await shop.delete(`/payouts/${file.id}`)).status).toBe(200);
    expect((await m.payout(file.id)).status).toBe('canceled');
    expect((await m.pay(file.id)).status).toBe(409);
    await m.refund('f1', 'o-a', 50);
    expect(await m.balance('a')).toEqual({ pending: 0, eligible: 10, paid: 0 });
    const { body } = await shop.get<{ commissions: unknown[] }>('/commissions');
    expect(body.commissions).toHaveLength(3);
    const next = await m.exportPayouts();
    expect((await m.pay(next.id)).body).toEqual({ paid: 3, totals: { usd: 50 } });
    expect((await shop.delete(`/payouts/${next.id}`)).status).toBe(409);
    expect((await shop.delete(`/payouts/${crypto.randomUUID()}`)).status).toBe(404);
  });

  test('that was paid in part and then canceled is paid, and its lines tell the rest', async ({ shop }) => {
    const { a, file } = await threeLines();
    await m.pay(file.id, { partner_ids: [a] });
    await shop.delete(`/payouts/${file.id}`);
    expect(await m.payout(file.id)).toMatchObject({
      status: 'paid',
      paid_at: expect.any(String),
      canceled_at: expect.any(String),
      lines: [{ status: 'paid' }, { status: 'open' }, { status: 'open' }],
    });
    expect((await m.pay(file.id)).status).toBe(409);
    expect(await paidOf('b')).toBe(0);
  });

  test('contains sales before `until` alone, less every refund', async ({ shop }) => {
    const { programId } = await m.referral(PAID_AT_ONCE);
    const at = (purchased_at: string) => ({ purchased_at });
    const now = Date.now();
    const day = (n: number) => new Date(now - n * 86_400_000).toISOString().slice(0, 10);
    await m.purchase('n', 'o1', 100, at(`${day(2)}T23:59:59Z`));
    await m.purchase('n', 'o2', 50, at(`${day(1)}T00:00:00Z`));
    const amounts = async (query: string) =>
      (await m.exportPayouts(`?program_id=${programId}&include_open=true&${query}`)).lines.map(
        ({ amount }) => amount,
      );
    expect(await amounts(`until=${day(1)}`)).toEqual(['20.00']);
    expect(await amounts('')).toEqual(['30.00']);
    await m.refund('f1', 'o2', 50); // in an open file: negative
    expect(await amounts(`until=${day(1)}`)).toEqual(['10.00']);
    expect((await shop.get('/payouts/export?until=tomorrow')).status).toBe(400);
    expect((await shop.get('/payouts/export?method=cheque')).status).toBe(400);
  });

  test('holds the lines of one method, when asked', async ({ shop }) => {
    const { b } = await threeLines();
    await m.address(b, 'b', 'wise');
    expect((await m.exportPayouts('?method=wise&include_open=true')).lines).toMatchObject([
      { external_user_id: 'b' },
    ]);
    expect((await m.exportPayouts('?method=paypal&include_open=true')).lines).toHaveLength(2);
    expect((await shop.get('/payouts/export?method=wise&format=paypal')).status).toBe(400);
  });

  test('sends an event when it is created and for each call that pays', async ({ api, shop }) => {
    const { a, file } = await threeLines();
    await m.pay(file.id, { partner_ids: [a] });
    await m.pay(file.id, { partner_ids: [a] });
    await m.pay(file.id);
    const payout = { id: file.id, program_id: null, totals: { usd: 60 }, created_at: expect.any(String) };
    expect(await eventsOf(api, shop, 'payout.created')).toEqual([{ ...payout, status: 'open' }]);
    expect(await eventsOf(api, shop, 'payout.paid')).toEqual([
      { ...payout, status: 'open' },
      { ...payout, status: 'paid' },
    ]);
  });
});

describe('at the same time', () => {
  test('payments of two files that overlap pay each commission once', async () => {
    const { file } = await threeLines();
    const again = async () => (await m.exportPayouts('?include_open=true')).id;
    const files = [file.id, await again(), await again()];
    const responses = await Promise.all([...files, ...files, ...files].map((id) => m.pay(id)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect([await paidOf('a'), await paidOf('b'), await paidOf('c')]).toEqual([20, 20, 20]);
  });

  test('payments and cancels of one file end as one or the other', async ({ shop }) => {
    const { a, b, file } = await threeLines();
    await m.pay(file.id, { partner_ids: [a] });
    await Promise.all([
      ...Array.from({ length: 6 }, () => m.pay(file.id, { partner_ids: [b] })),
      ...Array.from({ length: 3 }, () => shop.delete(`/payouts/${file.id}`)),
    ]);
    const { lines, status } = await m.payout(file.id);
    expect(status).toBe('paid');
    const line = lines.find(({ partner_id }) => partner_id === b);
    expect(await paidOf('b')).toBe(line?.status === 'paid' ? 20 : 0);
    expect(await paidOf('c')).toBe(0);
  });

  test('failures of a line, payments of the next file, and exports give the amount back once', async ({
    api,
    shop,
  }) => {
    const { a, file } = await threeLines();
    await m.pay(file.id);
    await Promise.all([
      ...Array.from({ length: 5 }, () => m.fail(file.id, a)),
      ...Array.from({ length: 5 }, async () => {
        await m.retry(file.id, a);
        await m.pay((await m.exportPayouts('?include_open=true')).id);
      }),
      m.refund('f1', 'o-a', 50),
    ]);
    const { eligible, paid } = await m.balance('a');
    expect(eligible + paid).toBe(10);
    const entries = await api.stores.pool.query(
      `SELECT count(*)::int AS count FROM ledger_entries WHERE workspace_id = $1 AND cause = 'payout_failed'`,
      [shop.workspace.id],
    );
    expect(entries.rows).toEqual([{ count: 2 }]);
  });
});
