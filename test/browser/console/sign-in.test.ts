import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood, PASSWORD } from './console-site.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const pathOf = (url: string) => url.slice(url.indexOf('/welcome'));
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const passwordField = (page: Page) => page.getByRole('textbox', { name: 'Password' });

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await passwordField(page).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('the link for the first owner of a workspace opens the console, once', async () => {
  const url = site.service.console_url ?? '';
  const page = await site.open(pathOf(url), { role: null });
  await heading(page, 'Welcome to demo');
  expect(await page.getByText('You are invited as Owner').isVisible()).toBe(true);
  // An IP address allows no passkeys; a link leads to the same page by host name.
  const byName = await page.getByRole('link', { name: 'open this page as localhost' }).getAttribute('href');
  expect(byName).toBe(url.replace('127.0.0.1', 'localhost'));
  await expectGood(page, 'welcome-password');

  const submit = page.getByRole('button', { name: 'Set the password and sign in' });
  await submit.click();
  await page.getByText('Password must have at least 8 characters.').waitFor();
  await page.getByText('Email is required with a password.').waitFor();
  await expectGood(page, 'welcome-refused');
  await page.getByLabel('Email').fill(`first@${site.mail}`);
  await passwordField(page).fill(PASSWORD);
  await submit.click();
  await heading(page, 'Overview');
  expect(page.url()).toBe(`${site.app}/console/`);
  expectClean(page);
  await page.close();

  const again = await site.open(pathOf(url), { role: null });
  await again.getByText('This invitation is not valid').waitFor();
  await expectGood(again, 'welcome-used');
  await again.getByRole('link', { name: 'Go to the sign-in' }).click();
  await heading(again, 'Sign in');
  await again.close();
});

test('a signed-out user signs in and stays on the requested page; signing out ends the session', async () => {
  const address = `stays@${site.mail}`;
  const [, token] = (await site.invite('analyst', address)).split('#');
  const page = await site.open('/settings?tab=members', { role: null });
  await heading(page, 'Sign in');
  await page.request.post(`${site.app}/api/v1/session/invite`, { data: { token, password: PASSWORD } });
  await page.context().clearCookies();

  await signIn(page, address, 'a wrong password');
  expect(await page.getByRole('alert').textContent()).toBe('Email or password is wrong.');
  await expectGood(page, 'sign-in-refused');
  await signIn(page, address, PASSWORD);
  await heading(page, 'Settings');
  await page.getByRole('tab', { name: 'Members', selected: true }).waitFor();

  await page.getByRole('button', { name: `Sign out ${address}` }).click();
  await heading(page, 'Sign in');
  await page.reload();
  await heading(page, 'Sign in');
  await expectGood(page, 'sign-in');
  await page.close();
});

test('a user signs in with the keyboard alone', async () => {
  await (await site.open('/', { role: 'operator' })).close();
  const page = await site.open('/', { role: null });
  await page.getByLabel('Email').focus();
  await page.keyboard.type(`operator@${site.mail}`);
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  // The typed password can be shown without a pointer too.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await expect.poll(() => passwordField(page).getAttribute('type')).toBe('text');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await heading(page, 'Overview');
  await page.close();
});

test('a passkey accepts an invitation without an email, and signs in later without one', async () => {
  const page = await site.open(pathOf(await site.invite('operator')), { role: null, host: 'localhost' });
  await addAuthenticator(page);
  await heading(page, 'Welcome to demo');
  await expectGood(page, 'welcome-passkey');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await heading(page, 'Overview');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in');
  await expectGood(page, 'sign-in-passkey');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await heading(page, 'Overview');
  expectClean(page);
  await page.close();
});

test('a browser without the passkey says so and lets the user retry', async () => {
  const page = await site.open('/', { role: null, host: 'localhost' });
  await addAuthenticator(page);
  await heading(page, 'Sign in');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('No passkey was chosen. Try again.').waitFor();
  await page.close();
});

test('a user with two workspaces chooses one', async () => {
  const address = `both@${site.mail}`;
  const made = await site.hoplog<{ workspace: { id: string } }>('workspace', 'create', '--name', 'Second');
  const second = await site.hoplog<{ invite: { url: string } }>(
    ...['console', 'invite', '--workspace', made.workspace.id, '--email', address],
  );
  const page = await site.open('/', { role: null });
  for (const url of [await site.invite('analyst', address), second.invite.url]) {
    const [, token] = url.split('#');
    await page.request.post(`${site.app}/api/v1/session/invite`, { data: { token, password: PASSWORD } });
  }
  await page.context().clearCookies();
  await heading(page, 'Sign in');
  await signIn(page, address, PASSWORD);
  await heading(page, 'Choose a workspace');
  await expectGood(page, 'sign-in-workspaces');
  await page.getByRole('button', { name: 'Second' }).click();
  await heading(page, 'Overview');
  expect(await page.getByTitle('Second').isVisible()).toBe(true);
  await page.close();
});

test('a member of several workspaces adds one, and switches between them', async () => {
  const made = await site.hoplog<{ workspace: { id: string } }>('workspace', 'create', '--name', 'Third');
  const address = `third@${site.mail}`;
  const { invite } = await site.hoplog<{ invite: { url: string } }>(
    ...['console', 'invite', '--workspace', made.workspace.id, '--email', address],
  );
  const accepted = await fetch(`${site.app}/api/v1/session/invite`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: invite.url.split('#')[1], password: PASSWORD }),
  });
  expect(accepted.status).toBe(200);
  const page = await site.open('/links');
  const switcher = (name: string) => page.getByRole('banner').getByRole('button', { name, exact: true });
  const dialog = page.getByRole('dialog', { name: 'Workspaces' });
  await switcher('demo').press('Enter');
  await dialog.getByRole('link', { name: 'Sign in to another workspace' }).press('Enter');
  await heading(page, 'Sign in to another workspace');
  await expectGood(page, 'add-workspace');
  await signIn(page, address, PASSWORD);
  await heading(page, 'Overview');
  await switcher('Third').press('Enter');
  await dialog.waitFor();
  await expectGood(page, 'workspaces');
  await dialog.getByRole('button', { name: /^demo/ }).press('Enter');
  await switcher('demo').waitFor();
  await heading(page, 'Overview');
  expect(await page.getByText('in another window').count()).toBe(0);
  await page.reload();
  await switcher('demo').waitFor();
  await page.close();
});

test('an expired invitation says how to get another', async () => {
  const page = await site.open(`/welcome#${'A'.repeat(43)}`, { role: null });
  await page.getByText('This invitation is not valid').waitFor();
  expect(await page.getByText('hoplog console invite').isVisible()).toBe(true);
  await page.close();
  const bare = await site.open('/welcome', { role: null });
  await bare.getByText('This invitation is not valid').waitFor();
  await bare.close();
});

// All files that share the service have one address, which may fail 30 times a minute.
test('after five wrong tries the page says how long to wait', async () => {
  const page = await site.open('/', { role: null });
  await heading(page, 'Sign in');
  const message = page.getByRole('alert');
  for (let wrong = 0; wrong < 5; wrong += 1) {
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/v1/session'));
    await signIn(page, `nobody@${site.mail}`, `wrong ${wrong}`);
    await answered;
    if ((await message.textContent())?.includes('Too many')) break;
  }
  await signIn(page, `nobody@${site.mail}`, 'wrong again');
  await page.getByText(/Too many failed attempts; try again in \d+ s/).waitFor();
  await expectGood(page, 'sign-in-locked');
  await page.close();
});
