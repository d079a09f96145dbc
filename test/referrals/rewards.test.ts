import { describe, expect } from 'vitest';
import { setStatus } from '../../cli/commands/enrollment.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { roomInUtcDay } from '../support/utc-day.ts';
import { backdateSignups, countRows, type Merchant, merchant, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
});

const referral: Merchant['referral'] = (...given) => m.referral(...given);

const balance: Merchant['balance'] = (user) => m.balance(user);

const reason = async (order: string, amount = 10, fields: object = {}) =>
  (await m.purchase('n', order, amount, fields)).body.reason;

describe('what a purchase earns', () => {
  test('is rounded half to even at the minor unit, once, with the exponent of the currency', async ({
    api,
  }) => {
    const amounts = async (currency: string, rate: number, sale: number) => {
      const workspace = await api.addWorkspace({ currency });
      const other = merchant(workspace);
      await other.program({ commission_rate: rate });
      const { ref } = await other.enroll('r');
      await other.signup('n', { ref_code: ref });
      await other.purchase('n', 'o', sale, { currency });
      return (await other.stats('r')).rewards.cash;
    };
    expect(await amounts('usd', 2.5, 5)).toMatchObject({ pending: 0.12, currency: 'usd' }); // 12.5 cents
    expect(await amounts('usd', 2.5, 7)).toMatchObject({ pending: 0.18 }); // 17.5 cents
    expect(await amounts('jpy', 10, 125)).toMatchObject({ pending: 12, currency: 'jpy' });
    expect(await amounts('kwd', 10, 0.125)).toMatchObject({ pending: 0.012, currency: 'kwd' });
    expect(await amounts('usd', 33.3333, 99.99)).toMatchObject({ pending: 33.33 });
  });

  test('a flat commission is in major units whatever the sale', async () => {
    await referral({ commission_type: 'flat', commission_rate: 20, levels: [5] });
    await m.purchase('n', 'o1', 3);
    await m.purchase('n', 'o2', 300, { currency: 'jpy' });
    expect(await balance('r')).toMatchObject({ pending: 40 });
  });

  test("a percentage of a sale in another currency is converted by the operator's rate, and a missing rate is reported", async ({
    api,
  }) => {
    await referral({ commission_rate: 20 });
    expect(await reason('o1', 100, { currency: 'eur' })).toBe('no_currency_rate');
    await api.stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ('eur', 'usd', 1.0832), ('jpy', 'usd', 0.0067)`,
    );
    await m.purchase('n', 'o2', 100, { currency: 'eur' });
    await m.purchase('n', 'o3', 1000, { currency: 'jpy' });
    expect(await balance('r')).toMatchObject({ pending: 21.66 + 1.34 });
    expect((await m.purchase('n', 'o1', 100)).body.reason).toBe('no_currency_rate');
    await api.stores.pool.query('DELETE FROM currency_rates');
  });

  test('the largest sales add up beyond 2^53 in every response, and a single commission beyond it is not earned', async ({
    api,
    shop,
  }) => {
    await roomInUtcDay(); // `used` is of the month
    const { programId } = await referral({ commission_rate: 50, currency: 'vnd', hold_days: 0 });
    await api.stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate)
       VALUES ('usd', 'vnd', 1000000), ('eur', 'vnd', 10000000), ('vnd', 'usd', 0.000001)`,
    );
    const largest = 10_000_000_000;
    expect(await reason('o0', largest, { currency: 'eur' })).toBe('no_currency_rate');
    for (const order of ['o1', 'o2', 'o3']) await m.purchase('n', order, largest);
    expect(await balance('r')).toMatchObject({ eligible: 15e15 });
    const paths = [
      '/enrollments',
      '/payouts/eligible',
      `/payouts/export?program_id=${programId}`,
      '/payouts',
    ];
    for (const path of paths) expect([path, (await shop.get(path)).status]).toEqual([path, 200]);
    const { body } = await shop.get<{ plan: { limits: { commission: { used: number } } } }>('/me');
    expect(body.plan.limits.commission.used).toBe(15e9);
    await api.stores.pool.query('DELETE FROM currency_rates');
  });

  test('in a credit program is a credit for a referrer, commission for an affiliate', async () => {
    const { partner_id } = await referral({
      credit_enabled: true,
      purchase_credit: 15,
      commission_rate: 20,
      allow_affiliate_upgrade: true,
    });
    expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
    expect((await m.credits(`partner_id=${partner_id}`)).grants).toMatchObject([
      { amount: 15, status: 'earned', external_user_id: 'r', referee_external_user_id: 'n' },
    ]);
    expect(await balance('r')).toMatchObject({ pending: 0 });
    await m.mode('r', 'affiliate');
    await m.purchase('n', 'o2', 100);
    expect(await balance('r')).toMatchObject({ pending: 20 });
    expect((await m.credits('external_user_id=r')).balance).toEqual({
      credits: { earned: 15, delivered: 0 },
    });
    await m.mode('r', 'referrer');
    await m.purchase('n', 'o3', 100);
    expect((await m.credits('external_user_id=r')).balance).toEqual({
      credits: { earned: 30, delivered: 0 },
    });
    expect(await balance('r')).toMatchObject({ pending: 20 });
  });

  test('purchase_credit is for the first purchase, or for each when first_sale_only is false', async ({
    shop,
  }) => {
    const { programId } = await referral({
      credit_enabled: true,
      purchase_credit: 15,
      first_sale_only: true,
    });
    expect(await reason('o0', 10, { is_renewal: true })).toBe('renewal_not_covered');
    expect(await reason('o1')).toBeUndefined();
    expect(await reason('o2')).toBe('not_first_sale');
    await shop.patch(`/programs/${programId}`, { first_sale_only: false });
    expect(await reason('o3')).toBeUndefined();
    expect(await reason('o4', 10, { is_renewal: true })).toBeUndefined();
    expect((await m.credits('external_user_id=r')).balance).toEqual({
      credits: { earned: 45, delivered: 0 },
    });
  });

  test('a program without credits pays its commission in either mode', async () => {
    await referral({ commission_rate: 20, allow_affiliate_upgrade: true });
    await m.purchase('n', 'o1', 100);
    await m.mode('r', 'affiliate');
    await m.purchase('n', 'o2', 100);
    expect(await balance('r')).toMatchObject({ pending: 40 });
  });

  test('covers levels, up to the referrer of the referrer in the program', async ({ api, shop }) => {
    await m.program({ commission_rate: 20, levels: [10, 5] });
    const chain = ['a', 'b', 'c', 'd'];
    let ref = '';
    for (const user of chain) {
      if (ref) await m.signup(user, { ref_code: ref });
      ref = (await m.enroll(user)).ref;
    }
    await m.signup('buyer', { ref_code: ref });
    expect((await m.purchase('buyer', 'o1', 100)).body).toMatchObject({ rewarded: true, ledger_rows: 3 });
    expect(await Promise.all(chain.map(async (user) => (await balance(user)).pending))).toEqual([
      0, 5, 10, 20,
    ]);
    const levels = (await queuedEvents(api, shop))
      .filter((event) => event.type === 'commission.created')
      .map(({ data }) => [data.level, data.amount]);
    expect(levels).toEqual([
      [1, 20],
      [2, 10],
      [3, 5],
    ]);
  });

  test('a referrer of another program is not a second level', async () => {
    const first = await m.program({ commission_rate: 20, levels: [10] });
    const above = await m.enroll('above', { program_id: first.id });
    await m.signup('r', { ref_code: above.ref });
    const second = await m.program({ commission_rate: 20, levels: [10] });
    const { ref } = await m.enroll('r', { program_id: second.id });
    await m.signup('n', { ref_code: ref });
    expect((await m.purchase('n', 'o1', 100)).body.ledger_rows).toBe(1);
    expect(await balance('above')).toMatchObject({ pending: 0 });
  });

  test('two users who referred each other are not paid for their own purchases', async () => {
    await m.program({ commission_rate: 20, levels: [10, 5, 5] });
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    await m.signup('a', { ref_code: b.ref });
    await m.signup('b', { ref_code: a.ref });
    expect((await m.purchase('a', 'o1', 100)).body.ledger_rows).toBe(1);
    expect(await balance('a')).toMatchObject({ pending: 0 });
    expect(await balance('b')).toMatchObject({ pending: 20 });
  });

  test('the response says why when nothing was written', async ({ api, shop }) => {
    const { programId } = await referral({ commission_rate: 0 });
    expect(await reason('o1')).toBe('no_reward_configured');
    const set = (fields: object) => shop.patch(`/programs/${programId}`, fields);
    await set({ commission_rate: 20, status: 'paused' });
    expect(await reason('o2')).toBe('program_paused');
    await set({ status: 'active', first_sale_only: true });
    expect(await reason('o3', 10, { is_renewal: true })).toBe('renewal_not_covered');
    await set({ first_sale_only: false });
    expect(await reason('o5', 10, { email: 'R+x@mail.example' })).toBe('self_referral');
    expect(await reason('o6', 0)).toBe('amount_too_small');
    await setStatus(api.stores.pool, {
      workspace: shop.workspace.id,
      externalUserId: 'r',
      status: 'suspended',
    });
    expect(await reason('o7')).toBe('suspended');
    expect(await balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    expect(await countRows(api, shop, 'ledger_entries')).toBe(0);
    expect((await m.purchase('n', 'o7', 10)).body).toMatchObject({
      matched: true,
      rewarded: false,
      ledger_rows: 0,
    });
  });

  test('a buyer whose signup was blocked brings no reward', async () => {
    await referral({ commission_rate: 20, levels: [10] }, { email: 'r@mail.example' });
    expect(await reason('o1')).toBe('self_referral');
  });

  test('a plan without commission tracking pays credits and no commission', async ({ api }) => {
    const shop = await api.addWorkspace({ plan: 'starter' });
    m = merchant(shop);
    await referral({
      credit_enabled: true,
      purchase_credit: 5,
      commission_rate: 20,
      allow_affiliate_upgrade: true,
    });
    expect((await m.purchase('n', 'o1', 10)).body).toMatchObject({ rewarded: true, ledger_rows: 1 });
    await m.mode('r', 'affiliate');
    expect((await m.purchase('n', 'o2', 10)).body).toMatchObject({
      matched: true,
      rewarded: false,
      ledger_rows: 0,
      reason: 'plan_has_no_commission_tracking',
    });
  });

  test('commission months run from the first rewarded purchase', async ({ api, shop }) => {
    const { programId } = await referral({ commission_rate: 20, commission_months: 2, hold_days: 0 });
    await backdateSignups(api, shop, 1_000);
    await shop.patch(`/programs/${programId}`, { status: 'paused' });
    expect(await reason('o0', 10, { purchased_at: '2025-10-01' })).toBe('program_paused');
    await shop.patch(`/programs/${programId}`, { status: 'active' });
    const at = (purchased_at: string) => ({ purchased_at, is_renewal: true });
    expect(await reason('o1', 10, { purchased_at: '2025-12-31T12:00:00Z' })).toBeUndefined();
    expect(await reason('o2', 10, at('2026-02-28T11:59:59Z'))).toBeUndefined();
    expect(await reason('o3', 10, at('2026-02-28T12:00:00Z'))).toBe('renewal_not_covered');
    expect(await balance('r')).toMatchObject({ eligible: 4 });
  });

  test('hold_days are counted from the purchase; with 0 a commission is eligible at once', async ({
    api,
    shop,
  }) => {
    const { programId } = await referral({ commission_rate: 20, hold_days: 10 });
    await backdateSignups(api, shop, 20);
    const daysAgo = (days: number) => ({
      purchased_at: new Date(Date.now() - days * 86_400_000).toISOString(),
    });
    await m.purchase('n', 'o1', 10, daysAgo(9));
    await m.purchase('n', 'o2', 20, daysAgo(11));
    expect(await balance('r')).toEqual({ pending: 2, eligible: 4, paid: 0 });
    await shop.patch(`/programs/${programId}`, { hold_days: 0 });
    await m.purchase('n', 'o3', 30);
    expect(await balance('r')).toEqual({ pending: 2, eligible: 10, paid: 0 });
    expect((await m.stats('r')).rewards.cash).toEqual({ currency: 'usd', pending: 12, paid: 0, total: 12 });
  });

  test('is in recent_commissions, newest first, and in /me', async ({ shop }) => {
    await roomInUtcDay(); // `used` is of the month
    await referral({ commission_rate: 20, hold_days: 0 });
    await m.purchase('n', 'o1', 10);
    await m.purchase('n', 'o2', 30, { is_renewal: true });
    await m.refund('f1', 'o2', 15);
    const date = expect.any(String);
    expect((await m.stats('r')).affiliate.recent_commissions).toEqual([
      {
        date,
        type: 'renewal',
        amount: 30,
        currency: 'usd',
        earnings: 3,
        status: 'eligible',
        held_until: null,
      },
      { date, type: 'sale', amount: 10, currency: 'usd', earnings: 2, status: 'eligible', held_until: null },
    ]);
    type Me = { plan: { limits: { commission: { used: number } } }; features: string[] };
    const { body } = await shop.get<Me>('/me');
    expect(body.plan.limits.commission.used).toBe(5);
    expect(body.features).toContain('programs');
  });
});
