import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Download } from 'playwright-core';
import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectGood,
  expectNotice,
  PASSWORD,
} from './console-site.ts';
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

/** Downloads a payout file with the choices of the dialog as they are. */
async function downloadFile(page: ConsolePage): Promise<Download> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download payout file' }).click();
  const dialog = page.getByRole('dialog', { name: 'Payout file' });
  await dialog.getByRole('button', { name: 'Download', exact: true }).click();
  const file = await download;
  await dialog.waitFor({ state: 'detached' });
  return file;
}

type Eligible = {
  referrers: number;
  totals: Record<string, number>;
  balances: { external_user_id: string; held_back: string | null }[];
};

test('a payout file is downloaded and marked paid once, and every amount is the API’s', LONG, async () => {
  const program = await shop.program({ name: 'Paying', min_payout: 5 });
  for (const [user, amount] of [
    ['gil', 123.45],
    ['hal', 99.99],
    ['ivy', 10],
  ] as const) {
    const { ref } = await shop.enroll(user, program);
    await shop.signup(`${user}-friend`, ref);
    await shop.purchase(`${user}-friend`, `${user}-order`, amount);
  }
  const eligible = await site.api<Eligible>(`/payouts/eligible?program_id=${program.id}`);
  const total = money(eligible.totals.usd ?? 0);
  expect([eligible.referrers, total]).toEqual([2, money(22.34)]);
  const page = await site.open(`/referrals?tab=payouts&program=${program.id}`);
  await row(page, 'Balances that are ready to pay', 'ivy')
    .getByText(`Below ${money(5)}`)
    .waitFor();
  await page.getByText(total, { exact: true }).waitFor();
  await expectGood(page, 'referrals-payouts');

  const file = await downloadFile(page);
  const [, exportId = ''] = /^payouts-([0-9a-f-]{36})\.csv$/.exec(file.suggestedFilename()) ?? [];
  const text = readFileSync(await file.path(), 'utf8');
  // Excel reads a file without it as Latin-1.
  expect(text.startsWith('\uFEFF')).toBe(true);
  const lines = parse(text, { columns: true, bom: true }) as Record<string, string>[];
  expect(lines.map((line) => [line.external_user_id, line.amount]).toSorted()).toEqual([
    ['gil', '12.34'],
    ['hal', '10.00'],
  ]);
  const listed = row(page, 'All payout files', exportId);
  await listed.getByText(total, { exact: true }).waitFor();
  await listed.getByRole('button', { name: 'Mark as paid' }).click();
  const question = page.getByRole('dialog', { name: 'Mark 2 referrers as paid?' });
  expect(await question.textContent()).toContain(`${total} was paid to 2 referrers`);
  await expectGood(page, 'referrals-mark-paid');
  await question.getByRole('button', { name: `Mark ${total} as paid` }).click();
  await listed.getByText('Paid', { exact: true }).waitFor();
  await expectNotice(page, `Marked paid: 2 referrers, ${total}`);
  await expectRows(page, 'Balances that are ready to pay', 1);
  await page.locator('.mantine-Paper-root', { hasText: 'Paid so far' }).getByText(total).waitFor(PATIENCE);
  await expectGood(page, 'referrals-paid');
  const sums = await site.api<Sums>(`/ledger/balances?program_id=${program.id}&status=paid`);
  expect(sums.balances).toMatchObject([{ currency: 'usd', amount: 22.34 }]);
  await listed.getByRole('button').first().click();
  await row(page, 'Lines of the payout file', 'gil').getByText(money(12.34)).waitFor();
  await expectGood(page, 'referrals-payout-lines');
  await page.close();
});

