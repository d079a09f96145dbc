import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CommissionRecord } from '../../../api/referrals/commissions/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood, expectNotice } from './console-site.ts';
import {
  choose,
  expectRows,
  LONG,
  merchantOf,
  money,
  PATIENCE,
  row,
  type Shop,
  type Sums,
} from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;

inChromium(async () => {
  site = await consoleSite();
  shop = merchantOf(site);
  return site.close;
});

test('referrers are searched, opened, suspended, which can be undone, and approved', LONG, async () => {
  const program = await shop.program({
    name: 'Searching',
    payout_methods: ['wise'],
    allow_affiliate_upgrade: true,
  });
  const bob = await shop.enroll('bob-17', program, { name: 'Robert' });
  await shop.enroll('bea-18', program);
  await site.api('/referrals/reward-mode', { external_user_id: 'bob-17', mode: 'affiliate' });
  await site.api('/referrals/payout-method', {
    external_user_id: 'bob-17',
    method: 'wise',
    email: 'robert@bank.example',
  });
  await shop.signup('bob-friend', bob.ref);
  await shop.purchase('bob-friend', 'bob-order', 80);
  const page = await site.open(`/referrals?tab=enrollments&program=${program.id}`, { keepsUndo: true });
  await expectRows(page, 'Enrollments', 2);
  await row(page, 'Enrollments', 'bob-17').getByText(money(80)).waitFor();
  await expectGood(page, 'referrals-enrollments');
  const names = page.getByRole('region', { name: 'Enrollments' }).locator('td:first-child button');
  const heading = (name: string) => page.getByRole('columnheader', { name, exact: true });
  await heading('Referrer').getByRole('button').click();
  await expect.poll(() => names.allTextContents(), PATIENCE).toEqual(['bea-18@mail.example', 'Robert']);
  await heading('Revenue').getByRole('button').click();
  await expect.poll(() => names.allTextContents(), PATIENCE).toEqual(['Robert', 'bea-18@mail.example']);
  expect(await heading('Revenue').getAttribute('aria-sort')).toBe('descending');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Average LTV' }).check();
  await heading('Average LTV').waitFor();
  await page.keyboard.press('Escape');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('referrers.csv');
  expect(readFileSync(await download.path(), 'utf8')).toMatch(
    /,Robert,bob-17@mail\.example,bob-17,Searching,/,
  );
  await page.getByRole('textbox', { name: 'Search' }).fill('ROBERT');
  await expectRows(page, 'Enrollments', 1);
  expect(new URL(page.url()).searchParams.get('search')).toBe('ROBERT');
  await page.getByRole('button', { name: 'Robert' }).click();
  const drawer = page.getByRole('dialog', { name: 'Referrer Robert' });
  await drawer.getByText(bob.referral_link).waitFor();
  const text = await drawer.textContent();
  expect(text).toContain('Wise, r***@bank.example');
  expect(text).not.toContain('robert@bank.example');
  expect(text).toContain(money(8));
  await expectGood(page, 'referrals-enrollment');
  await drawer.getByRole('button', { name: 'Preview as this referrer' }).click();
  const seen = page.frameLocator('iframe[title="Preview of the referral dashboard"]');
  await seen.getByText('Preview: what this referrer sees.').waitFor();
  expect(await seen.locator('.link-card input').inputValue()).toBe(bob.referral_link);
  for (const control of await seen.locator('fieldset.preview-only').locator('button, input, select').all()) {
    expect(await control.isDisabled()).toBe(true);
  }
  await expectGood(page, 'referrals-preview');
  await page.getByRole('dialog', { name: 'What Robert sees' }).getByRole('button', { name: 'Close' }).click();
  await drawer.getByRole('button', { name: 'Suspend' }).click();
  await drawer.getByText('Suspended', { exact: true }).waitFor();
  expect(await site.api(`/enrollments/${bob.partner_id}`)).toMatchObject({ status: 'suspended' });
  await expectNotice(page, 'Robert suspended. New signups and purchases earn nothing');
  await expectGood(page, 'referrals-suspend');
  await page.getByRole('button', { name: 'Undo' }).click();
  await drawer.getByText('Approved', { exact: true }).waitFor();
  expect(await site.api(`/enrollments/${bob.partner_id}`)).toMatchObject({ status: 'approved' });
  await drawer.getByRole('button', { name: 'Suspend' }).click();
  await drawer.getByText('Suspended', { exact: true }).waitFor();
  await drawer.getByRole('button', { name: 'Approve' }).click();
  await drawer.getByText('Approved', { exact: true }).waitFor();
  expect(await site.api(`/enrollments/${bob.partner_id}`)).toMatchObject({ status: 'approved' });
  await drawer.getByRole('button', { name: 'Ledger entries' }).click();
  await row(page, 'Entries of the ledger', 'bob-order').getByText(money(8)).waitFor();
  await expectRows(page, 'Entries of the ledger', 1);
  await page.close();
});

