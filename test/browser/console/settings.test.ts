import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { LIMIT_MS } from '../../support/until.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNotice,
  holdOwnReads,
  PASSWORD,
} from './console-site.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const row = (page: Page, email: string) => page.getByRole('row').filter({ hasText: email });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const textShown = (page: Page, text: string) => page.getByText(text).first().waitFor();

test("the first tab shows the workspace's properties, and the tab is in the address", async () => {
  const page = await site.open('/settings');
  await heading(page, 'Settings');
  await page.getByRole('combobox', { name: 'Attribution model' }).waitFor();
  await page.getByText('Links (without referral links)').waitFor();
  await page.getByText('Events this period (clicks, identifies, orders)').waitFor();
  await page.getByText(/^US\$0\.00, without a limit, until /).waitFor();
  await expectGood(page, 'settings-workspace');
  await page.getByRole('tab', { name: 'Your sign-in' }).click();
  await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();
  expect(new URL(page.url()).search).toBe('?tab=sign-in');
  await page.goBack();
  await page.getByRole('tab', { name: 'Workspace', selected: true }).waitFor();
  await page.close();
});

test('an owner changes how the workspace counts, and reads what it does before it is saved', async () => {
  type Settings = Record<string, unknown>;
  const settings = () => site.api<Settings>('/workspace');
  const before = await settings();
  const analyst = await site.open('/settings', { role: 'analyst' });
  const facts = analyst.getByRole('region', { name: 'Figures and tracking' });
  await facts.getByText('30 days', { exact: true }).waitFor();
  await facts.getByText('An owner of the workspace can change these settings.').waitFor();
  expect(await facts.getByRole('textbox').or(facts.getByRole('combobox')).count()).toBe(0);
  await expectGood(analyst, 'settings-read-only');
  await analyst.close();

  const page = await site.open('/settings');
  const form = page.getByRole('region', { name: 'Figures and tracking' });
  const effects = form.getByRole('status').filter({ hasText: 'What this changes' });
  await form.getByLabel('Attribution model').selectOption('Linear: all clicks share');
  await effects.getByText('Attribution model Linear: all clicks share. Orders and leads').waitFor();
  await form.getByRole('textbox', { name: 'Attribution window, in days' }).fill('400');
  await effects.getByText('Attribution window of 400 days.').waitFor();
  await form.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await form.getByLabel('Own site').fill('corner.example');
  await form.getByLabel('Tracking').selectOption('Cookieless: within a day');
  await effects.getByText('Orders are attributed only where a person is identified by email').waitFor();
  await expectGood(page, 'settings-changed');
  expect(await settings()).toEqual(before);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText(/^Attribution window must be/).waitFor();
  expect(await settings()).toEqual(before);
  await form.getByRole('textbox', { name: 'Attribution window, in days' }).fill('14');
  await form.getByRole('button', { name: 'Save' }).click();
  await expectNotice(page, 'Settings saved');
  const now = {
    attribution_model: 'linear',
    attribution_window: 14,
    time_zone: 'Asia/Tokyo',
    tracking: 'cookieless',
  };
  expect(await settings()).toEqual({ ...before, ...now, primary_domain: 'corner.example' });

  // Deleting clicks asks again.
  await form.getByRole('textbox', { name: 'Months that clicks are kept' }).fill('12');
  await effects.getByText('Clicks older than 12 months are deleted').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  const question = page.getByRole('dialog', { name: 'Delete older clicks?' });
  await expectGood(page, 'settings-delete-clicks', 'each once');
  await question.getByRole('button', { name: 'Save and delete' }).click();
  await expect.poll(async () => (await settings()).retention_months, { timeout: LIMIT_MS }).toBe(12);
  // Otherwise the guard of unsaved changes would stop the reload.
  await question.waitFor({ state: 'detached' });
  await page.reload();
  await expect
    .poll(() => form.getByLabel('Time zone').inputValue(), { timeout: LIMIT_MS })
    .toBe('Asia/Tokyo');
  await site.api(
    '/workspace',
    {
      attribution_model: 'last_click',
      attribution_window: 30,
      time_zone: null,
      tracking: 'full',
      retention_months: null,
    },
    'PATCH',
  );
  expectClean(page);
  await page.close();
});

