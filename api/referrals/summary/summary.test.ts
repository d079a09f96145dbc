import { expect } from 'vitest';
import { merchantTest } from '../../../test/referrals/fixtures.ts';
import { PAID_AT_ONCE } from '../../../test/referrals/support.ts';
import type { TestApi, TestWorkspace } from '../../../test/support/api.ts';
import { storeClicks } from '../../../test/support/stored-events.ts';
import type { EligibleBalance } from '../payouts/schemas.ts';
import type { Summary } from './schemas.ts';

const DAY_MS = 86_400_000;

async function summary(shop: TestWorkspace, query = ''): Promise<Summary> {
  const answer = await shop.get<Summary>(`/referrals/summary?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

const linkOf = async (shop: TestWorkspace, ref: string) => {
  const { body } = await shop.get<{ links: { id: string }[] }>(`/links?view=records&slug=${ref}`);
  return body.links[0]?.id ?? '';
};

/** Stores clicks on a referrer's link, a bot's click, and a click on another link. */
async function click(
  api: TestApi,
  shop: TestWorkspace,
  ref: string,
  count: number,
  tsNanos?: bigint,
): Promise<void> {
  const linkId = await linkOf(shop, ref);
  const one = { workspaceId: shop.workspace.id, linkId, channel: 'referral', ...(tsNanos && { tsNanos }) };
  await storeClicks(api.stores, [
    ...Array.from({ length: count }, (_, n) => ({
      ...one,
      ...(tsNanos && { tsNanos: tsNanos + BigInt(n) * 1_000n }),
    })),
    ...(tsNanos
      ? []
      : [
          { ...one, isBot: true },
          { workspaceId: shop.workspace.id, channel: 'email' },
        ]),
  ]);
}

/** Sets the time of a purchase and its signup back. */
async function setBack(
  api: TestApi,
  shop: TestWorkspace,
  orderId: string,
  user: string,
  days: number,
): Promise<void> {
  const { pool } = api.stores;
  const at = new Date(Date.now() - days * DAY_MS);
  await pool.query(
    'UPDATE purchases SET purchased_at = $3 WHERE workspace_id = $1 AND order_internal_id = (SELECT internal_id FROM orders WHERE workspace_id = $1 AND order_id = $2)',
    [shop.workspace.id, orderId, at],
  );
  await pool.query('UPDATE signups SET reported_at = $3 WHERE workspace_id = $1 AND external_user_id = $2', [
    shop.workspace.id,
    user,
    at,
  ]);
}

merchantTest('the totals are the sums of the stats, purchases, and ledger', async ({ api, shop, m }) => {
  const program = await m.program({ ...PAID_AT_ONCE, hold_days: 3, review: 'none' });
  const [ada, bob, cy] = [await m.enroll('ada'), await m.enroll('bob'), await m.enroll('cy')];
  await click(api, shop, ada.ref, 3);
  await click(api, shop, bob.ref, 4);
  for (const [user, ref] of [
    ['a1', ada.ref],
    ['a2', ada.ref],
    ['b1', bob.ref],
    ['c1', cy.ref],
  ] as const) {
    await m.signup(user, { ref_code: ref });
  }
  // Blocked, because it is the referrer's own account.
  await m.signup('ada', { ref_code: ada.ref });
  await m.purchase('a1', 'o1', 20.5, { currency: 'usd' });
  await m.purchase('a1', 'o2', 10, { currency: 'usd' });
  await m.purchase('a2', 'o3', 1, { currency: 'usd' });
  await m.purchase('b1', 'o4', 500, { currency: 'jpy' });
  await m.purchase('nobody', 'o5', 77, { currency: 'usd' });
  await m.refund('r1', 'o1', 0.5);
  // A purchase in the previous period.
  await m.purchase('c1', 'o6', 40, { currency: 'usd' });
  await setBack(api, shop, 'o6', 'c1', 31);
  await click(api, shop, cy.ref, 2, BigInt(Date.now() - 31 * DAY_MS) * 1_000_000n);

  const { window: windowBefore } = await m.stats('ada');
  const shown = await summary(shop);
  expect(shown.totals).toEqual({
    clicks: 7,
    signups: 3,
    buyers: 3,
    purchases: 4,
    revenue: { usd: 31, jpy: 500 },
  });
  expect(shown.compared_totals).toEqual({
    clicks: 2,
    signups: 1,
    buyers: 1,
    purchases: 1,
    revenue: { usd: 40 },
  });
  const stats = await Promise.all(['ada', 'bob', 'cy'].map((user) => m.stats(user)));
  const sumOf = (pick: (one: (typeof stats)[number]['stats']) => number) =>
    stats.reduce((total, one) => total + pick(one.stats), 0);
  expect(shown.totals).toMatchObject({
    clicks: sumOf(({ clicks }) => clicks),
    signups: sumOf(({ signups }) => signups),
    purchases: sumOf(({ purchases }) => purchases),
  });
  expect(shown.window.days).toBe(30);
  // A day may end during the test.
  expect([windowBefore.from, stats[0]?.window.from]).toContain(shown.window.from);
  type Balance = { status: string; currency: string; amount: number };
  const { balances } = (await shop.get<{ balances: Balance[] }>('/ledger/balances')).body;
  const inLedger = (status: string) =>
    Object.fromEntries(
      balances.flatMap((one) =>
        one.status === status && one.amount !== 0 ? [[one.currency, one.amount]] : [],
      ),
    );
  expect(shown.owed).toEqual({ pending: inLedger('pending'), eligible: inLedger('eligible'), credits: {} });
  expect(Object.keys(shown.owed.pending).length).toBeGreaterThan(0);
  expect(
    shown.top_referrers.map((one) => [one.external_user_id, one.clicks, one.buyers, one.revenue]),
  ).toEqual([
    ['ada', 3, 2, { usd: 31 }],
    // Yen have no rate here, so they rank as zero but are shown.
    ['bob', 4, 1, { jpy: 500 }],
  ]);
  const [first] = shown.top_referrers;
  expect(first?.owed).toEqual({ usd: (await m.balance('ada')).pending });
  expect(shown.decisions).toMatchObject({ held_signups: 0, unmatched_purchases: 1, failed_payouts: 0 });
  // A longer window has both.
  expect((await summary(shop, 'days=60')).totals).toMatchObject({
    clicks: 9,
    signups: 4,
    buyers: 4,
    purchases: 5,
  });
  expect((await summary(shop, `program_id=${program.id}`)).totals).toEqual(shown.totals);
  const other = await m.program({ name: 'Other' });
  expect(await summary(shop, `program_id=${other.id}`)).toMatchObject({
    totals: { clicks: 0, signups: 0, buyers: 0, purchases: 0, revenue: {} },
    owed: { pending: {}, eligible: {}, credits: {} },
    top_referrers: [],
    decisions: { unmatched_purchases: 0 },
  });
});

merchantTest('credits that were not delivered are owed by kind', async ({ shop, m }) => {
  await m.program({ credit_enabled: true, credit_kind: 'months', signup_credit: { free: 1.5, paid: 2 } });
  const { ref } = await m.enroll('r');
  await m.signup('n1', { ref_code: ref });
  await m.signup('n2', { ref_code: ref });
  expect((await summary(shop)).owed).toEqual({ pending: {}, eligible: {}, credits: { months: 3 } });
});

merchantTest('what waits for a decision is counted as its lists count it', async ({ shop, m }) => {
  const program = await m.program({ ...PAID_AT_ONCE, review: 'signups' });
  const held = await m.enroll('held');
  await m.signup('h1', { ref_code: held.ref });
  await shop.patch(`/programs/${program.id}`, { review: 'none' });
  for (const user of ['failed', 'bare']) {
    const { ref } = await m.enroll(user);
    await m.mode(user, 'affiliate');
    await m.signup(`${user}-friend`, { ref_code: ref });
    await m.purchase(`${user}-friend`, `${user}-order`, 500);
  }
  const failed = await m.enroll('failed');
  await m.address(failed.partner_id, 'failed');
  const file = await m.exportPayouts();
  await m.pay(file.id);
  expect((await m.fail(file.id, failed.partner_id)).status).toBe(200);
  await m.purchase('stranger', 'alone', 5);
  await m.purchase('bare-friend', 'krona', 5, { currency: 'sek' });
  const { decisions } = await summary(shop);
  const { balances } = (await shop.get<{ balances: EligibleBalance[] }>('/payouts/eligible')).body;
  const without = (type: string) => balances.filter(({ held_back }) => held_back === type).length;
  expect(decisions).toEqual({
    held_signups: 1,
    changed_payout_methods: 0,
    missing_payout_methods: without('no_payout_method'),
    failed_payouts: 1,
    failed_payout_file: file.id,
    unmatched_purchases: 1,
    purchases_without_rate: 1,
    failed_credit_deliveries: 0,
  });
  expect(decisions.missing_payout_methods).toBe(1);
  const countOf = async (path: string, key: string) =>
    (await shop.get<Record<string, unknown[]>>(path)).body[key]?.length;
  expect(await countOf('/signups?status=held', 'signups')).toBe(1);
  expect(await countOf('/purchases?matched=false', 'purchases')).toBe(1);
  expect(await countOf('/purchases?reason=no_currency_rate', 'purchases')).toBe(1);
  // The line is paid by now, so no task is left.
  await m.retry(file.id, failed.partner_id);
  const again = await m.exportPayouts();
  await m.pay(again.id);
  expect((await summary(shop)).decisions).toMatchObject({ failed_payouts: 0, failed_payout_file: null });
});

merchantTest.for(['days=6', 'days=91', 'program_id=x'])(
  '?%s is a 400 that names the field',
  async (query, { shop }) => {
    const answer = await shop.get(`/referrals/summary?${query}`);
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, query.split('=')[0]]);
  },
);

merchantTest('the summary needs a secret key and a paid plan', async ({ api, shop }) => {
  expect((await shop.get('/referrals/summary', { key: shop.publishableKey })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/referrals/summary')).status).toBe(402);
});
