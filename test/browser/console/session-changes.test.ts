import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import {
  axeViolations,
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  holdOwnReads,
  PASSWORD,
} from './console-site.ts';
import { chooseChannel } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

let site: ConsoleSite;
/** A link of the workspace `demo`; `Second` has none. */
let slug: string;
let secondWorkspace: string;
let members = 0;

inChromium(async () => {
  site = await consoleSite();
  const { links } = await site.api<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Ours alone',
    channel: 'other',
  });
  slug = links[0]?.slug ?? '';
  const made = await site.hoplog<{ workspace: { id: string } }>('workspace', 'create', '--name', 'Second');
  secondWorkspace = made.workspace.id;
  return site.close;
});

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const linkInTable = (page: Page) => page.getByRole('table').getByRole('link', { name: slug });

/** A page of a member that no other test has: its session may end. */
async function open(path: string): Promise<ConsolePage & { email: string }> {
  members += 1;
  const email = `changes-${members}@${site.mail}`;
  const page = await site.open(path, { role: null });
  await holdOwnReads(page);
  await accept(page, await site.invite('operator', email));
  await page.goto(`${site.app}/console${path}`);
  return Object.assign(page, { email });
}

async function inviteToSecond(email: string): Promise<string> {
  const { invite } = await site.hoplog<{ invite: { url: string } }>(
    ...['console', 'invite', '--workspace', secondWorkspace, '--email', email],
  );
  return invite.url;
}

/** Accepts an invitation in another window of the page's browser, which is then signed in with it. */
async function accept(page: Page, url: string): Promise<void> {
  const [, token] = url.split('#');
  const response = await page.request.post(`${site.app}/api/v1/session/invite`, {
    data: { token, password: PASSWORD },
  });
  expect(response.status()).toBe(200);
}

async function draftLink(page: Page, wanted: string): Promise<void> {
  await field(page, 'Destination URL').fill('https://shop.example/draft');
  await field(page, 'Name').fill('Draft');
  await field(page, 'Slug').fill(wanted);
  await chooseChannel(page, 'Instagram');
}

/** Pages that call the API without user action, and the trigger of each call. */
const CALLS: [what: string, path: string, call: (page: Page) => Promise<void>][] = [
  ['the list of live clicks', '/live', (page) => page.getByRole('switch', { name: 'Include bots' }).click()],
  ['an export', '/links', (page) => page.getByRole('menuitem', { name: 'These links as CSV' }).click()],
  ['a check of a file', '/links/import', (page) => press(page, 'Check 1 row')],
  ['an import', '/links/import', (page) => press(page, 'Import 1 row')],
];

