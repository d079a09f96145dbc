import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { startPages } from '../pages-site.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('a member opens a page as a test, and sees live what arrives and what was refused, with the reason', async () => {
  const { short_url, demo } = site.service;
  const shop = await startPages(short_url);
  const path = shop.put(
    'landing',
    `<!doctype html><title>Shop</title><script async src="${short_url}/pixel.js?key=${demo?.publishable_key}"></script>`,
  );
  const page = await site.open('/settings/developers');
  await page.getByText('No problems').waitFor();
  const address = page.getByRole('textbox', { name: 'Address of the page' });
  await address.fill('shop');
  await page.getByRole('button', { name: 'Start a test' }).click();
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await address.fill(`http://localhost:${shop.port}${path}`);
  await page.getByRole('button', { name: 'Start a test' }).click();
  await page.getByText('Nothing has arrived yet.').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(
    (await page.getByRole('link', { name: 'Open the page in a new tab' }).getAttribute('href')) ?? '',
  );
  await page.getByText('It knows no visitor yet').waitFor();
  expect(new URL(tab.url()).search).toBe('');
  await tab.evaluate(
    `hoplog.order({ order_id: 1001, amount: '49,90' }); hoplog.identify({ email: 'guest' })`,
  );
  const arrived = page.getByRole('region', { name: 'What has arrived' });
  await arrived.getByText('amount must be a number of at least 0').waitFor();
  // The test is known to the tab, so the next page of the visit reports too.
  await tab.goto(`http://localhost:${shop.port}${path}`);
  await tab.waitForFunction('window.hoplog');
  await tab.evaluate(`hoplog.order({ order_id: 1001, amount: 100 / 3, email: 'ada@shop.example' })`);
  await page.getByText('an order has arrived').waitFor();
  await arrived.getByText('amount was rounded to the minor unit').waitFor();
  expect(await arrived.getByText(/1001: .*33\.33/).count()).toBe(1);
  const problems = page.getByRole('region', { name: 'Refused and corrected calls' });
  await problems.getByText('text of').first().waitFor();
  await expectGood(page, 'developers-pixel');
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No problems').waitFor();
  await tab.close();
  await page.close();
  shop.close();
});
