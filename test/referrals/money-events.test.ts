import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../sql/database/pool.ts';
import { recordSales } from '../../sql/orders/recorded-sales.ts';
import { endHoldPeriods } from '../../workers/referrals/hold-periods.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { allQueuedEvents, type Event, type Merchant, merchant, PAID_AT_ONCE } from './support.ts';

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

const eventsOf = async (...types: string[]): Promise<Event[]> =>
  (await allQueuedEvents(api, shop)).filter(({ type }) => types.includes(type));
const moves = async () =>
  (await eventsOf('commission.updated')).map(({ data }) => [
    data.previous_status,
    data.status,
    data.remaining,
  ]);

describe('commission events', () => {
  test('follow a commission through hold, payout, a bounced payment and back', async () => {
    const { partner_id, programId } = await m.referral({ ...PAID_AT_ONCE, hold_days: 30 });
    await m.purchase('n', 'o1', 100);
    await endHoldPeriods({ pool: api.stores.pool, now: new Date(Date.now() + 31 * 86_400_000) });
    const { id } = await m.exportPayouts();
    await m.pay(id);
    await m.fail(id, partner_id);
    expect(await moves()).toEqual([
      ['pending', 'eligible', 20],
      ['eligible', 'paid', 20],
      ['paid', 'eligible', 20],
    ]);
    const [created, updated] = await eventsOf('commission.created', 'commission.updated');
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
  });

  test('tell of a refund: what is left, that nothing is left, and the negative commission of a paid one', async () => {
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 100);
    await m.refund('f1', 'o1', 25);
    await m.refund('f2', 'o1');
    expect(await moves()).toEqual([
      ['eligible', 'eligible', 15],
      ['eligible', 'reversed', 0],
    ]);
    await m.purchase('n', 'o2', 100);
    await m.pay((await m.exportPayouts()).id);
    await m.refund('f3', 'o2', 50);
    const created = await eventsOf('commission.created');
    expect(created.at(-1)?.data).toMatchObject({
      order_id: 'o2',
      amount: -10,
      remaining: -10,
      status: 'eligible',
    });
  });
});

describe('a credit', () => {
  const CREDITS = { credit_enabled: true, purchase_credit: 5, signup_credit: { free: 2 } };
  const statuses = async () =>
    (await m.credits('external_user_id=r')).grants.map((grant) => [grant.status, grant.revoked_reason]);

  test('of a purchase is revoked by a full refund while it is not delivered', async () => {
    await m.referral(CREDITS);
    await m.purchase('n', 'o1', 100);
    await m.refund('f1', 'o1', 40);
    expect(await statuses()).toEqual([
      ['earned', null],
      ['earned', null],
    ]);
    expect((await m.refund('f2', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 1 });
    expect(await statuses()).toEqual([
      ['revoked', 'refunded'],
      ['earned', null],
    ]);
    expect((await m.credits('external_user_id=r')).balance).toEqual({ credits: { earned: 2, delivered: 0 } });
    const [grant] = (await m.credits('external_user_id=r')).grants;
    expect(await eventsOf('credit.revoked')).toEqual([{ type: 'credit.revoked', data: grant }]);
    expect((await shop.post(`/credits/${grant?.id}/mark-delivered`)).status).toBe(409);
  });

  test('stays when it is delivered, and where the program says so', async () => {
    await m.referral(CREDITS);
    await m.purchase('n', 'o1', 100);
    const [delivered] = (await m.credits('external_user_id=r')).grants;
    await shop.post(`/credits/${delivered?.id}/mark-delivered`);
    await m.refund('f1', 'o1');
    expect((await statuses())[0]).toEqual(['delivered', null]);
    const { programs } = (await shop.get<{ programs: { id: string }[] }>('/programs')).body;
    await shop.patch(`/programs/${programs[0]?.id}`, { revoke_credits_on_refund: false });
    await shop.patch(`/programs/${programs[0]?.id}`, { first_sale_only: false });
    await m.purchase('n', 'o2', 100);
    await m.refund('f2', 'o2');
    expect((await statuses())[0]).toEqual(['earned', null]);
    expect(await eventsOf('credit.revoked')).toEqual([]);
  });

  test('is revoked by the merchant with a reason, once, and never after its delivery', async () => {
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
    expect(await statuses()).toEqual([['revoked', 'a mistake']]);
    await m.signup('n2', { referrer_external_user_id: 'r' });
    const [second] = (await m.credits('external_user_id=r')).grants;
    const [revoked, delivered] = await Promise.all([
      shop.post(`/credits/${second?.id}/revoke`, { reason: 'late' }),
      shop.post(`/credits/${second?.id}/mark-delivered`),
    ]);
    expect([revoked.status, delivered.status].toSorted()).toEqual([200, 409]);
    expect((await shop.post('/credits/999999999/revoke', { reason: 'none' })).status).toBe(404);
    expect((await shop.post(path, { reason: 'x' }, { key: shop.publishableKey })).status).toBe(403);
  });

  test('that is to be delivered is listed across users, in pages', async () => {
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
  const report = (source: 'pixel' | 'server', amountMinor: number, ts: number) => ({
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
  const record = (...reports: ReturnType<typeof report>[]) =>
    inTransaction(api.stores.pool, (tx) => recordSales(tx, reports));
  const sales = async () =>
    (await eventsOf('sale.created', 'sale.updated')).map(({ type, data }) => [
      type,
      data.source,
      data.amount,
    ]);

  test('that the pixel reported says so, and is updated when a server reports it', async () => {
    await record(report('pixel', 9_999_900, 1_000));
    expect((await m.purchase('n', 'X', 10)).status).toBe(200);
    expect(await sales()).toEqual([
      ['sale.created', 'pixel', 99_999],
      ['sale.updated', 'server', 10],
    ]);
    const [created, updated] = await eventsOf('sale.created', 'sale.updated');
    expect(Object.keys(updated?.data ?? {})).toEqual(Object.keys(created?.data ?? {}));
    await m.purchase('n', 'X', 10);
    expect(await sales()).toHaveLength(2);
  });

  test('is updated once also by a tracked order, whatever comes later', async () => {
    await record(report('pixel', 9_999_900, 1_000));
    await record(report('server', 1_000, 2_000));
    await record(report('pixel', 5_000, 3_000));
    await record(report('server', 2_000, 1_500));
    expect(await sales()).toEqual([
      ['sale.created', 'pixel', 99_999],
      ['sale.updated', 'server', 10],
    ]);
  });

  test('that a server reported first is never updated by the pixel', async () => {
    await record(report('pixel', 9_999_900, 1_000), report('server', 1_000, 2_000));
    await record(report('pixel', 5_000, 3_000));
    expect(await sales()).toEqual([['sale.created', 'server', 10]]);
  });

  test('in another currency shows it in recent_commissions', async () => {
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

test('an enrollment sends one event', async () => {
  const program = await m.program();
  const { partner_id } = await m.enroll('r');
  await m.enroll('r', { name: 'R' });
  await m.stats('r');
  expect(await eventsOf('enrollment.created')).toEqual([
    {
      type: 'enrollment.created',
      data: { partner_id, program_id: program.id, external_user_id: 'r', created_at: expect.any(String) },
    },
  ]);
});
