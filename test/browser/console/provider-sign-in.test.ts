import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type TestProvider,
} from '../../support/identity-provider.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, expectGood, startConsoleSite } from './console-site.ts';

let site: ConsoleSite;
let provider: TestProvider;

inChromium(async () => {
  provider = await startIdentityProvider(() => `${site.app}/console/oidc/callback`);
  site = await startConsoleSite({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_NAME: 'Shop accounts',
    OIDC_ALLOWED_DOMAINS: 'shop.example',
    OIDC_GROUP_ROLES: 'admins:owner',
    OIDC_SCOPES: 'openid email groups',
  });
  return async () => {
    await site.close();
    await provider.stop();
  };
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const signIn = (page: Page) => page.getByRole('link', { name: 'Sign in with Shop accounts' }).click();

async function logIn(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
}

test('a person signs in with the provider, and comes back to the page', async () => {
  provider.people.set('ann', { email: 'ann@shop.example', email_verified: true, groups: ['admins'] });
  const page = await site.open('/settings?tab=members', { role: null });
  await heading(page, 'Sign in');
  await page.getByRole('link', { name: 'Sign in with Shop accounts' }).waitFor();
  await expectGood(page, 'sign-in-provider');
  await signIn(page);
  await logIn(page, 'ann');
  await page.locator('button[type=submit]').click();
  await heading(page, 'Settings');
  expect(new URL(page.url()).search).toBe('?tab=members');
  await page.getByRole('row').filter({ hasText: 'ann@shop.example' }).getByText('Owner').first().waitFor();

  // A change of access requires a sign-in at the provider again.
  await site.forgetConfirmations();
  await page.goto(`${site.app}/console/settings/developers`);
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('dialog', { name: 'New key' }).getByRole('button', { name: 'Create' }).click();
  const again = page.getByRole('link', { name: 'Sign in with Shop accounts again' });
  await again.waitFor();
  page.watched.foreign.length = 0; // the provider's own pages
  await expectGood(page, 'confirm-identity-provider');
  await again.click();
  await logIn(page, 'ann');
  await heading(page, 'Developers');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('dialog', { name: 'New key' }).getByRole('button', { name: 'Create' }).click();
  await page.getByRole('dialog', { name: 'The key is ready' }).waitFor();
  await page.close();
});

test('a person who may not sign in reads why', async () => {
  provider.people.set('bob', { email: 'bob@shop.example', email_verified: true, groups: [] });
  const page = await site.open('/', { role: null });
  await heading(page, 'Sign in');
  await signIn(page);
  await logIn(page, 'bob');
  await page.locator('button[type=submit]').click();
  await page.getByText('None of your groups has access to this workspace.').waitFor();
  page.watched.foreign.length = 0; // the provider's own pages
  await expectGood(page, 'sign-in-provider-refused');
  await page.close();
});

test('an owner ends the tie of a member whose account at the provider was made again', async () => {
  const claims = { email: 'carl@shop.example', email_verified: true, groups: ['admins'] };
  provider.people.set('carl', claims).set('carl-again', claims);
  const through = async (login: string, path = '/') => {
    const page = await site.open(path, { role: null });
    await signIn(page);
    await logIn(page, login);
    await page.locator('button[type=submit]').click();
    return page;
  };
  const first = await through('carl');
  await heading(first, 'Overview');
  const refused = await through('carl-again');
  await refused.getByText('hoplog member unlink').waitFor();
  await refused.close();

  await first.goto(`${site.app}/console/settings?tab=members`);
  await first.getByRole('button', { name: 'Unlink carl@shop.example from the identity provider' }).click();
  first.watched.foreign.length = 0; // the provider's own pages
  await expectGood(first, 'unlink-from-provider');
  await first.getByRole('button', { name: 'Unlink', exact: true }).click();
  await first.getByText('carl@shop.example is no longer tied to the identity provider').waitFor();
  await first.close();
  const again = await through('carl-again');
  await heading(again, 'Overview');
  await again.close();
});
