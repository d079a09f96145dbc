import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../support/ingest.ts';
import { createSlowGate, type SlowGate } from '../support/slow-gate.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { openLink } from './open-link.ts';
import { axeViolations } from './page-watch.ts';

/** Attempts after which an address has to wait. */
const ATTEMPTS = 5;
const DESTINATION = 'https://example.com/';
/** Chromium without a window calls itself a bot, and bots get no page with pixels. */
const PREVIEW_BOT = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';
const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

let stores: TestStores;
let ingest: TestIngest;
let gate: SlowGate;
let browser: Browser;
let workspaceId: string;

inChromium(async () => {
  stores = await testStores();
  gate = await createSlowGate(stores.databaseUrl);
  ingest = await startTestIngest({ databaseUrl: gate.url, pool: stores.pool });
  workspaceId = (await makeWorkspace(stores.pool)).id;
  browser = await sharedChromium();
  return async () => {
    await gate.close();
    await ingest.close();
    await ingest.remove();
    await stores.close();
  };
});

test('no page of visitors has a violation of axe, light or dark, in English or Arabic', async () => {
  const [expires_at, blocked_at] = [new Date(Date.now() - 86_400_000), new Date()];
  const password_hash = await hashPassword('open sesame', LINK_COST);
  const link = async (columns: Parameters<typeof makeLink>[3]) =>
    (await makeLink(stores.pool, workspaceId, DESTINATION, columns)).slug;
  const found: string[] = [];
  const titles: string[] = [];
  const visitors = await Promise.all(
    (
      [
        ['en', 'light'],
        ['ar', 'dark'],
      ] as const
    ).map(async ([locale, colorScheme]) => {
      const look = { locale, colorScheme, viewport: { width: 390, height: 800 } };
      const context = await browser.newContext({ ...look, userAgent: PERSON });
      const page = await context.newPage();
      const previews = await browser.newContext({ ...look, userAgent: PREVIEW_BOT });
      const check = async (document: Parameters<typeof axeViolations>[0] = page) => {
        const title = `${locale} ${await document.title()}`;
        titles.push(title);
        for (const violation of await axeViolations(document)) found.push(`${title}: ${violation}`);
      };
      return { context, page, check, previews };
    }),
  );
  const [gone, blocked, secret, framed, pixels] = await Promise.all([
    link({ expires_at }),
    link({ blocked_at }),
    link({ password_hash }),
    link({ password_hash }),
    link({ retargeting: { facebook: '1234567890', google: 'G-ABCDEF1234' } }),
  ]);
  const carded = await link({ preview: { title: 'A card', description: 'What networks show.' } });

  for (const { page, check, previews } of visitors) {
    for (const path of ['', 'nothing-here', gone, blocked, secret]) {
      await page.goto(`${ingest.url}/${path}`);
      await check();
    }
    for (let attempt = 1; attempt <= ATTEMPTS + 1; attempt += 1) {
      // The first visitor's attempts count for the second one: both have one address.
      if ((await page.locator('#password').count()) === 0) break;
      await enterWrongPassword(page);
      if (attempt === 1) await check();
    }
    await check();
    // A document of this address that has no policy: browsers refuse local addresses in frames of other ones.
    await page.goto(`${ingest.url}/robots.txt`);
    await page.setContent(`<iframe title="A link" src="${ingest.url}/${framed}"></iframe>`);
    await page.frameLocator('iframe').locator('a.button').waitFor();
    await check(page.frames()[1]);
    // Without its script the page stays.
    await page.route(`**/${pixels}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(/<script>.*?<\/script>/s, '') });
    });
    await openLink(page, `${ingest.url}/${pixels}`);
    await check();
    // What a link-preview bot reads.
    const card = await previews.newPage();
    await card.goto(`${ingest.url}/${carded}`);
    expect(await card.title()).toBe('A card');
    await check(card);
    await previews.close();
  }
  await gate.close();
  for (const { context, page, check } of visitors) {
    const response = await page.goto(`${ingest.url}/not-known-yet`);
    expect(response?.status()).toBe(503);
    await check();
    await context.close();
  }
  expect(found).toEqual([]);
  // A wrong password and a frame keep the title of the form; every other page has one of its own.
  expect(new Set(titles).size).toBe(18);
});

async function enterWrongPassword(page: Page): Promise<void> {
  await page.fill('#password', 'wrong');
  await Promise.all([page.waitForEvent('load'), page.press('#password', 'Enter')]);
}
