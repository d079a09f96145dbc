import { describe, expect } from 'vitest';
import { inTransaction } from '../../sql/database/pool.ts';
import { recordSales } from '../../sql/orders/recorded-sales.ts';
import { endHoldPeriods } from '../../workers/referrals/hold-periods.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { allQueuedEvents, type Event, type Merchant, PAID_AT_ONCE } from './support.ts';

const eventsOf = async (api: TestApi, shop: TestWorkspace, ...types: string[]): Promise<Event[]> =>
  (await allQueuedEvents(api, shop)).filter(({ type }) => types.includes(type));
const moves = async (api: TestApi, shop: TestWorkspace) =>
  (await eventsOf(api, shop, 'commission.updated')).map(({ data }) => [
    data.previous_status,
    data.status,
    data.remaining,
  ]);

describe('commission events', () => {
  merchantTest(
    'follow a commission through hold, payout, a bounced payment and back',
    async ({ api, shop, m }) => {
      const { partner_id, programId } = await m.referral({ ...PAID_AT_ONCE, hold_days: 30 });
      await m.purchase('n', 'o1', 100);
      await endHoldPeriods({ pool: api.stores.pool, now: new Date(Date.now() + 31 * 86_400_000) });
      const { id } = await m.exportPayouts();
      await m.pay(id);
      await m.fail(id, partner_id);
      expect(await moves(api, shop)).toEqual([
        ['pending', 'eligible', 20],
        ['eligible', 'paid', 20],
        ['paid', 'eligible', 20],
      ]);
      const [created, updated] = await eventsOf(api, shop, 'commission.created', 'commission.updated');
      expect(updated?.data).toEqual({ ...created?.data, status: 'eligible', previous_status: 'pending' });
      expect(created?.data).toEqual({
        id: expect.any(String),
        program_id: programId,
        partner_id,
        order_id: 'o1',
        level: 1,
        amount: 20,
        remaining: 20,
        currency: 'usd',
        status: 'pending',
        created_at: expect.any(String),
      });
    },
  );

  merchantTest(
    'tell of a refund: what is left, that nothing is left, and the negative commission of a paid one',
    async ({ api, shop, m }) => {
      await m.referral(PAID_AT_ONCE);
      await m.purchase('n', 'o1', 100);
      await m.refund('f1', 'o1', 25);
      await m.refund('f2', 'o1');
      expect(await moves(api, shop)).toEqual([
        ['eligible', 'eligible', 15],
        ['eligible', 'reversed', 0],
      ]);
      await m.purchase('n', 'o2', 100);
      await m.pay((await m.exportPayouts()).id);
      await m.refund('f3', 'o2', 50);
      const created = await eventsOf(api, shop, 'commission.created');
      expect(created.at(-1)?.data).toMatchObject({
        order_id: 'o2',
        amount: -10,
        remaining: -10,
        status: 'eligible',
      });
    },
  );
});

describe('a credit', () => {
  const CREDITS = { credit_enabled: true, purchase_credit: 5, signup_credit: { free: 2 } };
  const statuses = async (m: Merchant) =>
    (await m.credits('external_user_id=r')).grants.map((grant) => [grant.status, grant.revoked_reason]);

  merchantTest(
    'of a purchase is revoked by a full refund while it is not delivered',
    async ({ api, shop, m }) => {
      await m.referral(CREDITS);
      await m.purchase('n', 'o1', 100);
      await m.refund('f1', 'o1', 40);
      expect(await statuses(m)).toEqual([
        ['earned', null],
        ['earned', null],
      ]);
      expect((await m.refund('f2', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 1 });
      expect(await statuses(m)).toEqual([
        ['revoked', 'refunded'],
        ['earned', null],
      ]);
      expect((await m.credits('external_user_id=r')).balance).toEqual({
        credits: { earned: 2, delivered: 0 },
      });
      const [grant] = (await m.credits('external_user_id=r')).grants;
      expect(await eventsOf(api, shop, 'credit.revoked')).toEqual([{ type: 'credit.revoked', data: grant }]);
      expect((await shop.post(`/credits/${grant?.id}/mark-delivered`)).status).toBe(409);
    },
  );

  merchantTest('stays when it is delivered, and where the program says so', async ({ api, shop, m }) => {
    await m.referral(CREDITS);
    await m.purchase('n', 'o1', 100);
    const [delivered] = (await m.credits('external_user_id=r')).grants;
    await shop.post(`/credits/${delivered?.id}/mark-delivered`);
    await m.refund('f1', 'o1');
    expect((await statuses(m))[0]).toEqual(['delivered', null]);
    const { programs } = (await shop.get<{ programs: { id: string }[] }>('/programs')).body;
    await shop.patch(`/programs/${programs[0]?.id}`, { revoke_credits_on_refund: false });
    await shop.patch(`/programs/${programs[0]?.id}`, { first_sale_only: false });
    await m.purchase('n', 'o2', 100);
    await m.refund('f2', 'o2');
    expect((await statuses(m))[0]).toEqual(['earned', null]);
    expect(await eventsOf(api, shop, 'credit.revoked')).toEqual([]);
  });

  merchantTest(
    'is revoked by the merchant with a reason, once, and never after its delivery',
    async ({ shop, m }) => {
      await m.referral(CREDITS);
      const [grant] = (await m.credits('external_user_id=r')).grants;
      const path = `/credits/${grant?.id}/revoke`;
      for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(501) }]) {
        expect((await shop.post(path, body)).status).toBe(400);
      }
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => shop.post(path, { reason: 'a mistake' })),
      );
      expect(responses.filter(({ text }) => text === '{"ok":true}')).toHaveLength(1);
      expect(responses.filter(({ text }) => text === '{"ok":true,"already":true}')).toHaveLength(9);
      expect(await statuses(m)).toEqual([['revoked', 'a mistake']]);
      await m.signup('n2', { referrer_external_user_id: 'r' });
      const [second] = (await m.credits('external_user_id=r')).grants;
      const [revoked, delivered] = await Promise.all([
        shop.post(`/credits/${second?.id}/revoke`, { reason: 'late' }),
        shop.post(`/credits/${second?.id}/mark-delivered`),
      ]);
      expect([revoked.status, delivered.status].toSorted()).toEqual([200, 409]);
      expect((await shop.post('/credits/999999999/revoke', { reason: 'none' })).status).toBe(404);
      expect((await shop.post(path, { reason: 'x' }, { key: shop.publishableKey })).status).toBe(403);
    },
  );

  merchantTest('that is to be delivered is listed across users, in pages', async ({ shop, m }) => {
    const { ref } = await m.referral({ ...CREDITS, referee_credit: 1 });
    for (let n = 0; n < 5; n++) await m.signup(`more-${n}`, { ref_code: ref });
    const seen: number[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await shop.get<{ grants: { id: number }[]; next_cursor: number | null }>(
        `/credits?status=earned&limit=5${cursor}`,
      );
      seen.push(...body.grants.map(({ id }) => id));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toHaveLength(12);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => b - a));
    expect((await shop.get('/credits')).status).toBe(400);
    expect((await shop.get('/credits?status=delivered')).status).toBe(400);
  });
});

