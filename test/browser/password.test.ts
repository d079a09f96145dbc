import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../support/ingest.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { openLink } from './open-link.ts';
import { type Shop, startShop } from './shop.ts';

let stores: TestStores;
let ingest: TestIngest;
let shop: Shop;
let browser: Browser;
let url: string;

inChromium(async () => {
  stores = await testStores();
  ingest = await startTestIngest(stores);
  shop = await startShop('', { '/page': '/en/page' });
  const { id } = await makeWorkspace(stores.pool);
  const destination = `http://127.0.0.1:${shop.port}/page`;
  const password_hash = await hashPassword('open sesame', LINK_COST);
  const link = await makeLink(stores.pool, id, destination, { password_hash, channel: null });
  url = `${ingest.url}/${link.slug}`;
  browser = await sharedChromium();
  return async () => {
    shop.close();
    await ingest.close();
    await ingest.remove();
    await stores.close();
  };
});

test('a browser enters the password, also after a wrong one, and reaches the destination with the original referer', async () => {
  const page = await browser.newPage();
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  const visited: URL[] = [];
  page.on('request', (request) => visited.push(new URL(request.url())));
  await openLink(page, `${url}?a=1`, { referer: 'https://www.facebook.com/page?b="2"' });
  await page.fill('#password', 'wrong');
  await page.press('#password', 'Enter');
  await page.getByRole('alert').waitFor();
  await page.fill('#password', 'open sesame');
  await page.press('#password', 'Enter');
  await expect.poll(() => page.title()).toBe('Shop');
  expect([new URL(page.url()).pathname, violations]).toEqual(['/en/page', []]);
  const destination = visited.find(({ pathname }) => pathname === '/page');
  expect(destination?.searchParams.get('a')).toBe('1');
  const clicks = await ingest.events();
  expect(clicks).toMatchObject([
    { channel: 'facebook', referer: expect.stringContaining('facebook.com/page?b=') },
  ]);
  await page.close();
});

test('in a frame the page leads to a window of its own, which asks for the password', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`http://127.0.0.1:${shop.port}/page`);
  await page.setContent(`<iframe title="A link" src="${url}?a=2" width="390" height="400"></iframe>`);
  const frame = page.frameLocator('iframe');
  await frame.getByRole('heading', { name: 'Password required' }).waitFor();
  expect(await frame.locator('input').count()).toBe(0);
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    frame.getByRole('link', { name: 'Open in a new window' }).click(),
  ]);
  await opened.fill('#password', 'open sesame');
  await opened.press('#password', 'Enter');
  await opened.waitForURL(/\/en\/page/);
  await Promise.all([page.close(), opened.close()]);
});