test('what another owner changes meanwhile shows, and takes nothing that was typed', async () => {
  await site.api('/workspace', { attribution_window: 30, time_zone: null, payout_hold_days: 3 }, 'PATCH');
  const page = await site.open('/settings');
  const form = page.getByRole('region', { name: 'Figures and tracking' });
  const keys = page.getByRole('region', { name: 'Publishable keys' });
  const effects = form.getByRole('status').filter({ hasText: 'What this changes' });
  const days = form.getByRole('textbox', { name: 'Attribution window, in days' });
  await days.fill('21');
  await keys.getByRole('textbox', { name: 'Allowed origins' }).fill('https://shop.example');
  await site.api('/workspace', { time_zone: 'Europe/Paris', payout_hold_days: 9 }, 'PATCH');
  // Saving one form reads the settings of both again.
  await keys.getByRole('button', { name: 'Save' }).click();
  const zone = form.getByLabel('Time zone');
  await expect.poll(() => zone.inputValue(), { timeout: LIMIT_MS }).toBe('Europe/Paris');
  const hold = keys.getByRole('textbox', { name: 'Days to hold a changed payout address' });
  expect([await days.inputValue(), await hold.inputValue()]).toEqual(['21', '9']);
  expect(await effects.getByRole('listitem').allTextContents()).toEqual([
    expect.stringContaining('Attribution window of 21 days.'),
  ]);
  expect(await site.api('/workspace')).toMatchObject({
    allowed_origins: ['https://shop.example'],
    payout_hold_days: 9,
    attribution_window: 30,
  });

  // What is typed while a change is sent is not part of it, and stays.
  let send = () => {};
  const held = new Promise<void>((resolve) => {
    send = resolve;
  });
  await page.route('**/api/v1/workspace', async (route) => {
    if (route.request().method() === 'PATCH') await held;
    await route.continue();
  });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByLabel('Name').fill('Typed meanwhile');
  send();
  await expect
    .poll(() => effects.getByRole('listitem').allTextContents(), { timeout: LIMIT_MS })
    .toEqual(['The name of the workspace. No figure changes.']);
  expect(await site.api('/workspace')).toMatchObject({ attribution_window: 21 });
  await form.getByRole('button', { name: 'Discard' }).click();
  await effects.waitFor({ state: 'detached' });
  expect(await form.getByLabel('Name').inputValue()).toBe('demo');
  await site.api(
    '/workspace',
    { attribution_window: 30, time_zone: null, payout_hold_days: 3, allowed_origins: [] },
    'PATCH',
  );
  expectClean(page);
  await page.close();
});

test('an owner names the origins whose pages may use a publishable key', async () => {
  const origins = async () => (await site.api<{ allowed_origins: string[] }>('/workspace')).allowed_origins;
  await site.api('/workspace', { primary_domain: 'corner.example', allowed_origins: [] }, 'PATCH');
  const page = await site.open('/settings');
  const keys = page.getByRole('region', { name: 'Publishable keys' });
  const field = keys.getByRole('textbox', { name: 'Allowed origins' });
  const effects = keys.getByRole('status').filter({ hasText: 'What this changes' });
  await field.fill('shop.example\nhttps://*.shop.example');
  await effects
    .getByText(
      'Calls from pages of origins other than https://shop.example, https://*.shop.example are refused',
    )
    .waitFor();
  await effects.getByText('None of these origins is on your own site, corner.example.').waitFor();
  await keys.getByRole('button', { name: 'Save' }).click();
  await keys.getByText('“https://*.shop.example” must be an origin such as https://shop.example').waitFor();
  expect(await origins()).toEqual([]);
  await expectGood(page, 'settings-origins');

  // The address of a page becomes its origin.
  await field.fill('https://shop.example/cart?item=1\nhttps://shop.example\ncapacitor://localhost');
  await keys.getByRole('button', { name: 'Save' }).click();
  const named = ['https://shop.example', 'capacitor://localhost'];
  await expect.poll(origins, { timeout: LIMIT_MS }).toEqual(named);
  await expect.poll(() => field.inputValue(), { timeout: LIMIT_MS }).toBe(named.join('\n'));
  await effects.waitFor({ state: 'detached' });
  const analyst = await site.open('/settings', { role: 'analyst' });
  const facts = analyst.getByRole('region', { name: 'Publishable keys' });
  await facts.getByText('capacitor://localhost', { exact: true }).waitFor();
  expect(await facts.getByRole('textbox').count()).toBe(0);
  await analyst.close();

  await field.fill('');
  await effects.getByText('Pages of any origin can use a publishable key.').waitFor();
  await keys.getByRole('button', { name: 'Save' }).click();
  await expect.poll(origins, { timeout: LIMIT_MS }).toEqual([]);
  await effects.waitFor({ state: 'detached' });
  expectClean(page);
  await page.close();
});

