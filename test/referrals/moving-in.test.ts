import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import type { CommissionRecord } from '../../api/referrals/commissions/schemas.ts';
import { importReferrals, type ReferralImport } from '../../api/referrals/import/import-referrals.ts';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { REFERRAL_FORMATS } from '../../core/referral-imports/formats/known.ts';
import { programById } from '../../sql/referrals/programs.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { allQueuedEvents, countRows, type Merchant, merchant, PAID_AT_ONCE } from './support.ts';

let m: Merchant;
let programId: string;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
  programId = (await m.program(PAID_AT_ONCE)).id;
});
test.afterEach(async ({ api, shop }) => {
  expect((await verifyLedger(api.stores.pool, [shop.workspace.id])).wrong).toEqual([]);
});

async function* pieces(text: string) {
  yield text;
}

/** Imports files, each given as its text. */
async function run(
  api: TestApi,
  shop: TestWorkspace,
  from: string,
  files: Record<string, string>,
  options: { dryRun?: boolean; endsAfter?: number } = {},
) {
  const { pool } = api.stores;
  const program = await programById(pool, shop.workspace.id, programId);
  const format = REFERRAL_FORMATS[from];
  if (!program || !format) throw new Error('no program or format');
  const progress: number[] = [];
  const report = await importReferrals({
    pool,
    workspace: shop.workspace,
    program,
    from,
    format,
    dryRun: options.dryRun ?? false,
    now: new Date(),
    by: 'operator',
    files: Object.entries(files).map(([name, text]) => ({
      name,
      form: { delimiter: ',', firstLine: 1 },
      text: () => pieces(text),
    })),
    onProgress: ({ partners, customers, commissions }) => {
      progress.push(partners.created + customers.created + commissions.created);
      if (progress.length === options.endsAfter) throw new Error('interrupted');
    },
  });
  return { ...report, progress };
}

const fixture = (from: string) =>
  // In the wrong order: partners come first whatever the order of files.
  Object.fromEntries(
    ['commissions', 'customers', 'partners'].map((kind) => [
      kind,
      readFileSync(
        new URL(`../../core/referral-imports/fixtures/${from}-${kind}.csv`, import.meta.url),
        'utf8',
      ),
    ]),
  );

const counts = ({ partners, customers, commissions }: ReferralImport) => [
  [partners.created, partners.existing],
  [customers.created, customers.existing],
  [commissions.created, commissions.existing, commissions.skipped],
];
const imported = async (shop: TestWorkspace) =>
  (await shop.get<{ commissions: CommissionRecord[] }>('/commissions')).body.commissions;

/** The expected content of each file of `fixtures/`: unpaid commissions, and a code with its referrer. */
const EXPECTED = {
  rewardful: {
    sum: 42.5,
    commissions: [2, 0, 1],
    code: 'adam',
    user: 'rewardful:d0ed8392-8880-4f39-8715-60230f9eceab',
  },
  tolt: { sum: 20, commissions: [2, 0, 1], code: 'michael', user: 'tolt:part_s7mbzRGn46BhVgNFHD6fDgXW' },
  firstpromoter: { sum: 14.7, commissions: [1, 0, 3], code: 'jon', user: 'jon-17' },
  partnerstack: { sum: 32, commissions: [2, 0, 1], code: 'adaking', user: 'partnerstack:adaking' },
  tapfiliate: { sum: 10, commissions: [2, 0, 1], code: 'jane', user: 'tapfiliate:af_1' },
  csv: { sum: 54.9, commissions: [3, 0, 1], code: 'ann', user: 'user-ann' },
};

