import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { toMinor } from '../../../core/money/money.ts';
import { toHundredths } from '../../../core/referrals/credits.ts';
import { type Merchant, merchant } from '../../../test/referrals/support.ts';
import type { TestWorkspace } from '../../../test/support/api.ts';
import { apiTest as test } from '../../../test/support/fixtures.ts';
import type { EnrollmentWithTotals } from '../enrollments/schemas.ts';
import type { LedgerEntry } from './schemas.ts';

type Page = { entries: LedgerEntry[]; next_cursor: number | null };
type Sum = Pick<LedgerEntry, 'kind' | 'status' | 'currency' | 'credit_kind' | 'amount'> & { entries: number };

let m: Merchant;
let dollars: { id: string };
let yen: { id: string };

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
  await play(shop);
});

/**
 * Two programs with every kind of entry: dollars on two levels, with refunds of pending, eligible, exported and paid
 * amounts; yen; credits that are earned, delivered and revoked.
 */
async function play(shop: TestWorkspace): Promise<void> {
  dollars = await m.program({ commission_rate: 12.5, hold_days: 0, levels: [5] });
  yen = await m.program({
    commission_rate: 33.3,
    hold_days: 30,
    currency: 'jpy',
    credit_enabled: true,
    allow_affiliate_upgrade: true,
    signup_credit: { free: 2.25, paid: 0 },
    referee_credit: 0.5,
  });
  const top = await m.enroll('top', { program_id: dollars.id });
  await m.signup('middle', { ref_code: top.ref });
  const middle = await m.enroll('middle', { program_id: dollars.id });
  await m.signup('buyer', { ref_code: middle.ref });
  const other = await m.enroll('other', { program_id: yen.id });
  await m.signup('guest', { ref_code: other.ref });
  await m.signup('other', { ref_code: other.ref }); // self-referral: revoked
  await m.mode('other', 'affiliate');
  await m.signup('buyer-yen', { ref_code: other.ref });
  await m.purchase('buyer', 'o1', 99.99);
  await m.purchase('buyer', 'o2', 33.33);
  await m.purchase('buyer', 'o3', 10);
  await m.purchase('buyer-yen', 'y1', 1001, { currency: 'jpy' });
  await m.refund('f1', 'o1', 50);
  await m.refund('f2', 'o3');
  await m.refund('f3', 'y1', 500);
  const [grant] = (await m.credits('external_user_id=other')).grants.filter((one) => one.status === 'earned');
  await shop.post(`/credits/${grant?.id}/mark-delivered`);
  await m.address(top.partner_id, 'top');
  await m.address(middle.partner_id, 'middle');
  const file = await shop.get('/payouts/export');
  await shop.post('/payouts', { export_id: file.headers['x-export-id'] });
  await m.refund('f4', 'o2', 11.11);
}

