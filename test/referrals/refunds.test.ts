import { describe, expect } from 'vitest';
import { insertEarlyRefund } from '../../sql/referrals/early-refunds.ts';
import { settleNextEarlyRefunds } from '../../workers/referrals/early-refunds.ts';
import { endHoldPeriods } from '../../workers/referrals/hold-periods.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { countRows, type Merchant, merchant, PAID_AT_ONCE, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
});

const exportPayouts: Merchant['exportPayouts'] = (query) => m.exportPayouts(query);
const pay: Merchant['pay'] = (id) => m.pay(id);

const balance: Merchant['balance'] = (user) => m.balance(user);

const referral = (program: object = {}) => m.referral({ ...PAID_AT_ONCE, ...program });

describe('a refund', () => {
  test('reverses pending and eligible commissions in proportion, at every level', async () => {
    const { ref: top } = await referral({ levels: [10] });
    expect(top).toBeTruthy();
    const { ref } = await m.enroll('n');
    await m.signup('buyer', { ref_code: ref });
    await m.purchase('buyer', 'o1', 100);
    expect(await balance('n')).toMatchObject({ eligible: 20 });
    const first = await m.refund('f1', 'o1', 25);
    expect(first.body).toEqual({ matched: true, internal_order_id: expect.any(Number), ledger_rows: 2 });
    expect(await balance('n')).toMatchObject({ eligible: 15 });
    expect(await balance('r')).toMatchObject({ eligible: 7.5 });
    expect((await m.refund('f1', 'o1', 25)).body).toEqual(first.body);
    expect(await balance('r')).toMatchObject({ eligible: 7.5 });
    await m.refund('f2', 'o1');
    expect(await balance('n')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    expect(await balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    const { recent_commissions } = (await m.stats('n')).affiliate;
    expect(recent_commissions).toMatchObject([{ type: 'sale', earnings: 0, status: 'reversed' }]);
    expect((await m.refund('f3', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 0 });
  });

  test.for([100.01, 1e300])(
    'of %d, more than the remainder, names the remainder',
    async (amount, { shop }) => {
      await referral();
      await m.purchase('n', 'o1', 100);
      const refund = { refund_id: 'f1', order_id: 'o1', amount };
      const { status, body } = await shop.post('/referrals/report-refund', refund);
      expect([status, body.error.message]).toEqual([
        400,
        '`amount` must be at most 100 usd, what is left of the order',
      ]);
    },
  );

  test('of a pending commission leaves the remainder pending until the hold period ends', async ({ api }) => {
    await referral({ hold_days: 30 });
    await m.purchase('n', 'o1', 100);
    await m.refund('f1', 'o1', 40);
    expect(await balance('r')).toEqual({ pending: 12, eligible: 0, paid: 0 });
    const later = new Date(Date.now() + 31 * 86_400_000);
    await endHoldPeriods({ pool: api.stores.pool, now: later });
    expect(await balance('r')).toEqual({ pending: 0, eligible: 12, paid: 0 });
  });

  test('in three thirds reverses every cent', async () => {
    await referral({ commission_rate: 33 });
    await m.purchase('n', 'o1', 1);
    for (const [n, amount] of [0.33, 0.33, 0.34].entries()) await m.refund(`f${n}`, 'o1', amount);
    expect(await balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
  });

  test('called fifty times at once with the same body writes once', async ({ api, shop }) => {
    await referral();
    await m.purchase('n', 'o1', 100);
    const responses = await Promise.all(Array.from({ length: 50 }, () => m.refund('f1', 'o1', 10)));
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(await countRows(api, shop, 'refunds')).toBe(1);
    expect(await balance('r')).toMatchObject({ eligible: 18 });
  });

  test('called for fifty different amounts at once never reverses more than the order', async () => {
    await referral();
    await m.purchase('n', 'o1', 10);
    const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => m.refund(`f${n}`, 'o1', 1)));
    expect(responses.filter((response) => response.status === 200)).toHaveLength(10);
    expect(responses.filter((response) => response.status === 400)).toHaveLength(40);
    expect(await balance('r')).toMatchObject({ eligible: 0 });
  });

  test('of an order without a referrer, or of an unknown order, returns matched: false', async ({
    api,
    shop,
  }) => {
    await referral();
    const { body } = await m.purchase('stranger', 'o1', 10);
    expect((await m.refund('f1', 'o1')).body).toEqual({
      matched: false,
      internal_order_id: body.internal_order_id,
      ledger_rows: 0,
    });
    const unknown = await m.refund('f2', 'nothing');
    expect([unknown.status, unknown.body]).toEqual([
      200,
      { matched: false, internal_order_id: null, ledger_rows: 0 },
    ]);
    expect(await countRows(api, shop, 'refunds')).toBe(1);
  });

  describe('that arrives before its order', () => {
    test('is applied when the order arrives, once, and its replay reports it', async ({ api, shop }) => {
      await referral();
      const key = { headers: { 'idempotency-key': 'k1' } };
      const early = { refund_id: 'f1', order_id: 'o1', amount: 25 };
      expect((await shop.post('/referrals/report-refund', early, key)).body).toMatchObject({
        matched: false,
      });
      await m.refund('f2', 'o1', 25);
      expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
      expect(await balance('r')).toMatchObject({ eligible: 10 });
      expect((await m.refund('f2', 'o1', 25)).body).toMatchObject({ matched: true, ledger_rows: 1 });
      expect((await shop.post('/referrals/report-refund', early, key)).status).toBe(200);
      expect((await m.refund('f3', 'o1')).body).toMatchObject({ matched: true, ledger_rows: 1 });
      expect(await balance('r')).toMatchObject({ eligible: 0 });
      expect(await countRows(api, shop, 'early_refunds')).toBe(0);
    });

    test('reverses no more than the order, and validates the amount by the currency', async ({
      api,
      shop,
    }) => {
      await referral({ currency: 'jpy' });
      await m.refund('f1', 'o1', 10.4);
      await m.refund('f2', 'o1', 1_000);
      await m.purchase('n', 'o1', 100, { currency: 'jpy' });
      expect(await balance('r')).toMatchObject({ eligible: 0 });
      const { rows } = await api.stores.pool.query(
        'SELECT amount_minor::int AS amount FROM refunds WHERE workspace_id = $1 ORDER BY refund_id',
        [shop.workspace.id],
      );
      expect(rows).toEqual([{ amount: 10 }, { amount: 90 }]);
      await m.purchase('stranger', 'o2', 100, { currency: 'jpy' });
    });

    test('is settled by the job when it arrived while the order was being qualified', async ({
      api,
      shop,
    }) => {
      const { pool } = api.stores;
      await referral();
      await m.purchase('n', 'o1', 100);
      await m.refund('f1', 'o1', 10);
      // The state after a report that looked for the order just before the order was committed.
      await insertEarlyRefund(pool, {
        ...{
          workspace_id: shop.workspace.id,
          refund_id: 'f2',
          order_id: 'o1',
          amount: 40,
          reported_at: new Date(),
        },
      });
      const settle = () => settleNextEarlyRefunds({ pool, now: new Date() });
      expect([await settle(), await settle()]).toEqual([true, false]);
      expect(await balance('r')).toMatchObject({ eligible: 10 });
      expect((await m.refund('f2', 'o1', 40)).body).toMatchObject({ matched: true, ledger_rows: 1 });
    });

    test('and at the same moment as its order, is never lost', async ({ api, shop }) => {
      const { pool } = api.stores;
      await referral();
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => [
          m.purchase('n', `o${n}`, 10),
          m.refund(`f${n}`, `o${n}`),
        ]).flat(),
      );
      while (await settleNextEarlyRefunds({ pool, now: new Date() }));
      expect(await balance('r')).toMatchObject({ eligible: 0, pending: 0 });
      expect(await countRows(api, shop, 'refunds')).toBe(20);
    });
  });

  test.for<[string, object]>([
    ['refund_id', { refund_id: undefined }],
    ['order_id', { order_id: '' }],
    ['amount', { amount: 0 }],
    ['amount', { amount: -1 }],
    ['amount', { amount: '5' }],
    ['amount', { amount: 10.01 }],
    ['amount', { amount: 0.001 }],
  ])('with a wrong %s returns 400: %j', async ([path, fields], { api, shop }) => {
    await referral();
    await m.purchase('n', 'o1', 10);
    const body = { refund_id: 'f', order_id: 'o1', ...fields };
    const response = await shop.post('/referrals/report-refund', body);
    expect([response.status, response.body.error.details?.[0]?.path]).toEqual([400, path]);
    expect(await countRows(api, shop, 'refunds')).toBe(0);
  });

  test('of a paid commission is a negative one that the next payout subtracts', async ({ api, shop }) => {
    await referral();
    await m.purchase('n', 'o1', 100);
    await pay((await exportPayouts()).id);
    expect(await balance('r')).toEqual({ pending: 0, eligible: 0, paid: 20 });
    expect((await m.refund('f1', 'o1', 50)).body).toMatchObject({ matched: true, ledger_rows: 1 });
    expect(await balance('r')).toEqual({ pending: 0, eligible: -10, paid: 20 });
    expect((await m.stats('r')).rewards.cash).toEqual({ currency: 'usd', pending: -10, paid: 20, total: 10 });
    expect((await m.stats('r')).affiliate.recent_commissions).toMatchObject([
      { type: 'refund', amount: -50, earnings: -10, status: 'eligible' },
      { type: 'sale', amount: 100, earnings: 20, status: 'paid' },
    ]);
    expect((await exportPayouts()).lines).toEqual([]);
    await m.purchase('n', 'o2', 200);
    const { id, lines } = await exportPayouts();
    expect(lines).toMatchObject([{ amount: '30.00', commissions: '2' }]);
    expect((await pay(id)).body).toEqual({ paid: 1, totals: { usd: 30 } });
    expect(await balance('r')).toEqual({ pending: 0, eligible: 0, paid: 50 });
    await m.refund('f2', 'o1', 50);
    expect(await balance('r')).toEqual({ pending: 0, eligible: -10, paid: 50 });
    expect((await queuedEvents(api, shop)).filter(({ type }) => type === 'commission.created')).toHaveLength(
      4,
    );
  });
});

