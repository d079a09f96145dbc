import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('the shell shows the workspace and leads to every page of the navigation', async () => {
  const page = await site.open('/no-such-page');
  await page.getByText('There is no such page').waitFor();
  expect(await page.getByText('demo', { exact: true }).isVisible()).toBe(true);
  await expectGood(page, 'shell', 'all');
  for (const name of ['Overview', 'Live', 'Links', 'Visitors', 'Webhooks', 'Settings', 'Developers']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('link', { name, exact: true }).getAttribute('aria-current')).toBe('page');
  }
  await page.close();
});

test('the navigation opens on a phone, and closes with the choice of a page', async () => {
  const page = await site.open('/no-such-page', { width: 360 });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.getByRole('button', { name: 'Open the navigation' }).waitFor();
  await page.close();
});