test('an owner invites a person, changes the role and removes the member, each at once', async () => {
  const owner = await site.open('/settings?tab=members');
  await press(owner, 'Invite');
  const dialog = owner.getByRole('dialog');
  await dialog.getByLabel('Email').fill('not an address');
  await press(owner, 'Create the link');
  await dialog.getByText('Email must be an email address.').waitFor();
  await expectGood(owner, 'settings-invite-refused');
  await dialog.getByLabel('Email').fill(`Guest@${site.mail}`);
  const address = `guest@${site.mail}`;
  await press(owner, 'Create the link');
  const link = dialog.locator('code');
  await link.waitFor();
  const url = (await link.textContent()) ?? '';
  expect(url).toMatch(new RegExp(`^${site.app}/console/welcome#[\\w-]{43}$`));
  // Neither a mistaken key nor a press outside removes the link, which is shown only once.
  await owner.keyboard.press('Escape');
  await owner.mouse.click(5, 500);
  await expectGood(owner, 'settings-invite-link');
  expect(await link.textContent()).toBe(url);
  await press(owner, 'Done');
  await link.waitFor({ state: 'detached' });

  const guest = await site.open(url.slice(url.indexOf('/welcome')), { role: null });
  await heading(guest, 'Welcome to demo');
  expect(await guest.getByLabel('Email').inputValue()).toBe(address);
  await guest.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await press(guest, 'Set the password and sign in');
  await heading(guest, 'Overview');
  await guest.goto(`${site.app}/console/settings?tab=members`);
  await row(guest, address).getByText('Analyst').waitFor();
  expect(await guest.getByRole('button', { name: /Invite|Remove/ }).count()).toBe(0);
  expect(await guest.getByRole('combobox').count()).toBe(0);
  await expectGood(guest, 'settings-members-analyst');

  await owner.reload();
  const role = owner.getByLabel(`Role of ${address}`);
  await role.selectOption('Operator');
  await expectNotice(owner, `${address} is now operator`);
  await expectGood(owner, 'settings-members');
  await holdOwnReads(guest);
  await guest.reload();
  await row(guest, address).getByText('Operator').waitFor();

  await press(owner, `Remove ${address}`);
  await owner.getByText('They are signed out everywhere at once').waitFor();
  await expectGood(owner, 'settings-remove');
  await owner.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expectNotice(owner, `${address} was removed`);
  await row(owner, address).waitFor({ state: 'detached' });
  // The removed member's next action leads to the sign-in.
  await guest.getByRole('tab', { name: 'Your sign-in' }).click();
  await heading(guest, 'Sign in');
  expectClean(owner);
  await guest.close();
  await owner.close();
});

test('a member signs other browsers out, one or all of them', async () => {
  const page = await site.open('/settings?tab=sign-in', { role: 'analyst' });
  const sessions = page.getByRole('list', { name: 'Your sessions' }).getByRole('listitem');
  await sessions.first().waitFor();
  const before = await sessions.count();
  const signIn = async () => {
    const other = await site.open('/', { role: null });
    await other.getByLabel('Email').fill(`analyst@${site.mail}`);
    await other.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await press(other, 'Sign in');
    await heading(other, 'Overview');
    return other;
  };
  const others = [await signIn(), await signIn(), await signIn()];
  await page.reload();
  await expect.poll(() => sessions.count()).toBe(before + 3);
  expect(await sessions.filter({ hasText: 'This browser' }).count()).toBe(1);
  await expectGood(page, 'settings-sign-in');
  await page
    .getByRole('button', { name: /^Sign out Chrome/ })
    .first()
    .click();
  await expect.poll(() => sessions.count()).toBe(before + 2);
  await press(page, 'Sign out everywhere else');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await expect.poll(() => sessions.count()).toBe(1);
  for (const other of others) {
    await other.reload();
    await heading(other, 'Sign in');
    await other.close();
  }
  await page.close();
});

test('a password is changed by a user who knows it', async () => {
  const page = await site.open('/settings?tab=sign-in', { role: 'operator' });
  const current = page.getByRole('textbox', { name: 'Current password' });
  const next = page.getByRole('textbox', { name: 'New password' });
  await current.fill('not my password');
  await next.fill('short');
  await press(page, 'Change the password');
  await textShown(page, 'New password must have at least 8 characters.');
  await next.fill('another good password');
  await press(page, 'Change the password');
  await textShown(page, 'Current password is wrong.');
  await expectGood(page, 'settings-password-refused');
  await current.fill(PASSWORD);
  await press(page, 'Change the password');
  await expectNotice(page, 'Your password is set');
  await expect.poll(() => next.inputValue()).toBe('');
  expectClean(page);
  await page.close();
});

test('passkeys are added and removed, but not the last way to sign in', async () => {
  const page = await site.open('/settings?tab=sign-in', { role: 'operator', host: 'localhost' });
  await addAuthenticator(page);
  await textShown(page, 'No passkeys yet.');
  await press(page, 'Add a passkey');
  await expectNotice(page, 'The passkey was added');
  const passkeys = page.getByRole('list', { name: 'Your passkeys' }).getByRole('listitem');
  await passkeys.first().waitFor();
  expect(await passkeys.first().textContent()).toMatch(/Chrome.* on Linux.*never used/);
  await expectGood(page, 'settings-passkeys');
  // A press within half a second after the success belongs to the first, as of a double click.
  await expect
    .poll(async () => {
      await press(page, 'Add a passkey');
      return page.getByText('This device already has a passkey for you.').count();
    })
    .toBeGreaterThan(0);
  await passkeys.first().getByRole('button').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await textShown(page, 'No passkeys yet.');
  await page.close();
});

test('an owner reads the audit log, and others have no tab for it', async () => {
  const page = await site.open('/settings?tab=audit-log');
  const log = page.getByRole('region', { name: 'Entries of the audit log' });
  await log.getByText('invite.accept').first().waitFor();
  await expectGood(page, 'settings-audit-log');
  const analyst = await site.open('/settings?tab=audit-log', { role: 'analyst' });
  await analyst.getByRole('tab', { name: 'Members' }).waitFor();
  expect(await analyst.getByRole('tab', { name: 'Audit log' }).count()).toBe(0);
});