test(
  'partners of another program are checked, imported, and seen; refused rows are named',
  LONG,
  async () => {
    const program = await shop.program({ name: 'Moved in', payout_methods: ['paypal'] });
    const page = await site.open(`/referrals?tab=enrollments&program=${program.id}`);
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page.getByLabel('From').selectOption('csv');
    const into = page.getByLabel('Into the program');
    if ((await into.count()) > 0) await into.selectOption(program.id);
    const sent = [
      ['own-partners.csv', 'partner_id,email,codes,shoe_size\np-1,ada@moved.example,ada-moved,38\np-2,,,\n'],
      ['own-customers.csv', 'customer_id,customer_email,partner_id\nc-1,buyer@moved.example,p-1\n'],
      ['own-commissions.csv', 'commission_id,amount,currency,partner_id\nx-1,40,usd,p-1\nx-2,five,usd,p-1\n'],
    ].map(([name = '', text = '']) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) }));
    await page.locator('input[type="file"]').setInputFiles(sent);
    await page.getByRole('button', { name: 'Check 3 files' }).click();
    const plan = page.getByRole('region', { name: 'What the import will do' });
    await plan.getByText('will be refused.').waitFor();
    /** Rows, new, and there already, of each kind. */
    const figures = async (label: string) => {
      const rows = await page.getByRole('region', { name: label }).locator('tbody tr').all();
      const cells = await Promise.all(rows.map((one) => one.locator('td').allTextContents()));
      return cells.map((texts) => texts.slice(1, 4).map(Number));
    };
    expect(await figures('What will be imported')).toEqual([
      [2, 2, 0],
      [1, 1, 0],
      [2, 1, 0],
    ]);
    await plan.getByText('Not taken over from own-partners.csv').waitFor();
    const refused = page.getByRole('region', { name: 'Rows that will be refused' });
    expect(await refused.textContent()).toMatch(/own-commissions\.csv3amount/);
    await expectGood(page, 'referral-import-check');
    type Listed = { enrollments: { external_user_id: string }[] };
    const listed = () => site.api<Listed>(`/enrollments?program_id=${program.id}`);
    expect((await listed()).enrollments).toEqual([]);
    await plan.getByRole('button', { name: 'Import 4 rows' }).click();
    await page.getByRole('region', { name: 'Result of the import' }).getByText('Imported.').waitFor();
    expect(await figures('What was imported')).toEqual([
      [2, 2, 0],
      [1, 1, 0],
      [2, 1, 0],
    ]);
    await expectGood(page, 'referral-import-result');
    expect((await listed()).enrollments.map((one) => one.external_user_id).sort()).toEqual([
      'csv:p-1',
      'csv:p-2',
    ]);
    await page.getByRole('link', { name: 'See the referrers' }).click();
    await page.getByRole('button', { name: 'ada@moved.example' }).waitFor();
    await page.close();
  },
);

