import { describe, expect } from 'vitest';
import type { CouponRecord } from '../../api/referrals/coupons/schemas.ts';
import { purchaseAnswer } from '../../api/referrals/report-purchase.ts';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { referrerOfCoupon } from '../../sql/referrals/coupons.ts';
import { type PurchaseReport, recordPurchase } from '../../sql/transactions/record-purchase.ts';
import { recordSignup } from '../../sql/transactions/record-signup.ts';
import type { ErrorBody, TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { type Merchant, merchant, PAID_AT_ONCE, queuedEvents } from './support.ts';

let m: Merchant;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
});
test.afterEach(async ({ api, shop }) => {
  expect((await verifyLedger(api.stores.pool, [shop.workspace.id])).wrong).toEqual([]);
});

const add = (shop: TestWorkspace, code: string, user = 'r', fields: object = {}) =>
  shop.post<CouponRecord>('/coupons', { code, external_user_id: user, ...fields });
const list = async (shop: TestWorkspace, query = '') =>
  (await shop.get<{ coupons: CouponRecord[]; next_cursor: string | null }>(`/coupons?${query}`)).body;

/** Records an order as a connector does. `named`: the buyer was named, not found by an email. */
async function order(
  api: TestApi,
  shop: TestWorkspace,
  orderId: string,
  codes: string[],
  fields: Partial<PurchaseReport> & { named?: boolean } = {},
) {
  const { named = true, ...report } = fields;
  const { pool } = api.stores;
  return inTransaction(pool, async (tx) => {
    const coupon = await referrerOfCoupon(tx, shop.workspace.id, codes);
    const now = new Date();
    const purchase = await recordPurchase(
      tx,
      shop.workspace,
      {
        orderId,
        externalUserId: null,
        email: null,
        amountMinor: 10_000,
        commissionableMinor: 10_000,
        currency: 'usd',
        isRenewal: false,
        purchasedAt: now,
        coupon: coupon && { coupon, yields: named },
        ...report,
      },
      now,
    );
    return { ...purchaseAnswer(purchase), partner: purchase.enrollment_id };
  });
}

/** Referrer `r` with the coupon `ANNA20`, in a program that pays 20 percent. */
async function withCoupon(shop: TestWorkspace, program: object = PAID_AT_ONCE) {
  const made = await m.program(program);
  const { partner_id, ref } = await m.enroll('r');
  const coupon = await add(shop, 'ANNA20');
  if (coupon.status !== 201) throw new Error(coupon.text);
  return { programId: made.id, partner: partner_id, ref, coupon: coupon.body };
}

describe('coupons over the API', () => {
  test('are created, listed by each filter and page, and deleted', async ({ shop }) => {
    const { programId, partner, coupon } = await withCoupon(shop);
    expect(coupon).toEqual({
      id: expect.any(String),
      code: 'ANNA20',
      program_id: programId,
      partner_id: partner,
      external_user_id: 'r',
      referrer_name: null,
      referrer_email: 'r@mail.example',
      promotion_code: null,
      created_at: expect.any(String),
    });
    await m.enroll('other');
    const second = (await add(shop, '  Spring Sale ', 'other', { program_id: programId })).body;
    expect(second.code).toBe('Spring Sale');
    expect((await list(shop)).coupons).toEqual([second, coupon]);
    for (const query of ['external_user_id=r', `partner_id=${partner}`, 'code=anna20']) {
      expect((await list(shop, query)).coupons).toEqual([coupon]);
    }
    const page = await list(shop, 'limit=1');
    expect((await list(shop, `limit=1&cursor=${page.next_cursor}`)).coupons).toEqual([coupon]);
    expect((await list(shop, `program_id=${crypto.randomUUID()}`)).coupons).toEqual([]);
    expect((await shop.delete(`/coupons/${coupon.id}`)).body).toEqual({ ok: true });
    expect((await shop.delete(`/coupons/${coupon.id}`)).status).toBe(404);
    expect((await list(shop)).coupons).toEqual([second]);
  });

  test('belong to one referrer, whatever their case, until they are deleted', async ({ shop }) => {
    const { coupon } = await withCoupon(shop);
    await m.enroll('other');
    const taken = (await add(shop, 'anna20', 'other')) as { status: number; body: object };
    expect([taken.status, (taken.body as ErrorBody).error.message]).toEqual([
      409,
      'a referrer of the workspace has the code anna20',
    ]);
    await shop.delete(`/coupons/${coupon.id}`);
    expect((await add(shop, 'anna20', 'other')).status).toBe(201);
  });

  test.for<[what: string, fields: { program_id?: string; [field: string]: unknown }, status: number]>([
    ['no enrolled user', { external_user_id: 'stranger' }, 404],
    ['a program that is not the referrer’s', { program_id: 'other' }, 400],
    ['no program', { program_id: '00000000-0000-4000-8000-000000000000' }, 404],
    ['a blank code', { code: '  ' }, 400],
    ['a code that can not be seen', { code: '\u00a0\u200b' }, 400],
    ['a code with a control character', { code: 'A\u0007B' }, 400],
    ['a code that is too long', { code: 'x'.repeat(201) }, 400],
  ])('refuse %s', async ([_, fields, status], { shop }) => {
    await withCoupon(shop);
    const other = await m.program();
    const { program_id: program, ...rest } = fields;
    const response = await add(shop, 'NEW', 'r', {
      ...rest,
      ...(program && { program_id: program === 'other' ? other.id : program }),
    });
    expect(response.status).toBe(status);
  });

  test('need a secret key and a paid plan, and leave audit entries', async ({ api, shop }) => {
    const { coupon } = await withCoupon(shop);
    expect((await shop.get('/coupons', { key: shop.publishableKey })).status).toBe(403);
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.get('/coupons')).status).toBe(402);
    await shop.delete(`/coupons/${coupon.id}`);
    const { rows } = await api.stores.pool.query(
      `SELECT action, target_id, details FROM audit_entries
       WHERE workspace_id = $1 AND action LIKE 'coupon.%' ORDER BY id`,
      [shop.workspace.id],
    );
    expect(rows).toMatchObject([
      { action: 'coupon.create', target_id: coupon.id, details: { code: 'ANNA20' } },
      { action: 'coupon.delete', target_id: coupon.id },
    ]);
  });
});

