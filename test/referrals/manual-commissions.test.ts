import { describe, expect } from 'vitest';
import type { CommissionRecord } from '../../api/referrals/commissions/schemas.ts';
import type { TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { PAID_AT_ONCE } from './support.ts';

const add = (shop: TestWorkspace, amount: number, fields: object = {}) =>
  shop.post<CommissionRecord>('/commissions', { external_user_id: 'r', amount, note: 'thanks', ...fields });
const reject = (shop: TestWorkspace, id: string) => shop.post<CommissionRecord>(`/commissions/${id}/reject`);
const listed = async (shop: TestWorkspace, query = '') =>
  (await shop.get<{ commissions: CommissionRecord[] }>(`/commissions?${query}`)).body.commissions;
const idOf = async (shop: TestWorkspace, orderId: string) =>
  (await listed(shop)).find(({ kind, order_id }) => kind === 'sale' && order_id === orderId)?.id ?? '';

describe('POST /commissions', () => {
  merchantTest('takes at most what an order may have, either way', async ({ shop, m }) => {
    await m.referral(PAID_AT_ONCE);
    for (const amount of [2 ** 53 / 100, -(2 ** 53) / 100, 10_000_000_000.01, -10_000_000_000.01]) {
      const { status, body } = await shop.post('/commissions', {
        external_user_id: 'r',
        amount,
        note: 'edge',
      });
      expect([amount, status, body.error.details?.[0]?.path]).toEqual([amount, 400, 'amount']);
    }
    expect((await add(shop, 10_000_000_000)).status).toBe(201);
    expect((await add(shop, -10_000_000_000)).status).toBe(201);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
  });

  merchantTest(
    'adds a bonus that is eligible at once, and a claw-back that the next payout deducts',
    async ({ shop, m }) => {
      const { partner_id, programId } = await m.referral(PAID_AT_ONCE);
      const bonus = await add(shop, 15.5);
      expect([bonus.status, bonus.body]).toEqual([
        201,
        {
          id: expect.any(String),
          program_id: programId,
          partner_id,
          external_user_id: 'r',
          referrer_name: null,
          referrer_email: 'r@mail.example',
          kind: 'manual',
          order_id: null,
          level: null,
          amount: 15.5,
          remaining: 15.5,
          currency: 'usd',
          status: 'eligible',
          held_until: null,
          note: 'thanks',
          created_at: expect.any(String),
        },
      ]);
      await add(shop, -5, { note: 'fraud', program_id: programId.toUpperCase() });
      expect(await m.balance('r')).toEqual({ pending: 0, eligible: 10.5, paid: 0 });
      expect((await m.stats('r')).affiliate.recent_commissions).toMatchObject([
        { type: 'manual', amount: -5, currency: 'usd', earnings: -5 },
        { type: 'manual', amount: 15.5, earnings: 15.5 },
      ]);
      const file = await m.exportPayouts();
      expect(file.lines).toMatchObject([{ amount: '10.50', commissions: '2' }]);
      await m.pay(file.id);
      await add(shop, -1);
      expect(await m.balance('r')).toEqual({ pending: 0, eligible: -1, paid: 10.5 });
      expect((await listed(shop, 'status=paid')).map(({ amount }) => amount)).toEqual([-5, 15.5]);
      expect((await listed(shop, `partner_id=${partner_id}&limit=1`)).map(({ amount }) => amount)).toEqual([
        -1,
      ]);
    },
  );

  merchantTest(
    'needs a user, an amount of the currency and a note, and answers a replay alike',
    async ({ shop, m }) => {
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
        expect([fields, (await add(shop, 1, fields)).status]).toEqual([fields, status]);
      }
      expect(await listed(shop, `program_id=${programId}`)).toEqual([]);
      const headers = { headers: { 'idempotency-key': 'bonus-1' } };
      const body = { external_user_id: 'r', amount: 1, note: 'once' };
      const responses = [
        await shop.post('/commissions', body, headers),
        await shop.post('/commissions', body, headers),
      ];
      expect(responses[1]?.text).toBe(responses[0]?.text);
      expect(await listed(shop)).toHaveLength(1);
      expect((await shop.post('/commissions', body, { key: shop.publishableKey })).status).toBe(403);
    },
  );
});

describe('POST /commissions/:id/reject', () => {
  merchantTest(
    'leaves nothing of a pending or eligible commission, once, and a refund takes nothing more',
    async ({ shop, m }) => {
      await m.referral({ ...PAID_AT_ONCE, hold_days: 30 });
      await m.purchase('n', 'o1', 100);
      await m.refund('f1', 'o1', 25);
      const id = await idOf(shop, 'o1');
      const responses = await Promise.all(Array.from({ length: 10 }, () => reject(shop, id)));
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
      expect(responses[0]?.body).toMatchObject({ status: 'rejected', amount: 20, remaining: 0 });
      expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
      expect((await m.refund('f2', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 0 });
      expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    },
  );

  merchantTest('of one in an open file makes the file pay the rest', async ({ shop, m }) => {
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 100);
    await m.purchase('n', 'o2', 50);
    const file = await m.exportPayouts();
    await m.refund('f1', 'o1', 50); // a negative commission, because the file may have been paid
    await reject(shop, await idOf(shop, 'o1'));
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 10, paid: 0 });
    expect((await m.pay(file.id)).body).toEqual({ paid: 1, totals: { usd: 10 } });
    expect((await m.payout(file.id)).lines).toMatchObject([{ amount: 30, paid_amount: 10, status: 'paid' }]);
  });

  merchantTest(
    'refuses what is paid, what a refund wrote, and what a payout has deducted from',
    async ({ shop, m }) => {
      await m.referral(PAID_AT_ONCE);
      await m.purchase('n', 'o1', 100);
      await m.purchase('n', 'o2', 100);
      const open = await m.exportPayouts();
      await m.refund('f1', 'o1', 50);
      const negative = (await listed(shop)).find(({ kind }) => kind === 'refund')?.id ?? '';
      expect((await reject(shop, negative)).status).toBe(409);
      await m.pay((await m.exportPayouts('?include_open=true')).id);
      expect((await reject(shop, await idOf(shop, 'o2'))).status).toBe(409);
      expect((await reject(shop, crypto.randomUUID())).status).toBe(404);
      expect((await m.pay(open.id)).body.paid).toBe(0);
      expect((await add(shop, 7)).body.status).toBe('eligible');
    },
  );
});