describe.each(Object.entries(EXPECTED))('an export of %s', (from, expected) => {
  test('is imported once: referrers with codes, customers, and commissions that sum to the file’s', async ({
    api,
    shop,
  }) => {
    const dry = await run(api, shop, from, fixture(from), { dryRun: true });
    expect(await countRows(api, shop, 'enrollments')).toBe(0);
    const first = await run(api, shop, from, fixture(from));
    expect({ ...dry, progress: [] }).toEqual({ ...first, dry_run: true, progress: [] });
    expect(first.errors).toEqual([]);
    expect(counts(first)).toEqual([[2, 0], [2, 0], expected.commissions]);
    expect(first.sum).toEqual({ currency: 'usd', files: expected.sum, ledger: expected.sum });
    const commissions = await imported(shop);
    expect(commissions.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(expected.sum, 6);
    expect(new Set(commissions.map(({ kind }) => kind))).toEqual(new Set(['imported']));

    const again = await run(api, shop, from, fixture(from));
    const [created = 0, , skipped = 0] = expected.commissions;
    expect(counts(again)).toEqual([
      [0, 2],
      [0, 2],
      [0, created, skipped],
    ]);
    expect(again.sum).toEqual(first.sum);
    expect(await countRows(api, shop, 'enrollments')).toBe(2);
    expect(await countRows(api, shop, 'signups')).toBe(2);

    // The old code still names the referrer, whatever the case, and is the slug of the link.
    const signup = await m.signup('new-user', {
      ref_code: `https://shop.example/?via=${expected.code.toUpperCase()}`,
    });
    const [enrollment] = (
      await shop.get<{ enrollments: { partner_id: string; referral_link: string }[] }>(
        `/enrollments?search=${encodeURIComponent(expected.user)}`,
      )
    ).body.enrollments;
    expect(signup.body).toMatchObject({ matched: true, partner_id: enrollment?.partner_id });
  });
});

describe('importing referrals', () => {
  const partners = 'partner_id,email,codes,coupons\n1,ann@example.com,ann,ANN\n2,bob@example.com,bob,';

  test('in a dry run reports the same and changes nothing', async ({ api, shop }) => {
    const dry = await run(api, shop, 'csv', fixture('csv'), { dryRun: true });
    for (const table of [
      'enrollments',
      'signups',
      'commissions',
      'ledger_entries',
      'coupons',
      'referral_codes',
    ]) {
      expect([table, await countRows(api, shop, table)]).toEqual([table, 0]);
    }
    const { progress: _, dry_run, ...real } = await run(api, shop, 'csv', fixture('csv'));
    expect(dry_run).toBe(false);
    expect(dry).toMatchObject({ ...real, dry_run: true });
  });

  test('gives referrers their slugs, coupons, payout addresses and states', async ({ api, shop }) => {
    // Slugs of their own: other tests of this file have taken `ann`.
    const own = crypto.randomUUID().slice(0, 8);
    const header = 'partner_id,email,external_user_id,name,codes,coupons,paypal_email,status';
    await run(api, shop, 'csv', {
      partners: `${header}\n1,ann@example.com,user-ann,Ann,"ann-${own}, old-${own}",ANN15,ann@pay.example,\n2,,,,bob-${own},,,suspended`,
    });
    const { enrollments } = (await shop.get<{ enrollments: Record<string, unknown>[] }>('/enrollments')).body;
    expect(enrollments).toMatchObject([
      {
        external_user_id: 'csv:2',
        status: 'suspended',
        email: null,
        referral_link: `https://hop.example/bob-${own}`,
      },
      {
        external_user_id: 'user-ann',
        status: 'approved',
        name: 'Ann',
        email: 'ann@example.com',
        referral_link: `https://hop.example/ann-${own}`,
        payout_method: { method: 'paypal' },
      },
    ]);
    expect((await shop.get<{ coupons: object[] }>('/coupons')).body.coupons).toMatchObject([
      { code: 'ANN15', external_user_id: 'user-ann' },
    ]);
    const old = await m.signup('by-old-code', { ref_code: `OLD-${own}` });
    expect(old.body).toMatchObject({ matched: true });
  });

  test('lets customers’ later purchases earn, except those of the referrer', async ({ api, shop }) => {
    await run(api, shop, 'csv', fixture('csv'));
    expect((await m.purchase('c-1', 'o1', 100)).body).toMatchObject({ matched: true, rewarded: true });
    expect((await m.purchase('c-2', 'o2', 100)).body).toMatchObject({
      rewarded: false,
      reason: 'self_referral',
    });
  });

  test('counts the first purchase after it as the first sale', async ({ api, shop }) => {
    await shop.patch(`/programs/${programId}`, { first_sale_only: true });
    await run(api, shop, 'csv', fixture('csv'));
    expect((await m.purchase('c-1', 'o1', 100)).body).toMatchObject({ rewarded: true });
    expect((await m.purchase('c-1', 'o2', 100)).body).toMatchObject({
      rewarded: false,
      reason: 'not_first_sale',
    });
  });

  test('continues where it was interrupted', async ({ api, shop }) => {
    await expect(run(api, shop, 'csv', fixture('csv'), { endsAfter: 2 })).rejects.toThrow('interrupted');
    expect(await countRows(api, shop, 'enrollments')).toBe(2);
    expect(await countRows(api, shop, 'commissions')).toBe(0);
    const again = await run(api, shop, 'csv', fixture('csv'));
    expect(counts(again)[0]).toEqual([0, 2]);
    expect(again.sum).toEqual({ currency: 'usd', files: 54.9, ledger: 54.9 });
    expect(await countRows(api, shop, 'signups')).toBe(2);
    expect(await imported(shop)).toHaveLength(3);
  });

  test('leaves the terms and the address of a referrer who exists', async ({ api, shop }) => {
    const { partner_id } = await m.enroll('user-ann', { email: 'ann@shop.example' });
    await m.address(partner_id, 'ann-herself');
    await shop.patch(`/enrollments/${partner_id}`, { commission_rate: 33 });
    expect(counts(await run(api, shop, 'csv', fixture('csv')))[0]).toEqual([1, 1]);
    expect((await shop.get(`/enrollments/${partner_id}`)).body).toMatchObject({
      email: 'ann@shop.example',
      commission_rate: 33,
    });
    const { rows } = await api.stores.pool.query('SELECT payout_email FROM enrollments WHERE id = $1', [
      partner_id,
    ]);
    expect(rows).toEqual([{ payout_email: 'ann-herself@pay.example' }]);
  });

  test('evaluates orders that waited for a customer', async ({ api, shop }) => {
    await m.purchase('c-1', 'o1', 100);
    const now = new Date().toISOString();
    await run(api, shop, 'csv', {
      partners,
      customers: `customer_id,partner_id,created_at\nc-1,1,${now}`,
    });
    expect((await m.purchase('c-1', 'o1', 100)).body).toMatchObject({ matched: true, rewarded: true });
  });

  test('commissions are paid, rejected and listed as any other', async ({ api, shop }) => {
    await run(api, shop, 'csv', fixture('csv'));
    expect(await m.balance('user-ann')).toEqual({ pending: 0, eligible: 44.9, paid: 0 });
    expect((await m.stats('user-ann')).affiliate.recent_commissions).toMatchObject([
      { type: 'imported', status: 'eligible' },
      { type: 'imported', status: 'eligible' },
    ]);
    const events = (await allQueuedEvents(api, shop)).map(({ type }) => type);
    expect(events).toEqual(['commission.created', 'commission.created', 'commission.created']);
    const file = await m.exportPayouts();
    expect(file.lines).toMatchObject([{ amount: '44.90', commissions: '2' }]);
    await m.pay(file.id);
    expect(await m.balance('user-ann')).toEqual({ pending: 0, eligible: 0, paid: 44.9 });
    const pending = (await imported(shop)).find(({ status }) => status === 'pending');
    expect((await shop.post(`/commissions/${pending?.id}/reject`)).status).toBe(200);
    const { entries } = (await shop.get<{ entries: { cause: string }[] }>('/ledger?cause=imported')).body;
    expect(entries).toHaveLength(3);
    // The commission was paid meanwhile, and is imported again: nothing changes.
    expect(counts(await run(api, shop, 'csv', fixture('csv')))[2]).toEqual([0, 3, 1]);
    // Commission that was earned elsewhere does not count for this plan.
    const me = await shop.get<{ plan: { limits: { commission: { used: number } } } }>('/me');
    expect(me.body.plan.limits.commission.used).toBe(0);
  });

  test('names the columns of each file that it does not take over, also in a dry run', async ({
    api,
    shop,
  }) => {
    const files = {
      partners: 'partner_id,email,Visits,Tax ID\nu-1,uma@example.com,17,DE1\n',
      customers: 'customer_id,partner_id,stripe_customer_id,Plan\nc-u,u-1,cus_unknown1,pro\n',
    };
    const unknown = [
      { file: 'partners', columns: ['Visits', 'Tax ID'] },
      { file: 'customers', columns: ['Plan'] },
    ];
    expect((await run(api, shop, 'csv', files, { dryRun: true })).unknown_columns).toEqual(unknown);
    expect((await run(api, shop, 'csv', files)).unknown_columns).toEqual(unknown);
    expect((await run(api, shop, 'csv', fixture('csv'))).unknown_columns).toEqual([]);
  });

  test('names every mistake of a row with its line, and imports the rest', async ({ api, shop }) => {
    const report = await run(api, shop, 'csv', {
      partners: `${partners}\n3,no-email,x,\n,,,`,
      customers: 'customer_id,customer_email,partner_id,created_at\n,bad,1,yesterday\nc-9,c@example.com,9,',
      commissions:
        'commission_id,amount,currency,status,partner_id\nx-1,ten,eur,lost,1\nx-2,5,usd,eligible,7\nx-3,1.0050,usd,eligible,1\nx-4,2,usd,eligible,1',
    });
    expect(
      report.errors.map(({ file, line, field, message }) => `${file} ${line} ${field}: ${message}`),
    ).toEqual([
      'partners 4 email: must be an email address',
      'customers 2 customer_id: is required: it names the customer',
      'customers 2 customer_email: must be an email address',
      expect.stringMatching(/^customers 2 created_at: must be an ISO 8601 time/),
      expect.stringMatching(/^customers 3 null: no referrer of the workspace is 9/),
      'commissions 2 status: must be one of pending, eligible, paid',
      expect.stringMatching(/^commissions 2 currency: must be the program's, usd/),
      'commissions 2 amount: must be a number with a point, such as 49.90',
      expect.stringMatching(/^commissions 3 null: no referrer of the workspace is 7/),
    ]);
    expect(counts(report)).toEqual([
      [2, 0],
      [0, 0],
      [2, 0, 0],
    ]);
    // The sum shows that a commission is missing.
    expect(report.sum).toEqual({ currency: 'usd', files: 8, ledger: 3 });
  });

  test('Rewardful’s file of both has the referrers and their customers', async ({ api, shop }) => {
    const head = 'stripe_customer_id,first_name,last_name,email,paypal_email,wise_email,token';
    const file = [
      head,
      'cus_one1,Adam,Jones,adam@example.com,adam@pay.example,,adam',
      'cus_two2,Adam,Jones,Adam@Example.com,adam@pay.example,,adam',
      ',Eve,Stone,eve@example.com,,eve@wise.example,eve',
      'cus_bad3,Bad,Row,no-email,,,bad',
    ].join('\n');
    for (const [created, existing] of [
      [2, 0],
      [0, 2],
    ]) {
      const report = await run(api, shop, 'rewardful', { file });
      expect(report.errors.map(({ line, field, message }) => [line, field, message])).toEqual([
        [5, 'email', 'must be an email address'],
      ]);
      expect(counts(report).slice(0, 2)).toEqual([
        [created, existing],
        [created, existing],
      ]);
      expect(report.unknown_columns).toEqual([]);
    }
    const { enrollments } = (
      await shop.get<{ enrollments: { name: string; payout_method: object }[] }>('/enrollments')
    ).body;
    expect(enrollments.map(({ name, payout_method }) => [name, payout_method])).toEqual([
      ['Eve Stone', expect.objectContaining({ method: 'wise', email: 'e***@wise.example' })],
      ['Adam Jones', expect.objectContaining({ method: 'paypal', email: 'a***@pay.example' })],
    ]);
    const { signups } = (await shop.get<{ signups: { external_user_id: string }[] }>('/signups')).body;
    expect(signups.map(({ external_user_id }) => external_user_id).sort()).toEqual(['cus_one1', 'cus_two2']);
  });

  test('reads times and amounts as spreadsheets write them, and names what is ambiguous', async ({
    api,
    shop,
  }) => {
    await run(api, shop, 'csv', { partners });
    const report = await run(api, shop, 'csv', {
      commissions: [
        'commission_id,amount,currency,status,partner_id,created_at',
        'x-1,"1,234.50",usd,eligible,1,2026-10-01 10:00:00 UTC',
        'x-2,"$2,000,000.25",usd,eligible,1,"Oct 1, 2026"',
        'x-3,"1.234,50",usd,eligible,1,13/10/2026',
        'x-4,"1,234",usd,eligible,1,01/02/2026',
        'x-5,1.234,usd,eligible,1,2026-10-01',
      ].join('\n'),
    });
    expect(report.errors.map(({ line, field, message }) => [line, field, message])).toEqual([
      [5, 'amount', 'is ambiguous: write 1234 or 1.2340'],
      [5, 'created_at', 'is ambiguous: write 2026-01-02 or 2026-02-01'],
      [6, 'amount', 'is ambiguous: write 1234 or 1.2340'],
    ]);
    expect((await imported(shop)).map(({ amount }) => amount).sort((a, b) => a - b)).toEqual([
      1_234.5, 1_234.5, 2_000_000.25,
    ]);
  });

  test('leaves a slug that another link has, and the code still names the referrer', async ({
    api,
    shop,
  }) => {
    const code = `taken-${crypto.randomUUID().slice(0, 8)}`;
    const link = { destination_url: 'https://shop.example/', name: 'Taken', smart: true, slug: code };
    expect((await shop.post('/links', link)).status).toBe(201);
    await run(api, shop, 'csv', { partners: `partner_id,email,codes\n1,ann@example.com,${code}` });
    const { enrollments } = (
      await shop.get<{ enrollments: { partner_id: string; referral_link: string }[] }>('/enrollments')
    ).body;
    expect(enrollments.map(({ referral_link }) => referral_link.endsWith(code))).toEqual([false]);
    const { body } = await m.signup('of-ann', { ref_code: code });
    expect(body).toMatchObject({ matched: true, partner_id: enrollments[0]?.partner_id });
  });

  test('notes a code or coupon that another referrer has, and keeps it there', async ({ api, shop }) => {
    await run(api, shop, 'csv', { partners });
    const more = 'partner_id,email,codes,coupons\n5,eve@example.com,"ANN, eve",ann';
    const report = await run(api, shop, 'csv', { more });
    expect(report.notes.map(({ line, message }) => [line, message])).toEqual([
      [2, 'another referrer has the code ANN: it keeps naming that one'],
      [2, 'another referrer has the code ann: it keeps naming that one'],
    ]);
    expect(report.partners).toMatchObject({ created: 1 });
  });

  test('takes customers and commissions of referrers that an earlier import made', async ({ api, shop }) => {
    await run(api, shop, 'csv', { partners });
    const later = await run(api, shop, 'csv', {
      customers: 'customer_id,partner_email\nc-1,ANN@example.com',
      commissions: 'amount,partner_code\n5,Bob\n5,bob\n5,bob',
    });
    expect([later.errors, counts(later)]).toEqual([
      [],
      [
        [0, 0],
        [1, 0],
        [3, 0, 0],
      ],
    ]);
    // Without ids, equal commissions are distinguished by their order.
    expect(
      counts(await run(api, shop, 'csv', { commissions: 'amount,partner_code\n5,Bob\n5,bob\n5,bob' }))[2],
    ).toEqual([0, 3, 0]);
  });

  test('finds a referrer by an email whose host is not ASCII, however it was sent and is written', async ({
    api,
    shop,
  }) => {
    await shop.post('/referrals/enroll', {
      external_user_id: 'r',
      email: 'Rosa@Bücher.example',
      tier: 'free',
    });
    const emails = ['rosa@BÜCHER.example', 'rosa@xn--bcher-kva.example', 'other@bücher.example'];
    const rows = emails.map((email, n) => `x-${n},5,${email}`);
    const report = await run(api, shop, 'csv', {
      commissions: `commission_id,amount,partner_email\n${rows.join('\n')}`,
    });
    expect([report.errors.map(({ line }) => line), report.sum]).toEqual([
      [4],
      { currency: 'usd', files: 15, ledger: 10 },
    ]);
  });

  test('refuses a commission of a referrer whose program pays another currency', async ({ api, shop }) => {
    const yen = await m.program({ currency: 'jpy' });
    await m.enroll('r', { program_id: yen.id });
    const report = await run(api, shop, 'csv', {
      partners: 'partner_id,external_user_id,email\n1,r,r@mail.example',
      commissions: 'commission_id,amount,partner_id\nx-1,5,1',
    });
    expect([report.errors.map(({ message }) => message), report.sum]).toEqual([
      ['referrer r is in a program that pays jpy: a commission in usd can not be theirs'],
      { currency: 'usd', files: 5, ledger: 0 },
    ]);
  });

  test('takes a program of 1,000 partners and 10,000 customers in few transactions, with progress', {
    tags: 'nightly',
  }, async ({ api, shop }) => {
    const many = Array.from({ length: 1_000 }, (_, index) => `${index},p${index}@example.com,code-${index},`);
    const customers = Array.from(
      { length: 10_000 },
      (_, index) => `c-${index},c${index}@example.com,${index % 1_000}`,
    );
    const report = await run(api, shop, 'csv', {
      partners: `partner_id,email,codes,coupons\n${many.join('\n')}`,
      customers: `customer_id,customer_email,partner_id\n${customers.join('\n')}`,
    });
    expect([report.errors, counts(report).slice(0, 2)]).toEqual([
      [],
      [
        [1_000, 0],
        [10_000, 0],
      ],
    ]);
    // A transaction of each batch: 20 of 50 referrers, 20 of 500 customers, and what is left of each file.
    expect(report.progress).toHaveLength(42);
    expect(report.progress.toSorted((a, b) => a - b)).toEqual(report.progress);
  });
});