test('the ledger is filtered and paged, and its sums are those of the API', LONG, async () => {
  const program = await shop.program({ name: 'Entries', levels: [5] });
  const top = await shop.enroll('cy', program);
  await shop.signup('dora', top.ref);
  const dora = await shop.enroll('dora', program);
  await shop.signup('dora-friend', dora.ref);
  for (let n = 1; n <= 30; n++) await shop.purchase('dora-friend', `entry-${n}`, 10.1 + n);
  await site.api('/referrals/report-refund', { refund_id: 'back-7', order_id: 'entry-7' });
  const page = await site.open(`/referrals?tab=ledger&program=${program.id}`);
  await expectRows(page, 'Entries of the ledger', 50);
  await expectGood(page, 'referrals-ledger');
  const sums = await site.api<Sums>(`/ledger/balances?program_id=${program.id}`);
  expect(sums.balances).toMatchObject([{ status: 'eligible', currency: 'usd', entries: 62 }]);
  const shown = page.getByRole('group', { name: 'Totals of these entries' });
  await expect.poll(() => shown.textContent(), PATIENCE).toContain(money(sums.balances[0]?.amount ?? 0));
  expect(await shown.textContent()).toContain('62 entries');
  await page.getByRole('button', { name: 'Older' }).click();
  await expectRows(page, 'Entries of the ledger', 12);
  await row(page, 'Entries of the ledger', 'entry-1').first().waitFor();
  await page.getByRole('button', { name: 'Newest' }).click();
  await expectRows(page, 'Entries of the ledger', 50);
  await choose(page, 'What', 'Refund');
  await expectRows(page, 'Entries of the ledger', 2);
  await row(page, 'Entries of the ledger', 'Refund back-7').filter({ hasText: 'Reversed' }).first().waitFor();
  await choose(page, 'What', 'All');
  await page.getByRole('textbox', { name: 'Order' }).fill('entry-30');
  await expectRows(page, 'Entries of the ledger', 2);
  await page.getByRole('textbox', { name: 'User' }).fill('cy');
  await expectRows(page, 'Entries of the ledger', 1);
  await choose(page, 'Kind', 'Credits');
  await page.getByText('No entries').waitFor();
  await page.goBack();
  await expectRows(page, 'Entries of the ledger', 1);
  await page.close();
});

test('a day typed into the ledger is searched once, when its year is complete', LONG, async () => {
  const page = await site.open('/referrals?tab=ledger');
  const rows = page.getByRole('region', { name: 'Entries of the ledger' });
  await rows.or(page.getByText('No entries')).waitFor();
  const steps = await page.evaluate('history.length');
  const asked: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/ledger')) asked.push(searchParams.get('from'));
  });
  // Slower than the debounce of the search; the same with the month first.
  await page.getByLabel('From').pressSequentially('02022026', { delay: 500 });
  await expect.poll(() => new URL(page.url()).searchParams.get('from'), PATIENCE).toBe('2026-02-02');
  await expect.poll(() => asked, PATIENCE).toEqual([new Date('2026-02-02T00:00:00').toISOString()]);
  expect(await page.getByLabel('From').inputValue()).toBe('2026-02-02');
  expect(await page.evaluate('history.length')).toBe(steps);
  await page.close();
});

test('credits named like a currency have a sum of their own', LONG, async () => {
  const program = await shop.program({
    name: 'Dollars of our own',
    credit_enabled: true,
    credit_kind: 'USD',
    signup_credit: { free: 2, paid: 2 },
    allow_affiliate_upgrade: true,
  });
  const gil = await shop.enroll('gil', program);
  const hana = await shop.enroll('hana', program);
  await site.api('/referrals/reward-mode', { external_user_id: 'hana', mode: 'affiliate' });
  await shop.signup('gil-friend', gil.ref);
  await shop.signup('hana-friend', hana.ref);
  await shop.purchase('hana-friend', 'hana-order', 70);
  const page = await site.open(`/referrals?tab=ledger&program=${program.id}`);
  const sums = page.getByRole('group', { name: 'Totals of these entries' });
  await sums.getByText('Credits, 1 entry').waitFor();
  await sums.getByText(/^Commission, \d/).waitFor();
  await sums.getByText(money(7)).waitFor();
  await page.close();
});