describe('the hold period', () => {
  test('is ended by the job, once, however many processes run it', async ({ api, shop }) => {
    await referral({ hold_days: 30 });
    for (let n = 0; n < 12; n++) await m.purchase('n', `o${n}`, 10);
    const { pool } = api.stores;
    const on = (days: number) => ({ pool, now: new Date(Date.now() + days * 86_400_000) });
    await endHoldPeriods(on(29));
    expect(await balance('r')).toEqual({ pending: 24, eligible: 0, paid: 0 });
    await Promise.all([1, 2, 3, 4].map(() => endHoldPeriods(on(31))));
    expect(await balance('r')).toEqual({ pending: 0, eligible: 24, paid: 0 });
    expect(await countRows(api, shop, 'ledger_entries')).toBe(12 * 3);
  });

  test('does not release what was refunded meanwhile, in either order', async ({ api }) => {
    await referral({ hold_days: 30 });
    for (let n = 0; n < 20; n++) await m.purchase('n', `o${n}`, 10);
    const now = new Date(Date.now() + 31 * 86_400_000);
    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => m.refund(`f${n}`, `o${n}`, n % 2 ? 10 : 5)),
      endHoldPeriods({ pool: api.stores.pool, now }),
      endHoldPeriods({ pool: api.stores.pool, now }),
    ]);
    await endHoldPeriods({ pool: api.stores.pool, now });
    expect(await balance('r')).toEqual({ pending: 0, eligible: 10, paid: 0 });
  });
});