describe('a sale', () => {
  const report = (shop: TestWorkspace, source: 'pixel' | 'server', amountMinor: number, ts: number) => ({
    workspaceId: shop.workspace.id,
    orderId: 'X',
    source,
    ts,
    streamOrdinal: 0,
    visitorId: null,
    email: null,
    externalUserId: 'n',
    amountMinor,
    currency: 'usd',
  });
  const record = (api: TestApi, ...reports: ReturnType<typeof report>[]) =>
    inTransaction(api.stores.pool, (tx) => recordSales(tx, reports));
  const sales = async (api: TestApi, shop: TestWorkspace) =>
    (await eventsOf(api, shop, 'sale.created', 'sale.updated')).map(({ type, data }) => [
      type,
      data.source,
      data.amount,
    ]);

  merchantTest(
    'that the pixel reported says so, and is updated when a server reports it',
    async ({ api, shop, m }) => {
      await record(api, report(shop, 'pixel', 9_999_900, 1_000));
      expect((await m.purchase('n', 'X', 10)).status).toBe(200);
      expect(await sales(api, shop)).toEqual([
        ['sale.created', 'pixel', 99_999],
        ['sale.updated', 'server', 10],
      ]);
      const [created, updated] = await eventsOf(api, shop, 'sale.created', 'sale.updated');
      expect(Object.keys(updated?.data ?? {})).toEqual(Object.keys(created?.data ?? {}));
      await m.purchase('n', 'X', 10);
      expect(await sales(api, shop)).toHaveLength(2);
    },
  );

  merchantTest('is updated once also by a tracked order, whatever comes later', async ({ api, shop }) => {
    await record(api, report(shop, 'pixel', 9_999_900, 1_000));
    await record(api, report(shop, 'server', 1_000, 2_000));
    await record(api, report(shop, 'pixel', 5_000, 3_000));
    await record(api, report(shop, 'server', 2_000, 1_500));
    expect(await sales(api, shop)).toEqual([
      ['sale.created', 'pixel', 99_999],
      ['sale.updated', 'server', 10],
    ]);
  });

  merchantTest('that a server reported first is never updated by the pixel', async ({ api, shop }) => {
    await record(api, report(shop, 'pixel', 9_999_900, 1_000), report(shop, 'server', 1_000, 2_000));
    await record(api, report(shop, 'pixel', 5_000, 3_000));
    expect(await sales(api, shop)).toEqual([['sale.created', 'server', 10]]);
  });

  merchantTest('in another currency shows it in recent_commissions', async ({ api, m }) => {
    await api.stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ('jpy', 'usd', 0.0067) ON CONFLICT DO NOTHING`,
    );
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 10_000, { currency: 'jpy' });
    expect((await m.stats('r')).affiliate.recent_commissions).toMatchObject([
      { type: 'sale', amount: 10_000, currency: 'jpy', earnings: 13.4 },
    ]);
  });
});

merchantTest('an enrollment sends one event', async ({ api, shop, m }) => {
  const program = await m.program();
  const { partner_id } = await m.enroll('r');
  await m.enroll('r', { name: 'R' });
  await m.stats('r');
  expect(await eventsOf(api, shop, 'enrollment.created')).toEqual([
    {
      type: 'enrollment.created',
      data: { partner_id, program_id: program.id, external_user_id: 'r', created_at: expect.any(String) },
    },
  ]);
});
