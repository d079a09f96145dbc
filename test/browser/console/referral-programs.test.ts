import { expect, test } from 'vitest';
import type { ProgramRecord } from '../../../api/referrals/programs/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood, expectNotice } from './console-site.ts';
import { LONG, merchantOf, money, PATIENCE, row, type Shop } from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;

inChromium(async () => {
  site = await consoleSite();
  shop = merchantOf(site);
  return site.close;
});

test('a program is created on the page, with its field errors, changed and paused', LONG, async () => {
  const page = await site.open('/referrals', { keepsUndo: true });
  await page.getByText('No programs yet').waitFor({ timeout: 120_000 });
  await expectGood(page, 'referrals-empty');
  // So that the back button has a target on this page.
  expect(await page.getByRole('tab').allTextContents()).toEqual([
    'Overview',
    'Referrers',
    'Payouts',
    'Program',
  ]);
  await page.getByRole('combobox', { name: 'More parts of referrals' }).selectOption('Ledger');
  await page.getByRole('tab', { name: 'Ledger', selected: true }).waitFor();
  await page.getByRole('tab', { name: 'Program', exact: true }).click();
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await dialog.getByLabel('Name').fill('Bring a friend');
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 500);
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: 'Stay' }).click();
  await question.waitFor({ state: 'detached' });
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Bring a friend');
  await dialog.getByLabel('Destination URL').fill('http://shop.example/join');
  await expectGood(page, 'referrals-program-new');
  await dialog.getByRole('button', { name: 'Next: Rewards' }).click();
  await dialog.getByLabel('Percentage of a sale').fill('12.5');
  await dialog.getByLabel('Holding period, in days').fill('0');
  await dialog.getByRole('button', { name: 'Add level 2' }).click();
  await dialog.getByLabel('Level 2, in percent').fill('2.5');
  const summary = dialog.getByRole('region', { name: 'Summary' });
  await summary.getByText('Referrers earn 12.5% of every payment, paid out by PayPal.').waitFor();
  await summary.getByText(/^Example: A customer who pays .* for 12 months brings /).waitFor();
  await expectGood(page, 'referrals-program-rewards');
  await dialog.getByRole('button', { name: 'Next: Payouts' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const url = dialog.getByRole('textbox', { name: 'Destination URL' });
  await expect.poll(() => url.getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await expect
    .poll(() => url.evaluate('document.activeElement.getAttribute("aria-invalid")'), PATIENCE)
    .toBe('true');
  await expectGood(page, 'referrals-program-refused');
  await url.fill('https://shop.example/join');
  await dialog.getByRole('textbox', { name: 'Code' }).fill('bring-a-friend');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const card = page.getByRole('article', { name: 'Bring a friend' });
  await card.waitFor();
  const link = new URL('/bring-a-friend', site.service.short_url).href;
  expect(await card.textContent()).toContain(link);
  expect(await card.textContent()).toContain('12.5% of each sale');
  const { programs } = await site.api<{ programs: ProgramRecord[] }>('/programs');
  const [made] = programs;
  if (!made) throw new Error('the page created no program');
  expect(made).toMatchObject({
    name: 'Bring a friend',
    code: 'bring-a-friend',
    destination_url: 'https://shop.example/join',
    commission_rate: 12.5,
    hold_days: 0,
    levels: [2.5],
    commission_months: null,
  });

  await card.getByRole('button', { name: 'Edit Bring a friend' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit Bring a friend' });
  await edit.getByLabel('Reward with credits').check();
  await edit.getByLabel('Referrers may become affiliates').check();
  await edit.getByLabel('For the new user').fill('1.5');
  await edit.getByLabel('Minimum payout').fill('5');
  await expectGood(page, 'referrals-program-edit');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });
  expect(await site.api(`/programs/${made.id}`)).toMatchObject({
    ...made,
    credit_enabled: true,
    allow_affiliate_upgrade: true,
    referee_credit: 1.5,
    min_payout: 5,
    updated_at: expect.any(String),
  });
  await card.getByRole('button', { name: 'Pause Bring a friend' }).click();
  await card.getByText('Paused', { exact: true }).waitFor();
  expect(await site.api(`/programs/${made.id}`)).toMatchObject({ status: 'paused' });
  await card.getByRole('button', { name: 'Resume Bring a friend' }).click();
  await card.getByText('Active', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Pause Bring a friend' }).click();
  await card.getByText('Paused', { exact: true }).waitFor();
  await expect.poll(() => page.getByText('Bring a friend paused').count(), PATIENCE).toBe(2);
  await page.keyboard.press('Control+z');
  await expectNotice(page, 'Undone');
  await card.getByText('Active', { exact: true }).waitFor();
  expect(await site.api(`/programs/${made.id}`)).toMatchObject({ status: 'active' });
  await expectGood(page, 'referrals-programs');

  const { ref } = await shop.enroll('ann', made);
  await site.api('/referrals/reward-mode', { external_user_id: 'ann', mode: 'affiliate' });
  await shop.signup('ann-friend', ref);
  await shop.purchase('ann-friend', 'first-order', 99.99);
  await page.getByRole('tab', { name: 'Referrers' }).click();
  await row(page, 'Enrollments', 'ann@mail.example').getByText(money(12.5)).waitFor();
  expect(new URL(page.url()).searchParams.get('tab')).toBe('enrollments');
  // A person is added by hand, and their link is there to be sent.
  await page.getByRole('button', { name: 'Add a referrer' }).click();
  const add = page.getByRole('dialog', { name: 'Add a referrer' });
  await add.getByRole('textbox', { name: 'Email' }).fill('not an address');
  await add.getByRole('button', { name: 'Add', exact: true }).click();
  await add.getByRole('textbox', { name: 'Email' }).and(page.locator('[aria-invalid=true]')).waitFor();
  await expectGood(page, 'referrals-add');
  await add.getByRole('textbox', { name: 'Email' }).fill('grace@mail.example');
  await add.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper');
  await page.keyboard.press('Enter');
  const referral = await add.getByText(/^http.*\/\w+$/).textContent();
  await add.getByRole('button', { name: 'Copy the referral link' }).waitFor();
  await expectGood(page, 'referrals-added');
  await add.getByRole('button', { name: 'Done' }).click();
  await row(page, 'Enrollments', 'grace@mail.example').getByText('Grace Hopper').waitFor();
  const { enrollments } = await site.api<{ enrollments: { referral_link: string }[] }>(
    '/enrollments?search=grace',
  );
  expect(enrollments.map(({ referral_link }) => referral_link)).toEqual([referral]);
  await page.close();
});

test('an empty form names every required field at once', LONG, async () => {
  const page = await site.open('/referrals');
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  const step = (name: string) => dialog.getByRole('button', { name: new RegExp(`^\\d? ?${name}$`) });
  await step('Rewards').click();
  await dialog.getByLabel('Reward with credits').check();
  for (const name of ['Program', 'Rewards', 'Payouts', 'Protection']) {
    await step(name).click();
    for (const field of await dialog.getByRole('textbox').all()) await field.fill('');
  }
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Some fields are invalid. See the messages below them.').waitFor();
  const wrong =
    '[...document.querySelectorAll("[aria-invalid=true]")].map((field) => field.labels[0].textContent)';
  const wrongIn: Record<string, string[]> = {
    Program: ['Name *', 'Destination URL *'],
    Rewards: ['Percentage of a sale *', 'Holding period, in days *', 'Credit name'],
    Payouts: ['Currency'],
    Protection: [],
  };
  // The first step with an error opens by itself.
  for (const [name, labels] of Object.entries(wrongIn)) {
    await expect.poll(() => page.evaluate(wrong), PATIENCE).toEqual(labels);
    expect([name, await dialog.getByText('is required').count()]).toEqual([name, labels.length]);
    const next = dialog.getByRole('button', { name: /^Next/ });
    if (await next.isVisible()) await next.click();
  }
  await page.close();
});

test('a template sets the terms, and the program of two fields is what its summary says', LONG, async () => {
  const page = await site.open('/referrals');
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await dialog.getByRole('button', { name: 'Give and get credits' }).click();
  await dialog.getByText('Example: 10 friends who sign up and buy once bring 600 credits.').waitFor();
  await dialog.getByRole('button', { name: 'Recurring commission' }).click();
  await dialog
    .getByText('Referrers earn 20% of every payment for 12 months, paid out by PayPal after 30 days.')
    .waitFor();
  await dialog.getByLabel('Name').fill('Of a template');
  await dialog.getByLabel('Destination URL').fill('https://shop.example/join');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { programs } = await site.api<{ programs: ProgramRecord[] }>('/programs');
  expect(programs.find(({ name }) => name === 'Of a template')).toMatchObject({
    commission_type: 'percent',
    commission_rate: 20,
    commission_months: 12,
    credit_enabled: false,
  });
  await page.close();
});

test('a share is shown with all of its decimals', LONG, async () => {
  await shop.program({ name: 'A third', commission_rate: 33.333, levels: [0.125] });
  const page = await site.open('/referrals?tab=programs');
  const card = page.getByRole('article', { name: 'A third' });
  await card.getByText('33.333% of each sale').waitFor();
  await card.getByText('0.125% for the levels above').waitFor();
  await page.close();
});

test(
  'an emptied number is requested when required, else unset; fields of credits matter with credits only',
  LONG,
  async () => {
    const made = await shop.program({
      name: 'Emptied',
      min_payout: 5,
      hold_days: 7,
      credit_enabled: true,
      purchase_credit: 3,
    });
    const page = await site.open('/referrals?tab=programs');
    await page.getByRole('button', { name: 'Edit Emptied' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit Emptied' });
    const share = edit.getByLabel('Percentage of a sale');
    const save = edit.getByRole('button', { name: 'Save' });
    await share.fill('');
    await edit.getByLabel('Holding period, in days').fill('');
    await edit.getByLabel('Minimum payout').fill('');
    await edit.getByLabel('For a purchase').fill('');
    await save.click();
    await expect.poll(() => share.getAttribute('aria-invalid'), PATIENCE).toBe('true');
    await expect.poll(() => edit.getByText('is required').count(), PATIENCE).toBe(2);
    await expectGood(page, 'referrals-program-emptied');
    expect(await site.api(`/programs/${made.id}`)).toEqual(made);
    await share.fill('12');
    await edit.getByLabel('Holding period, in days').fill('0');

    const code = edit.getByRole('textbox', { name: 'Code' });
    await code.fill('');
    await save.click();
    await expect.poll(() => code.getAttribute('aria-invalid'), PATIENCE).toBe('true');
    expect(await site.api(`/programs/${made.id}`)).toEqual(made);
    await code.fill(made.code);

    await edit.getByLabel('Credit name').fill('');
    await save.click();
    await edit.getByText('One field is invalid').waitFor();
    await edit.getByLabel('Reward with credits').uncheck();
    await edit.getByText('credit_kind: ').waitFor();
    await edit.getByLabel('Reward with credits').check();
    await edit.getByLabel('Credit name').fill('points');
    await save.click();
    await edit.waitFor({ state: 'detached' });
    const emptied = { commission_rate: 12, hold_days: 0, min_payout: 0, purchase_credit: 0 };
    expect(await site.api(`/programs/${made.id}`)).toMatchObject({ ...emptied, credit_kind: 'points' });

    await page.getByRole('button', { name: 'Edit Emptied' }).click();
    await edit.getByLabel('For a signup, referrer on a free plan').fill('4');
    await site.api(`/programs/${made.id}`, { signup_credit: { free: 1, paid: 9 } }, 'PATCH');
    await save.click();
    await edit.waitFor({ state: 'detached' });
    expect(await site.api(`/programs/${made.id}`)).toMatchObject({ signup_credit: { free: 4, paid: 9 } });

    await page.getByRole('button', { name: 'Edit Emptied' }).click();
    await edit.getByLabel('Credit name').fill('');
    await edit.getByLabel('Reward with credits').uncheck();
    // Fields that were not edited do not undo another person's changes.
    await site.api(`/programs/${made.id}`, { hold_days: 21 }, 'PATCH');
    await save.click();
    await edit.waitFor({ state: 'detached' });
    expect(await site.api(`/programs/${made.id}`)).toMatchObject({
      ...emptied,
      hold_days: 21,
      credit_enabled: false,
      credit_kind: 'points',
    });
    await page.close();
  },
);

test('numbers are saved as typed, and text that is not a number is rejected at its field', LONG, async () => {
  const page = await site.open('/referrals');
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await dialog.getByLabel('Name').fill('Typed');
  await dialog.getByLabel('Destination URL').fill('https://shop.example/join');
  await dialog.getByRole('button', { name: /^2 ?Rewards$/ }).click();
  await dialog.getByLabel('Reward with credits').check();
  await dialog.getByRole('button', { name: 'Add level 2' }).click();
  await dialog.getByRole('button', { name: 'Add level 3' }).click();
  /** Empties the field and types key by key: a partial number must stay until it is complete. */
  const type = async (label: string, text: string) => {
    const field = dialog.getByLabel(label);
    await field.clear();
    await field.pressSequentially(text);
    expect(await field.inputValue()).toBe(text);
  };
  await type('Percentage of a sale', '12,5');
  await type('Holding period, in days', '1.5');
  await type('Months that earn commission', '12x');
  await type('Level 2, in percent', '1.2.3');
  await type('Level 3, in percent', '0.05');
  await type('For the new user', '1 000');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect.poll(() => dialog.getByText('must be a number, such as 12.5').count(), PATIENCE).toBe(3);
  expect(await dialog.getByText('must be a whole number').count()).toBe(2);
  await expectGood(page, 'referrals-program-no-numbers');

  await type('Percentage of a sale', '7.5');
  await type('Holding period, in days', '15');
  await type('Months that earn commission', '12');
  await type('Level 2, in percent', '1.05');
  await type('For the new user', '10.');
  await type('For a purchase', '.5');
  await dialog.getByRole('button', { name: 'Next: Payouts' }).click();
  await type('Minimum payout', '12.50');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { programs } = await site.api<{ programs: ProgramRecord[] }>('/programs');
  const made = programs.find(({ name }) => name === 'Typed');
  expect(made).toMatchObject({
    commission_rate: 7.5,
    hold_days: 15,
    commission_months: 12,
    levels: [1.05, 0.05],
    referee_credit: 10,
    purchase_credit: 0.5,
    min_payout: 12.5,
  });

  await page.getByRole('button', { name: 'Edit Typed' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit Typed' });
  const share = edit.getByLabel('Percentage of a sale');
  await share.press('End');
  await share.press('Backspace');
  await share.pressSequentially('75');
  expect(await share.inputValue()).toBe('7.75');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });
  expect(await site.api(`/programs/${made?.id}`)).toMatchObject({ commission_rate: 7.75, min_payout: 12.5 });
  await page.close();
});
