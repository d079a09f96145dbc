import { expect, test } from 'vitest';
import { isGenuine, type Receiver, startReceiver } from '../../support/receiver.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectNotice,
} from './console-site.ts';
import { openSection } from './link-desk.ts';
import { LONG, PATIENCE } from './referral-shop.ts';

let site: ConsoleSite;
let receiver: Receiver;

inChromium(async () => {
  receiver = await startReceiver();
  site = await consoleSite();
  return async () => {
    await site.close();
    await receiver.close();
  };
});

/** Drops the connection of the first `POST` to `path`, after the API has completed the request. */
async function loseAnswer(page: ConsolePage, path: string): Promise<void> {
  let isLost = false;
  await page.route(`**/api/v1${path}`, async (route) => {
    if (isLost || route.request().method() !== 'POST') return route.continue();
    isLost = true;
    expect((await route.fetch()).ok()).toBe(true);
    return route.abort('connectionreset');
  });
}

/** After this time a response is read again; see `staleTime` in web/console/main.tsx. Milliseconds. */
const LATER_MS = 6_000;
const NO_ANSWER = 'The server does not respond. Try again.';

test('a program whose response was lost is created once, and the next press says so', LONG, async () => {
  const page = await site.open('/referrals');
  await loseAnswer(page, '/programs');
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await dialog.getByLabel('Name').fill('Lost');
  await dialog.getByLabel('Destination URL').fill('https://shop.example/join');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(NO_ANSWER).waitFor();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expectNotice(page, 'Program created');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => page.getByRole('article', { name: 'Lost' }).count(), PATIENCE).toBe(1);
  const { programs } = await site.api<{ programs: { name: string }[] }>('/programs');
  expect(programs.filter(({ name }) => name === 'Lost')).toHaveLength(1);

  // The first creation is complete: the same form filled in again creates another.
  await page.getByRole('button', { name: 'New program' }).click();
  await dialog.getByLabel('Name').fill('Lost');
  await dialog.getByLabel('Destination URL').fill('https://shop.example/join');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => page.getByRole('article', { name: 'Lost' }).count(), PATIENCE).toBe(2);
  expectClean(page);
  await page.close();
});

test("a bio page whose response was lost is one's own, not taken, and its editor opens", LONG, async () => {
  const page = await site.open('/bio-pages');
  await loseAnswer(page, '/bio-pages');
  await page.getByRole('button', { name: 'New page' }).click();
  const dialog = page.getByRole('dialog', { name: 'New bio page' });
  const slug = `lost-${Date.now()}`;
  await dialog.getByLabel('Address').fill(slug);
  await dialog.getByText(`/${slug} is free.`).waitFor();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(NO_ANSWER).waitFor();
  await dialog.getByText('is free').waitFor({ state: 'detached' });
  // Returning to the window later checks again whether the address is free: by now the page has it.
  await page.clock.setSystemTime(Date.now() + LATER_MS);
  const asked = page.waitForResponse('**/bio-pages/availability?*');
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
  expect(await (await asked).json()).toMatchObject({ available: false, reason: 'taken' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/bio-pages\/[0-9a-f-]{36}/);
  const { bio_pages } = await site.api<{ bio_pages: { slug: string }[] }>('/bio-pages');
  expect(bio_pages.filter((made) => made.slug === slug)).toHaveLength(1);
  expectClean(page);
  await page.close();
});

test('an address that another user took meanwhile is not shown as free beside the error', LONG, async () => {
  const page = await site.open('/bio-pages');
  await page.getByRole('button', { name: 'New page' }).click();
  const dialog = page.getByRole('dialog', { name: 'New bio page' });
  const slug = `raced-${Date.now()}`;
  await dialog.getByLabel('Address').fill(slug);
  await dialog.getByText(`/${slug} is free.`).waitFor();
  await site.api('/bio-pages', { slug });
  await dialog.getByRole('button', { name: 'Create' }).click();
  const address = dialog.getByLabel('Address');
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  expect(await dialog.getByText('is free').count()).toBe(0);
  await page.close();
});

test('a folder whose response was lost is created once, and chosen', LONG, async () => {
  const page = await site.open('/links/new');
  await loseAnswer(page, '/folders');
  await openSection(page, 'Campaign and UTM');
  await page.getByRole('button', { name: 'New folder' }).click();
  const dialog = page.getByRole('dialog', { name: 'New folder' });
  await dialog.getByLabel('Name').fill('Lost');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(NO_ANSWER).waitFor();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { folders } = await site.api<{ folders: { name: string }[] }>('/folders');
  expect(folders.filter(({ name }) => name === 'Lost')).toHaveLength(1);
  await expect.poll(() => page.getByRole('combobox', { name: 'Folder' }).inputValue()).toBe('Lost');
  await page.close();
});

test('a link whose response was lost is created once, and its page opens', LONG, async () => {
  const page = await site.open('/links/new');
  await loseAnswer(page, '/links');
  await page.getByLabel('Destination URL').fill('https://shop.example/');
  await page.getByLabel('Name').fill('Lost link');
  const create = page.getByRole('button', { name: 'Create', exact: true });
  await create.click();
  await page.getByText(NO_ANSWER).waitFor();
  await create.click();
  await page.waitForURL(/links\/[0-9a-f-]{36}/);
  const { links } = await site.api<{ links: { id: string; name: string }[] }>('/links?view=records');
  const made = links.filter(({ name }) => name === 'Lost link');
  expect(made.map(({ id }) => id)).toEqual([page.url().split('/').at(-1)]);
  await page.close();
});

test('a webhook whose response was lost is created once, and its secret can be replaced', LONG, async () => {
  const page = await site.open('/webhooks');
  await loseAnswer(page, '/webhooks');
  await page.getByRole('button', { name: 'New webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'New webhook' });
  await dialog.getByLabel('Address').fill(receiver.url);
  await dialog.getByRole('checkbox', { name: 'Sales', exact: true }).check();
  const create = dialog.getByRole('button', { name: 'Create', exact: true });
  await create.click();
  await dialog.getByText(NO_ANSWER).waitFor();
  await create.click();
  const made = page.getByRole('dialog', { name: 'The webhook is ready' });
  await made.getByText('The response was lost.').waitFor();
  await made.getByRole('button', { name: 'Done' }).click();
  await page.waitForURL(/webhooks\/[0-9a-f-]{36}/);
  const { webhooks } = await site.api<{ webhooks: { id: string }[] }>('/webhooks');
  const [id] = webhooks.map((webhook) => webhook.id);
  expect([webhooks.length, page.url().split('/').at(-1)]).toEqual([1, id]);
  const { secret } = await site.api<{ secret: string }>(`/webhooks/${id}/rotate-secret`, {});
  await site.api(`/webhooks/${id}/test`, {});
  const [received] = await receiver.until(1);
  expect(received && isGenuine(secret, received)).toBe(true);
  await page.close();
});