test.each(CALLS)('%s notices that the session has ended, and shows the sign-in', async (name, path, call) => {
  const page = await open(path);
  if (path === '/live') await page.getByText('Connected', { exact: true }).waitFor();
  if (path === '/links') {
    await linkInTable(page).waitFor();
    await press(page, 'Export');
    await page.getByRole('menuitem', { name: 'These links as CSV' }).waitFor();
  }
  if (path === '/links/import') {
    const text = 'destination_url,name\nhttps://shop.example/late,Late';
    const file = { name: 'late.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.locator('input[type="file"]').setInputFiles(file);
    if (name === 'an import') {
      await press(page, 'Check 1 row');
      await page.getByRole('button', { name: 'Import 1 row', exact: true }).waitFor();
    }
  }
  // Reads that the page starts on its own before the press would notice it instead, and take the button away.
  await page.evaluate(
    `addEventListener('click', () => { window.isPressed = true; }, { capture: true, once: true })`,
  );
  const isPressed = () => page.evaluate('window.isPressed === true');
  await page.route('**/api/v1/**', async (route) => ((await isPressed()) ? route.fallback() : route.abort()));
  await page.context().clearCookies();
  await call(page);
  await heading(page, 'Sign in');
  expect(await page.getByText('Authorization: Bearer').count()).toBe(0);
  await page.close();
});

test('a change is made although its member has signed in again in another window', async () => {
  const page = await open('/links/new');
  await draftLink(page, 'drafted-before');
  const response = await page.request.post(`${site.app}/api/v1/session`, {
    data: { email: page.email, password: PASSWORD },
  });
  expect(response.status()).toBe(200);
  await press(page, 'Create');
  await heading(page, 'drafted-before');
  await page.close();
});

test('a change is not made for another user who signed in in another window: their console shows instead', async () => {
  const page = await open('/links/new');
  await draftLink(page, 'not-theirs');
  await accept(page, await inviteToSecond(`other@${site.mail}`));
  await press(page, 'Create');
  await page.getByText(`You signed in to Second as other@${site.mail}`).waitFor();
  await page.getByTitle('Second', { exact: true }).waitFor();
  expect(await field(page, 'Destination URL').inputValue()).toBe('');
  const theirs = await page.request.get(`${site.app}/api/v1/links?view=records`);
  expect((await theirs.json()).links).toEqual([]);
  expect((await site.api<{ links: LinkRecord[] }>('/links?view=records&slug=not-theirs')).links).toEqual([]);
  await page.close();
});

test('a returning window shows the console of the user who is signed in by then', async () => {
  const page = await open('/links');
  await linkInTable(page).waitFor();
  await accept(page, await inviteToSecond(`back@${site.mail}`));
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await page.getByTitle('Second', { exact: true }).waitFor();
  await page.getByText('No links yet').waitFor();
  await page.close();
});

test("a user who signs in after another sees none of the other user's data", async () => {
  const email = `next@${site.mail}`;
  const other = await site.open('/links', { role: null });
  await accept(other, await inviteToSecond(email));
  await other.close();
  const page = await open('/links');
  await linkInTable(page).waitFor();
  await page.context().clearCookies();
  // A request of the page itself may find the session ended before the click: then the link is gone already.
  await page.evaluate(`document.querySelector('nav a[href="/console/webhooks"]')?.click()`);
  await heading(page, 'Sign in');
  await page.getByLabel('Email').fill(email);
  await field(page, 'Password').fill(PASSWORD);
  const error = { code: 'bad_request', message: 'held back', request_id: 'req-1' };
  await page.route('**/api/v1/links/search*', (route) => route.fulfill({ status: 400, json: { error } }));
  await press(page, 'Sign in');
  await page.getByTitle('Second', { exact: true }).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Links' }).click();
  await page.getByText('held back').waitFor();
  expect(await linkInTable(page).count()).toBe(0);
  await page.close();
});

/** Ends the page's session and saves, which shows the sign-in over the typed text. */
async function saveAfterSessionEnd(page: Page, button: string): Promise<void> {
  await page.context().clearCookies();
  await press(page, button);
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  await heading(page, 'Sign in');
}

async function signIn(page: Page, email: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Email').fill(email);
  await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

test('after signing in again, a user finds everything they typed', async () => {
  const page = await open('/links/new');
  await draftLink(page, 'typed-before');
  await saveAfterSessionEnd(page, 'Create');
  // Neither Escape nor the back button removes the sign-in, nor the page under it.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  expect(await axeViolations(page)).toEqual([]);
  expect(await page.evaluate("document.elementFromPoint(640, 450).closest('dialog') !== null")).toBe(true);
  await signIn(page, page.email);
  expect(await field(page, 'Slug').inputValue()).toBe('typed-before');
  await press(page, 'Create');
  await heading(page, 'typed-before');

  // The page's cached responses are still valid, and a form keeps its changes.
  await page.getByRole('link', { name: 'Edit' }).click();
  await field(page, 'Name').fill('Changed late');
  await saveAfterSessionEnd(page, 'Save');
  await signIn(page, page.email);
  expect(await field(page, 'Name').inputValue()).toBe('Changed late');
  await press(page, 'Save');
  await heading(page, 'typed-before');
  await page.getByText('Changed late').first().waitFor();
  expectClean(page);
  await page.close();
});

test("a user who signs in after another user's session ended finds none of that user's typed text", async () => {
  const email = `instead@${site.mail}`;
  const other = await site.open('/links', { role: null });
  await accept(other, await inviteToSecond(email));
  await other.close();
  const page = await open('/links/new');
  await draftLink(page, 'not-for-others');
  await saveAfterSessionEnd(page, 'Create');
  await signIn(page, email);
  await page.getByTitle('Second', { exact: true }).waitFor();
  expect(await field(page, 'Slug').inputValue()).toBe('');
  await page.close();
});