describe('an order with a coupon', () => {
  test('belongs to its owner without a click or a signup, known buyer or not', async ({ api, shop }) => {
    const { partner } = await withCoupon(shop);
    expect(await order(api, shop, 'o1', ['none', ' anna20 '])).toEqual({
      matched: true,
      rewarded: true,
      internal_order_id: expect.any(Number),
      ledger_rows: 1,
      partner,
    });
    expect((await order(api, shop, 'o2', ['ANNA20'], { externalUserId: 'n' })).rewarded).toBe(true);
    expect((await order(api, shop, 'o1', ['ANNA20'])).ledger_rows).toBe(1);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 40, paid: 0 });
    expect((await m.stats('r')).stats).toMatchObject({ signups: 0, purchases: 2 });
    expect((await queuedEvents(api, shop)).map(({ type }) => type)).toEqual([
      'sale.created',
      'commission.created',
      'sale.created',
      'commission.created',
    ]);
    const { purchases } = (await shop.get<{ purchases: object[] }>('/purchases')).body;
    expect(purchases).toMatchObject([
      { external_user_id: 'n', matched: true, partner_id: partner, coupon: 'ANNA20' },
      { external_user_id: null, matched: true, partner_id: partner, coupon: 'ANNA20' },
    ]);
  });

  test('earns the credit of a credit program, with the buyer where one is known', async ({ api, shop }) => {
    await withCoupon(shop, { credit_enabled: true, purchase_credit: 7, first_sale_only: false });
    await order(api, shop, 'o1', ['ANNA20'], { externalUserId: 'n' });
    await order(api, shop, 'o2', ['ANNA20']);
    const { grants, balance } = await m.credits('external_user_id=r');
    expect(grants.map((grant) => [grant.amount, grant.referee_external_user_id])).toEqual([
      [7, null],
      [7, 'n'],
    ]);
    expect(balance).toEqual({ credits: { earned: 14, delivered: 0 } });
  });

  test('yields to the referrer of a named buyer, and beats one who was found by an email', async ({
    api,
    shop,
  }) => {
    const { partner } = await withCoupon(shop);
    const other = await m.enroll('other');
    await m.signup('n', { ref_code: other.ref, email: 'n@mail.example' });
    const named = await order(api, shop, 'o1', ['ANNA20'], { externalUserId: 'n', named: true });
    expect(named.partner).toBe(other.partner_id);
    const found = await order(api, shop, 'o2', ['ANNA20'], { externalUserId: 'n', named: false });
    expect([found.partner, found.rewarded]).toEqual([partner, true]);
    // A named buyer has no referrer after a server said that there is none.
    await m.signup('alone', { ref_code: null });
    expect((await order(api, shop, 'o3', ['ANNA20'], { externalUserId: 'alone' })).partner).toBe(partner);
  });

  test('of a buyer whose signup waits for a click is the owner’s when no one referred the buyer', async ({
    api,
    shop,
  }) => {
    const { partner } = await withCoupon(shop);
    await inTransaction(api.stores.pool, (tx) =>
      recordSignup(
        tx,
        shop.workspace,
        {
          workspace_id: shop.workspace.id,
          external_user_id: 'n',
          email: null,
          device_id: null,
          visitor_id: crypto.randomUUID(),
          address_hash: null,
          by_server: true,
        },
        { unlessClicked: null },
        new Date(),
      ),
    );
    const waiting = await order(api, shop, 'o1', ['ANNA20'], { externalUserId: 'n' });
    expect(waiting).toMatchObject({ matched: false, partner: null });
    await m.signup('n', { ref_code: null });
    const { purchases } = (await shop.get<{ purchases: object[] }>('/purchases')).body;
    expect(purchases).toMatchObject([{ order_id: 'o1', partner_id: partner, rewarded: true }]);
  });

  test('becomes the owner’s when a server corrects the buyer’s referrer to no one', async ({ api, shop }) => {
    const { partner } = await withCoupon(shop);
    const other = await m.enroll('other');
    await m.signup('n', { ref_code: other.ref }, shop.publishableKey);
    await order(api, shop, 'o1', ['ANNA20'], { externalUserId: 'n' });
    await order(api, shop, 'o2', ['ANNA20'], { externalUserId: 'n' });
    expect(await m.balance('other')).toMatchObject({ eligible: 40 });
    await m.signup('n', { ref_code: null });
    const { purchases } = (await shop.get<{ purchases: object[] }>('/purchases')).body;
    expect(purchases).toMatchObject([
      { order_id: 'o2', partner_id: partner, rewarded: true },
      { order_id: 'o1', partner_id: partner, rewarded: true },
    ]);
    expect(await m.balance('other')).toMatchObject({ eligible: 0 });
    expect(await m.balance('r')).toMatchObject({ eligible: 40 });
  });

  test.for<[buyer: string, fields: Parameters<typeof order>[4], reason: string]>([
    ['the owner as buyer', { externalUserId: 'r', named: false }, 'self_referral'],
    ['the owner’s mailbox', { email: 'r+shop@mail.example' }, 'self_referral'],
    [
      'the mailbox of a referee',
      { externalUserId: 'again', email: 'ref.eree@gmail.com' },
      'duplicate_referee',
    ],
    ['the owner’s own referrer', { externalUserId: 'top' }, 'mutual_referral'],
  ])('earns nothing with %s', async ([_, fields, reason], { api, shop }) => {
    const { partner } = await withCoupon(shop);
    const top = await m.enroll('top');
    await m.signup('r', { ref_code: top.ref, email: 'r@mail.example' });
    await m.signup('referee', { ref_code: top.ref, email: 'referee@gmail.com' });
    expect(await order(api, shop, 'o1', ['ANNA20'], fields)).toMatchObject({
      matched: true,
      rewarded: false,
      ledger_rows: 0,
      reason,
      partner,
    });
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
  });

  test('counts as the buyer’s first sale, by user or by email', async ({ api, shop }) => {
    await withCoupon(shop, { ...PAID_AT_ONCE, first_sale_only: true });
    const email = 'buyer@mail.example';
    expect((await order(api, shop, 'o1', ['ANNA20'], { email })).rewarded).toBe(true);
    expect(await order(api, shop, 'o2', ['ANNA20'], { email })).toMatchObject({ reason: 'not_first_sale' });
    expect(await order(api, shop, 'o3', ['ANNA20'], { email, externalUserId: 'n' })).toMatchObject({
      reason: 'not_first_sale',
    });
    expect((await order(api, shop, 'o4', ['ANNA20'], { externalUserId: 'new' })).rewarded).toBe(true);
    const other = await m.enroll('other');
    await m.signup('new', { ref_code: other.ref });
    expect((await m.purchase('new', 'o5', 100)).body.reason).toBe('not_first_sale');
  });

  test('brings its renewals to the same referrer, also after the coupon is deleted', async ({
    api,
    shop,
  }) => {
    const { partner, coupon } = await withCoupon(shop);
    await order(api, shop, 'o1', ['ANNA20'], { externalUserId: 'n' });
    await shop.delete(`/coupons/${coupon.id}`);
    expect((await m.purchase('n', 'o2', 100, { is_renewal: true })).body).toMatchObject({ rewarded: true });
    expect((await m.purchase('n', 'o3', 100)).body).toMatchObject({ matched: false });
    expect((await order(api, shop, 'o4', ['ANNA20'], { externalUserId: 'late' })).partner).toBeNull();
    const { purchases } = (await shop.get<{ purchases: object[] }>(`/purchases?partner_id=${partner}`)).body;
    expect(purchases).toMatchObject([{ order_id: 'o2' }, { order_id: 'o1' }]);
  });

  test('is reversed by refunds, and evaluated again when a rate is missing', async ({ api, shop }) => {
    await withCoupon(shop);
    const first = await order(api, shop, 'o1', ['ANNA20'], { currency: 'chf' });
    expect(first).toMatchObject({ reason: 'no_currency_rate' });
    await m.refund('f0', 'o1', 50);
    await api.stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ('chf', 'usd', 1) ON CONFLICT DO NOTHING`,
    );
    const again = await shop.post<object>(`/purchases/${first.internal_order_id}/reevaluate`);
    expect(again.body).toMatchObject({ matched: true, rewarded: true });
    expect(await m.balance('r')).toMatchObject({ eligible: 10 });
    await m.refund('f1', 'o1');
    expect(await m.balance('r')).toMatchObject({ eligible: 0 });
  });

  test('of a suspended or erased referrer earns nothing', async ({ api, shop }) => {
    const { partner } = await withCoupon(shop);
    await shop.delete(`/enrollments/${partner}`);
    expect((await list(shop)).coupons).toEqual([]);
    expect((await order(api, shop, 'o1', ['ANNA20'], { externalUserId: 'n' })).partner).toBeNull();
  });
});
