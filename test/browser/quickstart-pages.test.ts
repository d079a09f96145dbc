import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { openLink } from './open-link.ts';
import { type PagesSite, startPages } from './pages-site.ts';

/** Chromium without a window calls itself a bot. */
const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

let served: ServedWorkspace;
let site: PagesSite;
let browser: Browser;

inChromium(async () => {
  served = await servedWorkspace();
  site = await startPages(served.service.short_url);
  browser = await sharedChromium();
  return async () => {
    site.close();
    await served.close();
  };
});

async function api<T>(path: string, body?: object): Promise<T> {
  const { api_url, demo } = served.service;
  const response = await fetch(`${api_url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${demo.secret_key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Serves an HTML block of the quickstart as a page of another origin. @returns its address */
function pageWith(name: string, block: string | undefined): string {
  const { short_url, api_url, demo } = served.service;
  const html = (block ?? '')
    .replaceAll('http://127.0.0.1:8080', short_url)
    .replaceAll('http://127.0.0.1:3000', new URL(api_url).origin)
    .replaceAll('pk_live_...', demo.publishable_key);
  const path = site.put(name, `<!doctype html><html lang="en"><title>Your site</title><body>${html}</body>`);
  return `http://localhost:${site.port}${path}`;
}

test('the pages of the quickstart work as printed, on another origin', async () => {
  const [pixel, embed, ...others] = blocksOf(readDocument('docs/quickstart.md'), 'html');
  expect(others).toEqual([]);
  const { links } = await api<{ links: { short_url: string }[] }>('/links', {
    destination_url: pageWith('shop', pixel),
    name: 'Spring sale',
    channel: 'newsletter',
  });
  const page = await browser.newPage({ userAgent: PERSON });
  await openLink(page, links[0]?.short_url ?? '');
  const query = { metrics: ['clicks', 'leads', 'conversions', 'revenue'] };
  const totals = async () => (await api<{ totals: object }>('/analytics/query', query)).totals;
  await expect.poll(totals).toEqual({ clicks: 1, leads: 1, conversions: 1, revenue: 50 });

  const { referral_link: link } = await api('/programs', {
    name: 'Refer a friend',
    code: 'friends-of-a-page',
    destination_url: 'https://shop.example/join',
  }).then(() =>
    api<{ referral_link: string }>('/referrals/enroll', {
      external_user_id: 'ada',
      email: 'ada@example.com',
      tier: 'free',
    }),
  );
  await page.goto(pageWith('account', embed));
  const field = page.frameLocator('iframe').getByRole('textbox', { name: /referral link/i });
  await field.waitFor();
  expect(await field.inputValue()).toBe(link);
  await page.close();
});
