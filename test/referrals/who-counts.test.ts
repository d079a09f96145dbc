import { describe, expect } from 'vitest';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { linkIdOf, type Merchant, merchant, queuedEvents, storeClicks } from './support.ts';

let m: Merchant;
let page: string;

test.beforeEach(async ({ api, shop }) => {
  await api.stores.pool.query('DELETE FROM ingest_streams');
  m = merchant(shop);
  page = shop.publishableKey;
});

const CREDITS = { credit_enabled: true, signup_credit: { free: 5, paid: 50 }, referee_credit: 3 };

const statusesOf = async (user: string) =>
  (await m.credits(`external_user_id=${user}`)).grants.map(({ amount, status }) => [amount, status]);
const payOut = async () => m.pay((await m.exportPayouts()).id);
const types = async (api: TestApi, shop: TestWorkspace) =>
  (await queuedEvents(api, shop)).map(({ type }) => type);

describe("a server's report of a signup", () => {
  test('binds also when it names no one: a page changes nothing, and a purchase earns nothing', async () => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    expect((await m.signup('organic-1')).body).toEqual({ matched: false });
    await m.purchase('organic-1', 'old1', 100);
    expect((await m.signup('organic-1', { ref_code: ref }, page)).body).toEqual({ matched: false });
    expect((await m.purchase('organic-1', 'new1', 100)).body).toMatchObject({
      matched: false,
      rewarded: false,
    });
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    // The server's next report counts.
    expect((await m.signup('organic-1', { ref_code: ref })).body).toMatchObject({ matched: true });
    expect((await m.signup('organic-1')).body).toMatchObject({ matched: true });
  });

  test('is answered with what is recorded when a page reports the same user', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const first = await m.signup('n', { ref_code: a.ref });
    expect((await m.signup('n', { ref_code: b.ref }, page)).body).toEqual(first.body);
    expect((await m.signup('n', { ref_code: b.ref })).body).toEqual(first.body);
  });

  test("corrects a page's: what is undelivered is revoked, the right rewards are written", async ({
    api,
    shop,
  }) => {
    await m.program({ ...CREDITS, purchase_credit: 20 });
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    expect((await m.signup('n', { ref_code: a.ref }, page)).body.partner_id).toBe(a.partner_id);
    await m.purchase('n', 'o1', 100);
    expect(await statusesOf('a')).toEqual([
      [20, 'earned'],
      [5, 'earned'],
    ]);
    expect((await m.signup('n', { ref_code: b.ref })).body.partner_id).toBe(b.partner_id);
    expect(await statusesOf('a')).toEqual([
      [20, 'revoked'],
      [5, 'revoked'],
    ]);
    expect(await statusesOf('b')).toEqual([
      [20, 'earned'],
      [5, 'earned'],
    ]);
    expect(await statusesOf('n')).toEqual([
      [3, 'earned'],
      [3, 'revoked'],
    ]);
    const { rows } = await api.stores.pool.query(
      'SELECT DISTINCT revoked_reason FROM grants WHERE workspace_id = $1 AND revoked_reason IS NOT NULL',
      [shop.workspace.id],
    );
    expect(rows).toEqual([{ revoked_reason: 'corrected' }]);
    expect((await m.stats('a')).rewards.credits.credits).toEqual({ earned: 0, delivered: 0, pending: 0 });
    expect((await types(api, shop)).filter((type) => type === 'credit.revoked')).toHaveLength(3);
    // The referrer was corrected once: a server's report stays.
    expect((await m.signup('n', { ref_code: a.ref })).body.partner_id).toBe(b.partner_id);
    expect((await m.signup('n', { ref_code: null })).body.partner_id).toBe(b.partner_id);
  });

  test("that names nobody in so many words takes a page's match back", async ({ api, shop }) => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    await m.signup('n', { ref_code: ref }, page);
    await m.purchase('n', 'o1', 100);
    expect(await m.balance('r')).toMatchObject({ pending: 20 });
    expect((await m.signup('n', { ref_code: null })).body).toEqual({ matched: false });
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 0, paid: 0 });
    const updated = (await queuedEvents(api, shop)).filter(({ type }) => type === 'commission.updated');
    expect(updated).toMatchObject([{ data: { status: 'reversed', previous_status: 'pending', amount: 20 } }]);
    expect((await m.signup('n', { ref_code: ref }, page)).body).toEqual({ matched: false });
  });

  test.each(['_vid', 'referrer_external_user_id'])('takes it back with %s as null, too', async (field) => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    await m.signup('n', { ref_code: ref }, page);
    expect((await m.signup('n', { [field]: null })).body).toEqual({ matched: false });
    expect((await statusesOf('r')).map(([, status]) => status)).toEqual(['revoked']);
  });

  test("that says nothing of a referrer leaves a page's match, and closes it to pages", async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const byPage = await m.signup('n', { ref_code: a.ref }, page);
    expect((await m.signup('n')).body).toEqual(byPage.body);
    expect((await m.signup('n', { ref_code: b.ref }, page)).body).toEqual(byPage.body);
    expect((await m.signup('n', { ref_code: b.ref })).body.partner_id).toBe(b.partner_id);
  });

  test('with the true mailbox finds a self-referral that the page hid', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    await m.signup('n', { ref_code: ref, email: 'other@mail.example' }, page);
    expect((await m.signup('n', { email: 'r+2@mail.example' })).body).toMatchObject({
      blocked: true,
      block_reason: 'same_email',
    });
    expect(await statusesOf('r')).toEqual([
      [5, 'revoked'],
      [5, 'revoked'],
    ]);
  });

  test('leaves what was paid, and deducts what is in a payout file from the next', async ({ api, shop }) => {
    await m.program({ commission_rate: 20, hold_days: 0 });
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    await m.address(a.partner_id, 'a');
    await m.signup('n', { ref_code: a.ref }, page);
    await m.signup('o', { ref_code: a.ref }, page);
    await m.purchase('n', 'paid', 100);
    await payOut();
    await m.purchase('o', 'exported', 50);
    await m.exportPayouts();
    await m.signup('n', { ref_code: b.ref });
    await m.signup('o', { ref_code: b.ref });
    expect(await m.balance('a')).toEqual({ pending: 0, eligible: 0, paid: 20 });
    expect(await m.balance('b')).toEqual({ pending: 0, eligible: 30, paid: 0 });
    expect(
      (await queuedEvents(api, shop)).filter(({ type }) => type === 'commission.created').at(-2),
    ).toMatchObject({
      data: { order_id: 'exported', amount: -10, status: 'eligible' },
    });
    // A refund concerns the user that has the commission.
    expect((await m.refund('f1', 'exported')).body).toMatchObject({ ledger_rows: 1 });
    expect(await m.balance('a')).toEqual({ pending: 0, eligible: 0, paid: 20 });
    expect(await m.balance('b')).toEqual({ pending: 0, eligible: 20, paid: 0 });
  });

  test('corrects a delivered credit for its successor only', async ({ shop }) => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    await m.signup('n', { ref_code: a.ref }, page);
    for (const { id } of (await m.credits(`partner_id=${a.partner_id}`)).grants) {
      await shop.post(`/credits/${id}/mark-delivered`);
    }
    await m.signup('n', { ref_code: b.ref });
    expect(await statusesOf('a')).toEqual([[5, 'delivered']]);
    expect(await statusesOf('b')).toEqual([[5, 'earned']]);
    // The new user already has the credit.
    expect(await statusesOf('n')).toEqual([[3, 'delivered']]);
  });

  test('whose click is not visible yet corrects once it is', async ({ api, shop }) => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    await m.signup('n', { ref_code: a.ref }, page);
    const visitor = crypto.randomUUID();
    await storeClicks(api, {
      workspaceId: shop.workspace.id,
      linkId: await linkIdOf(api, b.ref),
      visitorId: visitor,
      at: new Date(Date.now() - 1_000),
    });
    expect((await m.signup('n', { _vid: visitor })).body.partner_id).toBe(b.partner_id);
    expect(await statusesOf('a')).toEqual([[5, 'revoked']]);
  });

  test('fifty times at once beside a page that names another ends with its referrer, and its rewards once', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        n % 2 === 0 ? m.signup('n', { ref_code: a.ref }, page) : m.signup('n', { ref_code: b.ref }),
      ),
    );
    expect((await m.signup('n')).body.partner_id).toBe(b.partner_id);
    expect((await statusesOf('b')).filter(([, status]) => status === 'earned')).toEqual([[5, 'earned']]);
    expect((await statusesOf('a')).filter(([, status]) => status !== 'revoked')).toEqual([]);
    expect((await statusesOf('n')).filter(([, status]) => status === 'earned')).toEqual([[3, 'earned']]);
  });
});