test('each amount on hold says until when, and each customer what they brought', LONG, async () => {
  const program = await shop.program({ name: 'Held', hold_days: 30, commission_months: 12 });
  const { ref } = await shop.enroll('hugo', program);
  await shop.signup('hugo-friend', ref);
  await shop.purchase('hugo-friend', 'held-1', 80);
  await shop.purchase('hugo-friend', 'held-2', 45.5);
  await shop.purchase('hugo-friend', 'held-3', 30);
  await site.api('/referrals/report-refund', { refund_id: 'held-back', order_id: 'held-3' });
  const { commissions } = await site.api<{ commissions: CommissionRecord[] }>(
    `/commissions?program_id=${program.id}&status=pending`,
  );
  expect(commissions.map(({ amount }) => amount)).toEqual([4.55, 8]);
  const page = await site.open(`/referrals?tab=commissions&program=${program.id}`);
  for (const { order_id, created_at, held_until } of commissions) {
    const until = new Date(held_until ?? 0);
    expect(until.getTime() - Date.parse(created_at)).toBe(30 * 86_400_000);
    const day = until.toLocaleDateString('en-GB', { dateStyle: 'medium' });
    await row(page, 'Commissions', order_id ?? '')
      .getByText(`until ${day}`)
      .waitFor(PATIENCE);
  }
  const reversed = row(page, 'Commissions', 'held-3');
  await reversed.getByText('Reversed').waitFor(PATIENCE);
  expect(await reversed.textContent()).not.toContain('until');
  await expectGood(page, 'referrals-commissions-held');
  await page.goto(`${site.app}/console/referrals?tab=signups&program=${program.id}`);
  await row(page, 'Signups', 'hugo-friend').getByText(money(125.5)).waitFor(PATIENCE);
  await page.goto(`${site.app}/console/referrals?tab=purchases&program=${program.id}`);
  await row(page, 'Purchases', 'held-3').getByText('Refunded', { exact: true }).waitFor(PATIENCE);
  await row(page, 'Purchases', 'held-2').getByText('Earned', { exact: true }).waitFor(PATIENCE);
  await page.goto(`${site.app}/console/referrals?tab=payouts&program=${program.id}`);
  await page.getByText('Nothing is ready to pay').waitFor(PATIENCE);
  // What will be due, also while nothing is.
  await page.locator('.mantine-Paper-root', { hasText: 'On hold' }).getByText(money(12.55)).waitFor(PATIENCE);
  await expectGood(page, 'referrals-payouts-held');
  await page.close();
});

test('blocked signups and purchases that earned nothing say why', LONG, async () => {
  const program = await shop.program({ name: 'Reasons', first_sale_only: true });
  const eve = await shop.enroll('eve', program);
  await shop.signup('fred', eve.ref, { email: 'fred@mail.example' });
  await shop.signup('eve-again', eve.ref, { email: 'eve+again@mail.example' });
  await shop.purchase('fred', 'fred-1', 20);
  await shop.purchase('fred', 'fred-2', 30);
  const page = await site.open(`/referrals?tab=signups&program=${program.id}`);
  await expectRows(page, 'Signups', 2);
  await row(page, 'Signups', 'eve-again').getByText('Self-referral: same mailbox').waitFor();
  expect(await row(page, 'Signups', 'fred@mail.example').textContent()).toContain('Accepted');
  expect(await page.getByRole('columnheader').allTextContents()).toContain('Lifetime value');
  await expectGood(page, 'referrals-signups');
  await choose(page, 'Result', 'Blocked');
  await expectRows(page, 'Signups', 1);
  await page.reload();
  await expectRows(page, 'Signups', 1);
  await choose(page, 'Why blocked', 'Self-referral: same device');
  await page.getByText('No signups').waitFor();
  await page.goto(`${site.app}/console/referrals?tab=purchases&program=${program.id}`);
  await expectRows(page, 'Purchases', 2);
  await row(page, 'Purchases', 'fred-2').getByText('Only the first purchase earns a reward').waitFor();
  await expectGood(page, 'referrals-purchases');
  await page.close();
});
