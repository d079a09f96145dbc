import { expect, test } from 'vitest';
import type { GroupRecord } from '../../../api/referrals/groups/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood, expectNotice } from './console-site.ts';
import { choose, expectRows, LONG, merchantOf, PATIENCE, row } from './referral-shop.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const groups = async () =>
  (await site.api<{ partner_groups: GroupRecord[] }>('/partner-groups')).partner_groups;

test('a group is created, changed, given to a referrer, and deleted', LONG, async () => {
  const shop = merchantOf(site);
  const program = await shop.program({ name: 'Friends of the shop', commission_rate: 20, hold_days: 30 });
  await shop.enroll('grace', program, { name: 'Grace Hopper' });
  await shop.enroll('ada', program, { name: 'Ada Lovelace' });
  const page = await site.open('/referrals?tab=programs');
  await page.getByText('No groups yet').waitFor(PATIENCE);
  await page.getByRole('button', { name: 'Add a group' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a group' });
  await dialog.getByLabel('Name').fill('Newsletters');
  await dialog.getByLabel('Percent of each sale').fill('130');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText('must be at most 100 percent').waitFor(PATIENCE);
  await dialog.getByLabel('Percent of each sale').fill('30');
  await dialog.getByLabel('Hold period in days').fill('14');
  await expectGood(page, 'group-dialog');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expectNotice(page, 'Group added');
  await site.api('/partner-groups', {
    program_id: program.id,
    name: 'Large affiliates, who get a fixed amount for each sale and are paid early',
    commission_type: 'flat',
    commission_rate: 12.5,
    hold_days: 0,
    min_payout: 0,
  });
  await page.reload();
  await row(page, 'List of groups', 'Newsletters').getByText('30% of each sale').waitFor(PATIENCE);

  await page.goto(`${site.app}/console/referrals?tab=enrollments`);
  await page.getByRole('button', { name: /Grace Hopper/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Edit', exact: true }).click();
  const edit = page.getByRole('dialog', { name: 'Edit referrer' });
  await edit.getByRole('combobox', { name: 'Group' }).click();
  await page.getByRole('option', { name: 'Newsletters' }).click();
  await expectGood(page, 'group-of-referrer');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expectNotice(page, 'Referrer saved');
  const facts = page.getByRole('table', { name: 'Referrer details' });
  await facts.getByText('Newsletters').waitFor(PATIENCE);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await choose(page, 'Group', 'Newsletters');
  await expectRows(page, 'Enrollments', 1);

  await page.goto(`${site.app}/console/referrals?tab=programs`);
  await page.getByRole('button', { name: '1 referrer in the group Newsletters' }).waitFor(PATIENCE);
  await expectGood(page, 'groups');
  await page.getByRole('button', { name: 'Edit the group Newsletters' }).click();
  const change = page.getByRole('dialog', { name: 'Edit the group Newsletters' });
  await change.getByLabel('Hold period in days').fill('');
  await change.getByRole('button', { name: 'Save' }).click();
  await expectNotice(page, 'Group saved');
  expect(await groups()).toMatchObject([
    { partners: 0 },
    { name: 'Newsletters', hold_days: null, partners: 1 },
  ]);
  await page.getByRole('button', { name: 'Delete the group Newsletters' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).last().click();
  await expectNotice(page, 'Group deleted');
  expect(await groups()).toHaveLength(1);
  await page.close();
});