test(
  'a balance waits for its open file, and a file of another format that is paid closes it',
  LONG,
  async () => {
    const program = await shop.program({ name: 'Twice' });
    const { ref } = await shop.enroll('jo', program);
    await shop.signup('jo-friend', ref);
    await shop.purchase('jo-friend', 'jo-order', 50);
    const page = await site.open(`/referrals?tab=payouts&program=${program.id}`);
    await downloadFile(page);
    await row(page, 'Balances that are ready to pay', 'jo').getByText('In an open file').waitFor(PATIENCE);
    expect(await page.getByRole('button', { name: 'Download payout file' }).isDisabled()).toBe(true);
    await expectGood(page, 'referrals-open-file');
    await choose(page, 'Payout file', 'PayPal mass payment');
    await row(page, 'Balances that are ready to pay', 'jo').getByText('Included').waitFor(PATIENCE);
    await downloadFile(page);
    const open = row(page, 'All payout files', money(5)).filter({ hasText: 'Open' });
    await expect.poll(() => open.count(), PATIENCE).toBe(2);
    await open.first().getByRole('button', { name: 'Mark as paid' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Mark ${money(5)} as paid` })
      .click();
    await expect.poll(() => open.count(), PATIENCE).toBe(0);
    const sums = await site.api<Sums>(`/ledger/balances?program_id=${program.id}&status=paid`);
    expect(sums.balances).toMatchObject([{ amount: 5 }]);
    // The payment comes back: it waits until someone says to try the same address again.
    const files = row(page, 'All payout files', money(5));
    await files.first().getByRole('button').first().click();
    const line = row(page, 'Lines of the payout file', 'jo');
    await line.getByRole('button', { name: 'Mark the line of jo failed' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('account closed');
    await page.getByRole('button', { name: 'Mark failed' }).click();
    await line.getByRole('button', { name: 'Pay again: jo' }).click();
    await line.getByText('Later files pay it again.').waitFor(PATIENCE);
    await expectGood(page, 'referrals-failed-line');
    await page.close();
  },
);

test('a file for Wise says whose name Wise refuses, until the referrer has a payout name', LONG, async () => {
  const program = await shop.program({ name: 'Wise', payout_methods: ['wise'] });
  for (const user of ['wim', 'wes']) {
    const { ref, partner_id } = await shop.enroll(user, program, {
      name: user === 'wim' ? 'Wim' : 'Wes Example',
    });
    const payout_method = { method: 'wise', email: `${user}@pay.example` };
    await site.api(`/enrollments/${partner_id}`, { payout_method }, 'PATCH');
    await shop.signup(`${user}-friend`, ref);
    await shop.purchase(`${user}-friend`, `${user}-order`, 50);
  }
  const page = await site.open(`/referrals?tab=payouts&program=${program.id}&format=wise`);
  const wim = row(page, 'Balances that are ready to pay', 'wim');
  await wim.getByText('Name that Wise refuses').waitFor(PATIENCE);
  await expectGood(page, 'referrals-wise-name');
  await downloadFile(page);
  await page.getByText('1 referrer is left out until a payout name of two words is set.').waitFor(PATIENCE);
  await wim.getByRole('button').first().click();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Payout name' }).fill('Wim Example');
  await expectGood(page, 'referrals-payout-name');
  await page.getByRole('button', { name: 'Save' }).click();
  await expectNotice(page, 'Referrer saved');
  const { balances } = await site.api<Eligible>(`/payouts/eligible?program_id=${program.id}&format=wise`);
  expect(balances.map(({ held_back }) => held_back)).toEqual(['in_open_file', null]);
  await page.close();
});

test('a new address says from when it is payable, and its owner confirms it and pays now', LONG, async () => {
  const program = await shop.program({ name: 'Addressed', min_payout: 5 });
  const { ref } = await shop.enroll('uma', program);
  await shop.signup('uma-friend', ref);
  await shop.purchase('uma-friend', 'uma-order', 200);
  // The call that a page makes, with the publishable key.
  const saved = await fetch(`${site.service.api_url}/referrals/payout-method`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${site.service.demo?.publishable_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ external_user_id: 'uma', method: 'paypal', email: 'uma.new@pay.example' }),
  });
  expect([saved.status, await saved.text()]).toEqual([200, expect.stringContaining('payout_held_until')]);
  const page = await site.open(`/referrals?tab=payouts&program=${program.id}`);
  const uma = row(page, 'Balances that are ready to pay', 'uma');
  await uma.getByText('New address').waitFor(PATIENCE);
  await uma.getByText(/^Payable from .*\d/).waitFor(PATIENCE);
  expect(await page.getByRole('button', { name: 'Download payout file' }).isDisabled()).toBe(true);
  await expectGood(page, 'referrals-new-address');
  await uma.getByRole('button', { name: 'uma' }).click();
  await page.getByText(/^New address: payable from .*\d/).waitFor(PATIENCE);
  await expectGood(page, 'referrals-new-address-drawer');
  await page.goto(`${site.app}/console/referrals?tab=payouts&program=${program.id}`);
  await uma.getByRole('button', { name: 'Confirm and pay now' }).click();
  await page.getByText('Pay uma at the new address?').waitFor(PATIENCE);
  await expectGood(page, 'referrals-confirm-address');
  await site.forgetConfirmations();
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm and pay now' }).click();
  const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
  const password = question.getByLabel('Password', { exact: true });
  await password.fill('a wrong password');
  await password.press('Enter');
  await question.getByText('Password is wrong.').waitFor(PATIENCE);
  await password.fill(PASSWORD);
  await password.press('Enter');
  await expectNotice(page, 'The next payout file pays uma');
  await uma.getByText('Included').waitFor(PATIENCE);
  expect(await page.getByRole('button', { name: 'Download payout file' }).isEnabled()).toBe(true);
  await page.close();
});

test(
  "every balance that is ready to pay can be reached, however small the API's pages are",
  LONG,
  async () => {
    const program = await shop.program({ name: 'Many' });
    for (const user of ['liv', 'mia', 'noa', 'ole', 'pia']) {
      const { ref } = await shop.enroll(user, program);
      await shop.signup(`${user}-friend`, ref);
      await shop.purchase(`${user}-friend`, `${user}-order`, 10);
    }
    const page = await site.open('/referrals');
    await page.route('**/payouts/eligible?*', (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '2');
      return route.continue({ url: url.href });
    });
    await page.goto(`${site.app}/console/referrals?tab=payouts&program=${program.id}`);
    const more = page.getByRole('button', { name: 'Show more' });
    for (const shown of [2, 4]) {
      await expectRows(page, 'Balances that are ready to pay', shown);
      await more.click();
    }
    await expectRows(page, 'Balances that are ready to pay', 5);
    expect(await more.count()).toBe(0);
    for (const user of ['liv', 'pia']) await row(page, 'Balances that are ready to pay', user).waitFor();
    await page.close();
  },
);

test('the page does not claim that nothing is due while the amount is unknown', LONG, async () => {
  const page = await site.open('/referrals?tab=programs');
  const response = { status: 503, json: { error: { code: 'unavailable', message: 'try again' } } };
  await page.route('**/payouts/eligible?*', (route) => route.fulfill(response));
  await page.getByRole('tab', { name: 'Payouts' }).click();
  await page.getByText('Failed to load').first().waitFor(PATIENCE);
  expect(await page.getByRole('button', { name: 'Download payout file' }).isDisabled()).toBe(true);
  expect(await page.getByText('Nothing to pay.').count()).toBe(0);
  await page.close();
});

/** A range of a page, whose types the tests do not have. */
type TextRange = { selectNodeContents(of: unknown): void; getClientRects(): { length: number } };

test('the sign of an amount stays before it in the ledger', LONG, async () => {
  const program = await shop.program({ name: 'Much', hold_days: 0 });
  const user = 'max'.repeat(20);
  const order = 'order'.repeat(20);
  const { ref } = await shop.enroll(user, program);
  await shop.signup('max-friend', ref);
  await shop.purchase('max-friend', order, 987_654_321.99);
  await site.api('/referrals/report-refund', { refund_id: 'max-refund', order_id: order });
  const page = await site.open(`/referrals?tab=ledger&program=${program.id}`, { width: 390 });
  const amount = page.getByRole('cell', { name: /-US/ }).first();
  await amount.waitFor(PATIENCE);
  const lines = await amount.evaluate((cell: { ownerDocument: { createRange(): TextRange } }) => {
    const range = cell.ownerDocument.createRange();
    range.selectNodeContents(cell);
    return range.getClientRects().length;
  });
  expect(lines).toBe(1);
  await page.close();
});

test('an analyst sees all of it and has no controls that change it', LONG, async () => {
  const program = await shop.program({ name: 'Watching' });
  const { partner_id, ref } = await shop.enroll('kim', program);
  await shop.signup('kim-friend', ref);
  await shop.purchase('kim-friend', 'kim-order', 70);
  const page = await site.open('/referrals?tab=programs', { role: 'analyst' });
  await page.getByRole('article', { name: 'Watching' }).waitFor();
  const offered = () =>
    page
      .getByRole('button', { name: /New|Edit|Pause|Resume|Suspend|Approve|Download|Mark|Erase|Reject|Add/ })
      .count();
  expect(await offered()).toBe(0);
  await page.goto(`${site.app}/console/referrals?tab=enrollments&partner=${partner_id}`);
  await page.getByRole('dialog', { name: 'Referrer kim' }).getByText(money(7)).first().waitFor();
  expect(await offered()).toBe(0);
  await page.goto(`${site.app}/console/referrals?tab=payouts&program=${program.id}`);
  await row(page, 'Balances that are ready to pay', 'kim').getByText(money(7)).waitFor();
  expect(await offered()).toBe(0);
  await page.close();
});
