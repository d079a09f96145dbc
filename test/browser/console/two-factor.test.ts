import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNotice,
  PASSWORD,
} from './console-site.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
/** A code of a step that is `steps` from now. */
const codeOf = (secret: string, steps = 0) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + 30 * steps });

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await press(page, 'Sign in');
}

test('a member turns on two-factor sign-in, signs in with codes, and turns it off', async () => {
  const email = `app@${site.mail}`;
  const url = await site.invite('analyst', email);
  const page = await site.open(url.slice(url.indexOf('/welcome')), { role: null });
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await press(page, 'Set the password and sign in');
  await heading(page, 'Overview');
  await page.goto(`${site.app}/console/settings?tab=sign-in`);
  const section = page.getByRole('region', { name: 'Two-factor sign-in' });
  await section.getByText('Off.').waitFor();
  await expectGood(page, 'two-factor-off');

  await section.getByRole('button', { name: 'Turn on' }).click();
  const setup = dialog(page, 'Turn on two-factor sign-in');
  await setup.getByAltText('QR code for your authenticator app').waitFor();
  const secret = (await setup.locator('code').textContent()) ?? '';
  await setup.getByLabel('Code').fill('1');
  await setup.getByRole('button', { name: 'Turn on' }).click();
  await setup.locator('[class*=error]').first().waitFor();
  await expectGood(page, 'two-factor-setup');
  await setup.getByLabel('Code').fill(codeOf(secret));
  await setup.getByRole('button', { name: 'Turn on' }).click();
  const made = dialog(page, 'Your recovery codes');
  const codes = ((await made.locator('pre').textContent()) ?? '').split('\n');
  expect(codes).toHaveLength(10);
  await page.keyboard.press('Escape');
  await expectGood(page, 'two-factor-recovery-codes');
  await made.getByRole('button', { name: 'Done' }).click();
  await section.getByText(/On since .*10 recovery codes left/).waitFor();
  await expectGood(page, 'two-factor-on');

  const other = await site.open('/', { role: null });
  await signIn(other, email);
  await heading(other, 'Enter a code');
  await other.getByLabel('Code').fill('000000');
  await press(other, 'Sign in');
  await other.getByText('Code is wrong, or was used before.').waitFor();
  await expectGood(other, 'sign-in-code');
  // Later than the code that turned it on.
  await other.getByLabel('Code').fill(codeOf(secret, 1));
  await press(other, 'Sign in');
  await heading(other, 'Overview');
  expectClean(other);
  await other.close();

  const third = await site.open('/', { role: null });
  await signIn(third, email);
  await third.getByLabel('Code').fill(codes[0] ?? '');
  await press(third, 'Sign in');
  await heading(third, 'Overview');
  await third.close();

  await page.reload();
  await section.getByText('9 recovery codes left').waitFor();
  await section.getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  await section.getByText('Off.').waitFor();
  expectClean(page);
  await page.close();
});

test('a change of access asks for the password, and continues; without it nothing changes', async () => {
  const page = await site.open('/settings/developers');
  await heading(page, 'Developers');
  await site.forgetConfirmations();
  await press(page, 'New key');
  const form = dialog(page, 'New key');
  await form.getByLabel('Name').fill('asked');
  await form.getByRole('button', { name: 'Create' }).click();
  const confirm = dialog(page, 'Confirm that it is you');
  await confirm.getByLabel('Password', { exact: true }).fill('not my password');
  await confirm.getByRole('button', { name: 'Confirm' }).click();
  await confirm.getByText('Password is wrong.').waitFor();
  await expectGood(page, 'confirm-identity');
  // Escape leaves the form that asked.
  await confirm.getByLabel('Password', { exact: true }).press('Escape');
  await form.getByText('Nothing was changed, because you did not confirm that it is you.').waitFor();
  expect(await form.getByLabel('Name').inputValue()).toBe('asked');

  await form.getByRole('button', { name: 'Create' }).click();
  await confirm.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await confirm.getByRole('button', { name: 'Confirm' }).click();
  await dialog(page, 'The key is ready')
    .getByText(/lk_live_/)
    .waitFor();
  await press(page, 'Done');
  // The next change within ten minutes is not asked for.
  await press(page, 'New key');
  await form.getByRole('button', { name: 'Create' }).click();
  await dialog(page, 'The key is ready').waitFor();
  await page.close();
});

test('a passkey confirms too', async () => {
  const page = await site.open('/settings?tab=sign-in', { role: 'analyst', host: 'localhost' });
  await addAuthenticator(page);
  await press(page, 'Add a passkey');
  await expectNotice(page, 'The passkey was added');
  await site.forgetConfirmations();
  const passkeys = page.getByRole('list', { name: 'Your passkeys' }).getByRole('listitem');
  await passkeys.first().getByRole('button').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  const confirm = dialog(page, 'Confirm that it is you');
  await confirm.getByRole('button', { name: 'Use a passkey' }).waitFor();
  await expectGood(page, 'confirm-identity-passkey');
  await confirm.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('No passkeys yet.').waitFor();
  await page.close();
});