describe("a page's report", () => {
  test('can not claim a user whose purchase a server reported more than an hour ago', async ({
    api,
    shop,
  }) => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    await m.purchase('old', 'o1', 100);
    await m.purchase('fresh', 'o2', 100);
    await api.stores.pool.query(
      `UPDATE orders SET reported_at = reported_at - 3700000000 WHERE workspace_id = $1 AND order_id = 'o1'`,
      [shop.workspace.id],
    );
    expect((await m.signup('old', { ref_code: ref }, page)).body).toEqual({ matched: false });
    expect((await m.signup('fresh', { ref_code: ref }, page)).body).toMatchObject({ matched: true });
    // A server may.
    expect((await m.signup('old', { ref_code: ref })).body).toMatchObject({ matched: true });
  });

  test('is a 403 for a program that takes signups from servers only', async ({ shop }) => {
    await m.program({ ...CREDITS, signups_from: 'server' });
    const { ref } = await m.enroll('r', { tier: 'paid' });
    const refused = await shop.post(
      '/referrals/report-signup',
      { new_user_external_user_id: 'n', ref_code: ref },
      { key: page },
    );
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect(await statusesOf('r')).toEqual([]);
    expect((await m.signup('n', { ref_code: ref })).body).toMatchObject({ matched: true });
    expect((await m.signup('n', { ref_code: ref }, page)).body).toMatchObject({ matched: true });
  });

  test('does not raise the tier of an enrolled referrer', async ({ shop }) => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    await m.enroll('r', { tier: 'paid' }, page);
    await shop.get('/referrals/stats?external_user_id=r&tier=paid', { key: page });
    await m.signup('n', { ref_code: ref });
    expect(await statusesOf('r')).toEqual([[5, 'earned']]);
  });
});
