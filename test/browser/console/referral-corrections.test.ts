import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood, expectNotice } from './console-site.ts';
import { choose, expectRows, LONG, merchantOf, money, PATIENCE, row, type Shop } from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;

inChromium(async () => {
  site = await consoleSite();
  shop = merchantOf(site);
  return site.close;
});

type Signups = { signups: { external_user_id: string; status: string; block_reason: string | null }[] };
type Payout = {
  status: string;
  lines: { external_user_id: string; status: string; fail_reason: string | null }[];
};
type Cash = { balances: { cash: Record<string, { eligible: number; pending: number }> } };

test('held signups are listed, approved, and rejected after a question', LONG, async () => {
  const program = await shop.program({ name: 'Reviewed', review: 'signups' });
  const { ref } = await shop.enroll('quin', program);
  for (const user of ['rosa', 'stan', 'tess']) await shop.signup(user, ref);
  const page = await site.open('/referrals');
  await page.getByRole('button', { name: '3 signups to review' }).click();
  await expectRows(page, 'Signups', 3);
  await expectGood(page, 'referrals-review');
  await page.getByRole('button', { name: 'Approve rosa' }).click();
  await expectRows(page, 'Signups', 2);
  await page.getByRole('button', { name: 'Reject stan' }).click();
  const question = page.getByRole('dialog', { name: 'Reject the signup of stan?' });
  await question.getByRole('button', { name: 'Reject', exact: true }).click();
  await expectRows(page, 'Signups', 1);
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.getByRole('button', { name: '1 signup to review' }).waitFor(PATIENCE);
  const { signups } = await site.api<Signups>(`/signups?program_id=${program.id}`);
  expect(signups.map((one) => [one.external_user_id, one.status, one.block_reason]).toSorted()).toEqual([
    ['rosa', 'matched', null],
    ['stan', 'matched', 'rejected'],
    ['tess', 'held', null],
  ]);
  await page.close();
});

test('one line of a file is paid, its payment fails, and the rest is canceled', LONG, async () => {
  const program = await shop.program({ name: 'Lines' });
  for (const user of ['uma', 'vic']) {
    const { ref } = await shop.enroll(user, program);
    await shop.signup(`${user}-friend`, ref);
    await shop.purchase(`${user}-friend`, `${user}-order`, 80);
  }
  const exported = await fetch(`${site.service.api_url}/payouts/export?program_id=${program.id}`, {
    headers: { authorization: `Bearer ${site.service.demo?.secret_key}` },
  });
  const id = exported.headers.get('x-export-id') ?? '';
  const page = await site.open(`/referrals?tab=payouts&program=${program.id}&file=${id}`);
  await page.getByRole('checkbox', { name: 'Pay uma' }).check();
  await page.getByRole('button', { name: 'Mark 1 line as paid' }).click();
  const line = row(page, 'Lines of the payout file', 'uma');
  await line.getByText('Paid', { exact: true }).waitFor(PATIENCE);
  await page.getByRole('button', { name: 'Mark the line of uma failed' }).click();
  const dialog = page.getByRole('dialog', { name: `Did the payment of ${money(8)} come back?` });
  await dialog.getByRole('button', { name: 'Mark failed' }).click();
  await dialog.getByText(/Reason must/).waitFor(PATIENCE);
  await dialog.getByLabel('Reason').fill('account closed');
  await expectGood(page, 'referrals-line-fails');
  await dialog.getByRole('button', { name: 'Mark failed' }).click();
  await line.getByText('Failed', { exact: true }).waitFor(PATIENCE);
  await line.getByText('account closed').waitFor();
  await expectGood(page, 'referrals-line-failed');
  await page.getByRole('dialog', { name: 'Payout lines' }).getByRole('button', { name: 'Close' }).click();
  const listed = row(page, 'All payout files', id);
  await listed.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Cancel the file' }).click();
  await expect.poll(async () => (await site.api<Payout>(`/payouts/${id}`)).status, PATIENCE).not.toBe('open');
  const { lines } = await site.api<Payout>(`/payouts/${id}`);
  expect(lines.map((one) => [one.external_user_id, one.status, one.fail_reason]).toSorted()).toEqual([
    ['uma', 'failed', 'account closed'],
    ['vic', 'open', null],
  ]);
  await page.close();
});

