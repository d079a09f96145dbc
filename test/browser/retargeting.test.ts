import type { Browser, BrowserContext } from 'playwright-core';
import { expect, test } from 'vitest';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../support/ingest.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { openLink } from './open-link.ts';
import { type Shop, startShop } from './shop.ts';

const PIXELS = {
  facebook: '1234567890',
  google: 'G-ABCDEF1234',
  tiktok: 'C4ABCDEFGHIJKLMNOPQR',
  linkedin: '12345',
  x: 'o1abc',
  pinterest: '2612345678901',
};
const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

let stores: TestStores;
let ingest: TestIngest;
let shop: Shop;
let browser: Browser;
let url: string;

inChromium(async () => {
  stores = await testStores();
  ingest = await startTestIngest(stores);
  shop = await startShop();
  const { id } = await makeWorkspace(stores.pool);
  const destination = `http://127.0.0.1:${shop.port}/page`;
  url = `${ingest.url}/${(await makeLink(stores.pool, id, destination, { retargeting: PIXELS })).slug}`;
  browser = await sharedChromium();
  return async () => {
    shop.close();
    await ingest.close();
    await ingest.remove();
    await stores.close();
  };
});

/** Responds in place of the networks' hosts; `null` leaves requests pending. Returns the requested hosts. */
async function networks(context: BrowserContext, answer: 'empty' | null): Promise<Set<string>> {
  const asked = new Set<string>();
  await context.route(/^https:/, async (route) => {
    asked.add(new URL(route.request().url()).host);
    if (answer !== null) await route.fulfill({ status: 200, contentType: 'text/javascript', body: '' });
  });
  return asked;
}

test('a browser fires every pixel, violates no policy, and continues to the destination', async () => {
  const context = await browser.newContext({ userAgent: PERSON });
  const asked = await networks(context, 'empty');
  const page = await context.newPage();
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  await openLink(page, url);
  await page.waitForURL(/\/page\?.*_vid=/);
  expect(violations).toEqual([]);
  await expect
    .poll(() => [...asked].sort())
    .toEqual([
      'analytics.tiktok.com',
      'ct.pinterest.com',
      'px.ads.linkedin.com',
      't.co',
      'www.facebook.com',
      'www.googletagmanager.com',
    ]);
  await context.close();
});

test('a browser continues although no network ever responds', async () => {
  const context = await browser.newContext({ userAgent: PERSON });
  await networks(context, null);
  const page = await context.newPage();
  await openLink(page, url, { waitUntil: 'commit' });
  await page.waitForURL(/\/page\?.*_vid=/);
  await context.close();
});

test('a browser without JavaScript continues as well', async () => {
  const context = await browser.newContext({ userAgent: PERSON, javaScriptEnabled: false });
  await networks(context, null);
  const page = await context.newPage();
  await openLink(page, url, { waitUntil: 'commit' });
  await page.waitForURL(/\/page\?.*_vid=/);
  await context.close();
});

test.each(['light', 'dark'] as const)(
  'on a phone the page is as wide as it, and %s as the phone is',
  async (colorScheme) => {
    const context = await browser.newContext({
      userAgent: PERSON,
      viewport: { width: 390, height: 800 },
      isMobile: true,
      colorScheme,
    });
    await networks(context, null);
    // The destination hangs: the page stays.
    await context.route('**/page?*', () => undefined);
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'commit' });
    await page.waitForSelector('h1');
    const seen = await page.evaluate<{ width: number; background: string }>(
      `({ width: innerWidth, background: getComputedStyle(document.body).backgroundColor })`,
    );
    expect(seen).toEqual({
      width: 390,
      background: colorScheme === 'dark' ? 'rgb(28, 28, 30)' : 'rgb(255, 255, 255)',
    });
    await context.close();
  },
);

test('a link with pixels leads to its destination in a frame too', async () => {
  const context = await browser.newContext({ userAgent: PERSON });
  await networks(context, 'empty');
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${shop.port}/page`);
  await page.setContent(`<iframe title="A link" src="${url}"></iframe>`);
  await expect.poll(() => page.frames()[1]?.url()).toContain(`127.0.0.1:${shop.port}/page`);
  await context.close();
});
