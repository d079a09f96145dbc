import { expect, test } from 'vitest';
import type { Summary } from '../../../api/referrals/summary/schemas.ts';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';
import { choose, expectRows, LONG, merchantOf, money, PATIENCE, row, type Shop } from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;

inChromium(async () => {
  site = await consoleSite();
  shop = merchantOf(site);
  return site.close;
});

test('the first page has what the programs brought, and leads to what needs a decision', LONG, async () => {
  const page = await site.open('/referrals');
  await page.getByText('No programs yet').waitFor();
  const friends = await shop.program({ name: 'Friends', payout_methods: ['paypal'] });
  const held = await shop.program({ name: 'Reviewed', review: 'signups', payout_methods: ['paypal'] });
  await page.reload();
  await page.getByText('No activity in this period').waitFor();
  await expectGood(page, 'referrals-month-quiet');

  const people = ['amelie.dupont', 'b.okafor', 'chen-wei', 'd.novak', 'emre', 'fatima-z'];
  for (const [index, user] of people.entries()) {
    const { ref, referral_link } = await shop.enroll(user, friends, { name: user.replace(/[.-]/, ' ') });
    for (let n = 0; n < 3 + index; n++) expect((await visitNew(referral_link)).status).toBe(302);
    for (let n = 0; n < people.length - index; n++) {
      await shop.signup(`${user}-friend-${n}`, ref);
      if (n % 2 === 0) await shop.purchase(`${user}-friend-${n}`, `${user}-order-${n}`, 49.9 * (n + 1));
    }
  }
  const reviewer = await shop.enroll('grace', held);
  await shop.signup('grace-friend', reviewer.ref);
  await shop.purchase('walk-in', 'walk-in-order', 15);
  await shop.purchase('amelie.dupont-friend-0', 'krona-order', 500, 'sek');
  // A payout of one referrer fails.
  const failed = await shop.enroll('emre', friends);
  const file = await fetch(`${site.service.api_url}/payouts/export`, {
    headers: { authorization: `Bearer ${site.service.demo?.secret_key}` },
  });
  const exportId = file.headers.get('x-export-id') ?? '';
  await site.api('/payouts', { export_id: exportId });
  await site.api(`/payouts/${exportId}/lines/${failed.partner_id}/fail`, { reason: 'account closed' });

  const clicks = async () => (await site.api<Summary>('/referrals/summary')).totals.clicks;
  await expect.poll(clicks, PATIENCE).toBe(3 + 4 + 5 + 6 + 7 + 8);
  await page.reload();
  const summary = await site.api<Summary>('/referrals/summary');
  const totals = page.getByRole('region', { name: 'Totals' });
  await totals.getByText(String(summary.totals.signups), { exact: true }).waitFor();
  expect(await totals.textContent()).toContain(money(summary.totals.revenue.usd ?? 0));
  await expectRows(page, 'Top referrers', 5);
  const [first] = summary.top_referrers;
  await row(page, 'Top referrers', 'amelie.dupont')
    .getByText(money(first?.revenue.usd ?? 0))
    .waitFor();
  await expectGood(page, 'referrals-month');

  const decide = page.getByRole('region', { name: 'Needs a decision' });
  const lead = async (name: string | RegExp, tab: string) => {
    await page.goto(`${site.app}/console/referrals`);
    await decide.getByRole('button', { name }).click();
    await page.getByRole('tab', { name: tab, selected: true }).waitFor();
  };
  await lead('1 signup to review', 'Signups');
  await row(page, 'Signups', 'grace-friend').waitFor();
  await lead('1 purchase without a referrer', 'Purchases');
  await row(page, 'Purchases', 'walk-in-order').getByText('No referrer').waitFor();
  await lead('1 purchase earned nothing: no exchange rate is set', 'Purchases');
  await row(page, 'Purchases', 'krona-order').waitFor();
  await lead('1 payout failed: correct the address, then pay again', 'Payouts');
  await page.getByRole('dialog').getByText('account closed').waitFor();

  await page.goto(`${site.app}/console/referrals`);
  await choose(page, 'Program', 'Reviewed');
  await page.getByText('No activity in this period').waitFor();
  await expect.poll(() => decide.getByRole('button').count(), PATIENCE).toBe(1);
  await choose(page, 'Program', 'All programs');
  await row(page, 'Top referrers', 'chen-wei').getByRole('button', { name: 'chen wei' }).click();
  await page.getByRole('dialog', { name: 'Referrer chen wei' }).waitFor();
  expectClean(page);
  await page.close();
});

test('a program that is made from the overview is shown among the programs', LONG, async () => {
  const page = await site.open('/referrals');
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await dialog.getByLabel('Name').fill('From the overview');
  await dialog.getByLabel('Destination URL').fill('https://shop.example/join');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('article', { name: 'From the overview' }).waitFor();
  await page.getByRole('tab', { name: 'Program', exact: true, selected: true }).waitFor();
  expectClean(page);
  await page.close();
});
