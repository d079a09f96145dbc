import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';

const PATIENCE = { timeout: 60_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('the shell shows the workspace and leads to every page of the navigation', async () => {
  const page = await site.open('/no-such-page');
  await page.getByText('Page not found').waitFor();
  expect(await page.getByText('demo', { exact: true }).isVisible()).toBe(true);
  await expectGood(page, 'shell', 'all');
  for (const name of ['Overview', 'Live', 'Links', 'Visitors', 'Webhooks', 'Settings', 'Developers']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('link', { name, exact: true }).getAttribute('aria-current')).toBe('page');
  }
  await page.close();
});

test('a page begins at its top, and by keyboard with its content; the back button keeps the scroll position', async () => {
  const rows = Array.from({ length: 25 }, (_, n) => ({
    destination_url: 'https://shop.example/',
    name: `Row ${n}`,
    channel: 'other',
  }));
  await site.api('/links/bulk', { links: rows });
  const page = await site.open('/settings');
  // So small that every page scrolls.
  await page.setViewportSize({ width: 1_280, height: 200 });
  const open = async (name: string) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).press('Enter');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const place = () => page.evaluate('scrollY');
  await page.getByText('Own site', { exact: true }).waitFor();
  await open('Links');
  await page.getByText('25 links').waitFor();
  await page.evaluate('scrollTo(0, 600)');
  await open('Settings');
  // The page is drawn from a cached response, so its height does not change.
  expect(await page.getByText('Own site', { exact: true }).count()).toBe(1);
  expect(await place()).toBe(0);
  await page.goBack();
  await expect.poll(place, PATIENCE).toBe(600);
  await page.getByRole('link', { name: 'New link' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'New link' }).waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await page.close();
});

test('a dialog returns the focus to the button that opened it', async () => {
  for (const [path, name] of [
    ['/settings/developers', 'New key'],
    ['/webhooks', 'New webhook'],
    ['/referrals', 'New program'],
  ] as const) {
    const page = await site.open(path);
    const button = page.getByRole('button', { name, exact: true });
    await button.press('Enter');
    await page
      .getByRole('dialog', { name })
      .getByLabel(name === 'New webhook' ? 'Address' : 'Name')
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => button.and(page.locator(':focus')).count(), PATIENCE).toBe(1);
    await page.close();
  }
});

test('the navigation opens on a phone, and closes when a page is chosen', async () => {
  const page = await site.open('/no-such-page', { width: 360 });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.getByRole('button', { name: 'Open the navigation' }).waitFor();
  await page.close();
});

test('an address with invalid characters opens its page, which says so', async () => {
  const page = await site.open('/links?tag=%00');
  await page.getByText('Tag must not contain the NUL character.').waitFor(PATIENCE);
  await page.getByRole('navigation').getByRole('link', { name: 'Visitors' }).waitFor();
  await page.close();
});

test('every page says that the service loses clicks', async () => {
  const page = await site.open('/settings');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.getByText('Losing clicks').count()).toBe(0);
  await page.route('**/api/v1/service', (route) =>
    route.fulfill({ json: { redirects: 'degraded', tracking: 'ready' } }),
  );
  await page.reload();
  await page.getByRole('status').getByText('Losing clicks').waitFor();
  await expectGood(page, 'shell-losing');
  await page.close();
});