async function walk(shop: TestWorkspace, query = '', limit = 4): Promise<LedgerEntry[]> {
  const seen: LedgerEntry[] = [];
  let cursor = '';
  for (;;) {
    const { status, body, text } = await shop.get<Page>(`/ledger?limit=${limit}${query}${cursor}`);
    if (status !== 200) throw new Error(text);
    expect(body.entries.length).toBeLessThanOrEqual(limit);
    seen.push(...body.entries);
    if (body.next_cursor === null) return seen;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

const balances = async (shop: TestWorkspace, query = '') =>
  (await shop.get<{ balances: Sum[] }>(`/ledger/balances?${query}`)).body.balances;

/** Minor units, or hundredths of credits. */
const exact = ({ kind, currency, amount }: Pick<LedgerEntry, 'kind' | 'currency' | 'amount'>) =>
  kind === 'commission' ? toMinor(amount, currency ?? '') : (toHundredths(amount) ?? Number.NaN);

/** Returns the sums of entries by status and unit. */
function sumsOf(entries: readonly LedgerEntry[]): Map<string, { amount: number; entries: number }> {
  const sums = new Map<string, { amount: number; entries: number }>();
  for (const entry of entries) {
    const key = `${entry.status} ${entry.currency ?? entry.credit_kind}`;
    const { amount, entries: count } = sums.get(key) ?? { amount: 0, entries: 0 };
    sums.set(key, { amount: amount + exact(entry), entries: count + 1 });
  }
  return sums;
}

const asSums = (found: readonly Sum[]) =>
  new Map(
    found.map((sum) => [
      `${sum.status} ${sum.currency ?? sum.credit_kind}`,
      { amount: exact(sum), entries: sum.entries },
    ]),
  );

describe('the ledger', () => {
  test('is listed completely, newest first, each entry once', async ({ api, shop }) => {
    const entries = await walk(shop);
    const ids = entries.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => b - a));
    const { rows } = await api.stores.pool.query(
      'SELECT count(*) AS count FROM ledger_entries WHERE workspace_id = $1',
      [shop.workspace.id],
    );
    expect(entries).toHaveLength(rows[0]?.count);
    expect(new Set(entries.map(({ cause }) => cause))).toEqual(
      new Set(['sale', 'refund', 'payout', 'signup', 'referee', 'delivery']),
    );
  });

  test('shows what each entry belongs to', async ({ shop }) => {
    const sale = (await walk(shop, '&order_id=o2&cause=sale')).find(({ level }) => level === 2);
    expect(sale).toEqual({
      id: expect.any(Number),
      created_at: expect.any(String),
      kind: 'commission',
      status: 'eligible',
      cause: 'sale',
      amount: 1.67,
      currency: 'usd',
      credit_kind: null,
      external_user_id: 'top',
      partner_id: expect.any(String),
      program_id: dollars.id,
      commission_id: expect.any(String),
      grant_id: null,
      level: 2,
      present_status: 'paid',
      order_id: 'o2',
      refund_id: null,
      export_id: null,
    });
    const moves = (await walk(shop, `&order_id=o2&cause=payout&external_user_id=top`)).map((entry) => [
      entry.status,
      entry.amount,
      entry.export_id === null,
    ]);
    expect(moves).toEqual([
      ['paid', 1.67, false],
      ['eligible', -1.67, false],
    ]);
    const back = await walk(shop, '&order_id=o2&cause=refund&external_user_id=top');
    expect(back).toMatchObject([
      { refund_id: 'f4', amount: -0.56, status: 'eligible', present_status: 'eligible' },
    ]);
    expect(await walk(shop, '&order_id=o3&cause=refund')).toMatchObject([
      { refund_id: 'f2', present_status: 'reversed' },
      { refund_id: 'f2', present_status: 'reversed' },
    ]);
    const [delivered] = await walk(shop, '&status=delivered');
    expect(delivered).toMatchObject({
      kind: 'credit',
      cause: 'delivery',
      amount: 2.25,
      currency: null,
      credit_kind: 'credits',
      external_user_id: 'other',
      commission_id: null,
      order_id: null,
      level: null,
    });
  });

  test('adds up to its balances, under every filter, to the minor unit', async ({ shop }) => {
    const { body: one } = await shop.get<Page>('/ledger?limit=1');
    for (const query of [
      '',
      `&program_id=${dollars.id}`,
      `&program_id=${yen.id}`,
      `&partner_id=${one.entries[0]?.partner_id}`,
      '&external_user_id=other',
      '&external_user_id=guest',
      '&kind=commission',
      '&kind=credit',
      '&status=eligible',
      '&kind=credit&status=delivered',
      '&cause=refund',
      '&currency=USD',
      '&currency=jpy&status=pending',
      '&credit_kind=credits',
      '&order_id=o1',
      '&days=1',
      '&to=2020-01-01',
      '&from=2020-01-01',
      '&to=2100-01-01',
      '&order_id=none',
      '&kind=credit&currency=usd',
    ]) {
      const entries = await walk(shop, query);
      const found = await balances(shop, query.slice(1));
      expect([query, asSums(found)]).toEqual([query, sumsOf(entries)]);
    }
    expect(await walk(shop, '&kind=credit&currency=usd')).toEqual([]);
    expect(await walk(shop, '&to=2020-01-01')).toEqual([]);
    const all = (await walk(shop)).length;
    expect(await walk(shop, '&from=2020-01-01')).toHaveLength(all);
    expect(await walk(shop, '&to=2100-01-01')).toHaveLength(all);
  });

  test('adds up to what stats, enrollments and the payout file say, to the minor unit', async ({ shop }) => {
    const entries = await walk(shop);
    const { body: list } = await shop.get<{ enrollments: EnrollmentWithTotals[] }>('/enrollments');
    expect(list.enrollments.map((one) => one.external_user_id).toSorted()).toEqual([
      'middle',
      'other',
      'top',
    ]);
    for (const enrollment of list.enrollments) {
      const user = enrollment.external_user_id;
      const sums = sumsOf(entries.filter((entry) => entry.external_user_id === user));
      const stats = await m.stats(user);
      const { currency } = stats.rewards.cash;
      const of = (status: string) => sums.get(`${status} ${currency}`)?.amount ?? 0;
      const { pending, eligible, paid } = stats.affiliate.balance;
      expect([user, ...[pending, eligible, paid].map((major) => toMinor(major, currency))]).toEqual([
        user,
        of('pending'),
        of('eligible'),
        of('paid'),
      ]);
      expect(toMinor(stats.rewards.cash.total, currency)).toBe(of('pending') + of('eligible') + of('paid'));
      expect(enrollment.balances.cash[currency]).toEqual(stats.affiliate.balance);
      expect(enrollment.balances.credits).toEqual(stats.rewards.credits);
      expect(toHundredths(stats.rewards.credits.credits?.delivered ?? 0)).toBe(
        sums.get('delivered credits')?.amount ?? 0,
      );
    }
    // After another purchase, a file pays the eligible sums of the list of entries that are above zero.
    await m.purchase('buyer', 'o4', 77.77);
    const after = await walk(shop);
    const file = await shop.get<string>('/payouts/export');
    const lines = parse(file.text, { columns: true }) as Record<string, string>[];
    expect(lines.map((line) => line.external_user_id).toSorted()).toEqual(['middle', 'top']);
    for (const { external_user_id, amount, currency } of lines) {
      const own = after.filter((entry) => entry.external_user_id === external_user_id);
      expect(toMinor(Number(amount), currency ?? '')).toBe(sumsOf(own).get(`eligible ${currency}`)?.amount);
    }
  });

  test.for([
    'limit=0',
    'limit=501',
    'cursor=x',
    'cursor=0',
    'program_id=x',
    'partner_id=x',
    'kind=x',
    'status=reversed',
    'cause=x',
    'currency=xxx',
    'currency=usd&credit_kind=credits',
    'order_id=',
    'days=0',
    'from=soon',
    'from=2026-02-02&to=2026-02-01',
  ])('?%s is a 400 that names the field', async (query, { shop }) => {
    const answer = await shop.get(`/ledger?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toMatch(
      /^(limit|cursor|program_id|partner_id|kind|status|cause|currency|credit_kind|order_id|days|from)$/,
    );
  });

  test('needs a secret key and a paid plan', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    for (const path of ['/ledger', '/ledger/balances']) {
      expect((await shop.get(path, { key: shop.publishableKey })).status).toBe(403);
      expect((await free.get(path)).status).toBe(402);
    }
  });
});
