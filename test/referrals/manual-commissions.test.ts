import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CommissionRecord } from '../../api/referrals/commissions/schemas.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { type Merchant, merchant, PAID_AT_ONCE } from './support.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
  m = merchant(shop);
});
afterAll(() => api.close());

const add = (amount: number, fields: object = {}) =>
  shop.post<CommissionRecord>('/commissions', { external_user_id: 'r', amount, note: 'thanks', ...fields });
const reject = (id: string) => shop.post<CommissionRecord>(`/commissions/${id}/reject`);
const listed = async (query = '') =>
  (await shop.get<{ commissions: CommissionRecord[] }>(`/commissions?${query}`)).body.commissions;
const idOf = async (orderId: string) =>
  (await listed()).find(({ kind, order_id }) => kind === 'sale' && order_id === orderId)?.id ?? '';

describe('POST /commissions', () => {
  test('takes at most what an order may have, either way', async () => {
    await m.referral(PAID_AT_ONCE);
    for (const amount of [2 ** 53 / 100, -(2 ** 53) / 100, 10_000_000_000.01, -10_000_000_000.01]) {
      const { status, body } = await shop.post('/commissions', {
        external_user_id: 'r',
        amount,
        note: 'edge',
      });
      expect([amount, status, body.error.details?.[0]?.path]).toEqual([amount, 400, 'amount']);
    }
    expect((await add(10_000_000_000)).status).toBe(201);
    expect((await add(-10_000_000_000)).status).toBe(201);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
  });

  test('adds a bonus that is eligible at once, and a claw-back that the next payout deducts', async () => {
    const { partner_id, programId } = await m.referral(PAID_AT_ONCE);
    const bonus = await add(15.5);
    expect([bonus.status, bonus.body]).toEqual([
      201,
      {
        id: expect.any(String),
        program_id: programId,
        partner_id,
        external_user_id: 'r',
        kind: 'manual',
        order_id: null,
        level: null,
        amount: 15.5,
        remaining: 15.5,
        currency: 'usd',
        status: 'eligible',
        note: 'thanks',
        created_at: expect.any(String),
      },
    ]);
    await add(-5, { note: 'fraud', program_id: programId.toUpperCase() });
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 10.5, paid: 0 });
    expect((await m.stats('r')).affiliate.recent_commissions).toMatchObject([
      { type: 'manual', amount: -5, currency: 'usd', earnings: -5 },
      { type: 'manual', amount: 15.5, earnings: 15.5 },
    ]);
    const file = await m.exportPayouts();
    expect(file.lines).toMatchObject([{ amount: '10.50', commissions: '2' }]);
    await m.pay(file.id);
    await add(-1);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: -1, paid: 10.5 });
    expect((await listed('status=paid')).map(({ amount }) => amount)).toEqual([-5, 15.5]);
    expect((await listed(`partner_id=${partner_id}&limit=1`)).map(({ amount }) => amount)).toEqual([-1]);
  });

  test('needs a user, an amount of the currency and a note, and answers a replay alike', async () => {
    const { programId } = await m.referral(PAID_AT_ONCE);
    const other = await m.program();
    for (const [status, fields] of [
      [404, { external_user_id: 'stranger' }],
      [404, { program_id: crypto.randomUUID() }],
      [400, { program_id: other.id }],
      [400, { amount: 0 }],
      [400, { amount: 0.001 }],
      [400, { amount: '1' }],
      [400, { note: '' }],
      [400, { note: undefined }],
      [400, { note: 'x'.repeat(501) }],
    ] as const) {
      expect([fields, (await add(1, fields)).status]).toEqual([fields, status]);
    }
    expect(await listed(`program_id=${programId}`)).toEqual([]);
    const headers = { headers: { 'idempotency-key': 'bonus-1' } };
    const body = { external_user_id: 'r', amount: 1, note: 'once' };
    const responses = [
      await shop.post('/commissions', body, headers),
      await shop.post('/commissions', body, headers),
    ];
    expect(responses[1]?.text).toBe(responses[0]?.text);
    expect(await listed()).toHaveLength(1);
    expect((await shop.post('/commissions', body, { key: shop.publishableKey })).status).toBe(403);
  });
});

describe('POST /commissions/:id/reject', () => {
  test('leaves nothing of a pending or eligible commission, once, and a refund takes nothing more', async () => {
    await m.referral({ ...PAID_AT_ONCE, hold_days: 30 });
    await m.purchase('n', 'o1', 100);
    await m.refund('f1', 'o1', 25);
    const id = await idOf('o1');
    const responses = await Promise.all(Array.from({ length: 10 }, () => reject(id)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses[0]?.body).toMatchObject({ status: 'rejected', amount: 20, remaining: 0 });
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    expect((await m.refund('f2', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 0 });
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
  });

  test('of one in an open file makes the file pay the rest', async () => {
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 100);
    await m.purchase('n', 'o2', 50);
    const file = await m.exportPayouts();
    await m.refund('f1', 'o1', 50); // a negative commission, because the file may have been paid
    await reject(await idOf('o1'));
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 10, paid: 0 });
    expect((await m.pay(file.id)).body).toEqual({ paid: 1, totals: { usd: 10 } });
    expect((await m.payout(file.id)).lines).toMatchObject([{ amount: 30, paid_amount: 10, status: 'paid' }]);
  });

  test('refuses what is paid, what a refund wrote, and what a payout has deducted from', async () => {
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 100);
    await m.purchase('n', 'o2', 100);
    const open = await m.exportPayouts();
    await m.refund('f1', 'o1', 50);
    const negative = (await listed()).find(({ kind }) => kind === 'refund')?.id ?? '';
    expect((await reject(negative)).status).toBe(409);
    await m.pay((await m.exportPayouts('?include_open=true')).id);
    expect((await reject(await idOf('o2'))).status).toBe(409);
    expect((await reject(crypto.randomUUID())).status).toBe(404);
    expect((await m.pay(open.id)).body.paid).toBe(0);
    expect((await add(7)).body.status).toBe('eligible');
  });
});