test('an address that a page changed warns, and setting it again pays at once', LONG, async () => {
  const program = await shop.program({ name: 'Addresses' });
  const { partner_id, ref } = await shop.enroll('wes', program);
  await shop.signup('wes-friend', ref);
  await shop.purchase('wes-friend', 'wes-order', 60);
  const changed = await fetch(`${site.service.api_url}/referrals/payout-method`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${site.service.demo?.publishable_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      external_user_id: 'wes',
      program_id: program.id,
      method: 'paypal',
      email: 'thief@pay.example',
      paypal_email: 'thief@pay.example',
    }),
  });
  expect(changed.status).toBe(200);
  const page = await site.open(`/referrals?tab=enrollments&partner=${partner_id}`);
  const warning = page.getByRole('dialog', { name: 'Referrer wes' }).getByText('New address: payable from');
  await warning.waitFor(PATIENCE);
  await row(page, 'Changes of the referrer', 'Payout address').first().waitFor();
  await expectGood(page, 'referrals-address-changed');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const edit = page.getByRole('dialog', { name: 'Edit referrer' });
  await edit.getByLabel('New payout address').fill('wes@pay.example');
  await edit.getByLabel('Own rate').fill('25');
  await expectGood(page, 'referrals-edit-referrer');
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByText('25 %').waitFor(PATIENCE);
  await warning.waitFor({ state: 'detached' });
  await page.close();
});

test('a bonus is added and rejected, and a referrer is erased after a question', LONG, async () => {
  const program = await shop.program({ name: 'Bonuses' });
  const { partner_id } = await shop.enroll('yul', program);
  const page = await site.open(`/referrals?tab=enrollments&partner=${partner_id}`);
  await page.getByRole('button', { name: 'Add bonus or claw-back' }).click();
  const dialog = page.getByRole('dialog', { name: 'Bonus or claw-back' });
  await dialog.getByLabel('Amount, in USD').fill('12.50');
  await dialog.getByLabel('Note').fill('for the talk');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const cash = async () => (await site.api<Cash>(`/enrollments/${partner_id}`)).balances.cash.usd;
  expect(await cash()).toMatchObject({ eligible: 12.5 });
  await page.getByRole('button', { name: 'Commissions' }).click();
  const bonus = row(page, 'Commissions', 'for the talk');
  await bonus.getByText(money(12.5)).waitFor(PATIENCE);
  await expectGood(page, 'referrals-commissions');
  await bonus.getByRole('button', { name: 'Reject' }).click();
  const question = page.getByRole('dialog', { name: `Reject the commission of ${money(12.5)}?` });
  await question.getByRole('button', { name: 'Reject', exact: true }).click();
  await bonus.getByText('Rejected').waitFor(PATIENCE);
  expect((await cash())?.eligible ?? 0).toBe(0);
  await choose(page, 'Status', 'Paid');
  await page.getByText('No commissions').waitFor(PATIENCE);
  await page.goto(`${site.app}/console/referrals?tab=enrollments&partner=${partner_id}`);
  await page.getByRole('button', { name: 'Erase' }).click();
  const erasing = page.getByRole('dialog', { name: 'Erase yul@mail.example?' });
  await erasing.getByRole('button', { name: 'Erase', exact: true }).click();
  await expectNotice(page, 'Referrer erased');
  await page.getByRole('button', { name: 'yul' }).waitFor({ state: 'detached' });
  await page.close();
});

test('an owner creates the identity secret and requires signed users', LONG, async () => {
  const page = await site.open('/settings');
  const section = page.getByRole('region', { name: 'Publishable keys' });
  expect(await section.getByLabel('Require signed users').isDisabled()).toBe(true);
  await section.getByRole('button', { name: 'Create the identity secret' }).click();
  const dialog = page.getByRole('dialog', { name: 'Identity secret' });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await section.getByLabel('Require signed users').check();
  await section.getByLabel('Days to hold a changed payout address').fill('7');
  await expectGood(page, 'settings-referrals');
  await section.getByRole('button', { name: 'Save' }).click();
  await expectNotice(page, 'Settings saved');
  expect(await site.api('/workspace')).toMatchObject({
    identity_verification: 'required',
    payout_hold_days: 7,
    identity_secret_set: true,
  });
  await page.close();
});
