import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { expect, test } from 'vitest';
import type { BioPageRecord, Stats } from '../../api/bio-pages/schemas.ts';
import { SOCIAL_PLATFORMS } from '../../core/bio/public-page.ts';
import { untilVisible } from '../faults/accounting.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { until } from '../support/until.ts';
import { everyTheme } from './bio-themes.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { axeViolations } from './page-watch.ts';

const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const SCREENS = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 800 } };
/** Half light, half dark: text must be readable on both. */
const PHOTO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="16" height="16"/>' +
  '<rect width="16" height="8" fill="#fff"/></svg>';

let served: ServedWorkspace;
let service: ServedWorkspace['service'];
let site: Server;
let siteUrl: string;
let browser: Browser;
/** The context of the pages that tests only look at. */
let looks: BrowserContext;

inChromium(async () => {
  served = await servedWorkspace();
  service = served.service;
  site = createServer((request, response) => {
    const isImage = request.url?.endsWith('.svg');
    response.setHeader('content-type', isImage ? 'image/svg+xml' : 'text/html');
    response.end(isImage ? PHOTO : '<!doctype html><title>Shop</title><h1>Shop</h1>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://localhost:${(site.address() as AddressInfo).port}`;
  browser = await sharedChromium();
  looks = await browser.newContext();
  // Stays open, to keep the process of the pages.
  await (await looks.newPage()).goto(`${service.short_url}/robots.txt`);
  return async () => {
    await looks.close();
    site.close();
    await served.close();
  };
});

async function api<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${service.api_url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${service.demo.secret_key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Creates a page and waits until it is shown: on a busy machine ingest may respond with a retry first. */
async function makePage(slug: string, more: object = {}): Promise<BioPageRecord> {
  const made = await api<BioPageRecord>('/bio-pages', pageBody(slug, more));
  await expect.poll(async () => (await fetch(made.url)).status).toBe(200);
  return made;
}

/**
 * Opens a page and leaves it by a short link that ingest may not know yet: it responds 503 then, and counts nothing.
 */
async function leave(page: Page, { url }: BioPageRecord, press: () => Promise<void>): Promise<void> {
  const isNext = (response: Response) => response.request().isNavigationRequest() && response.url() !== url;
  const follow = async () => {
    await page.goto(url);
    const [response] = await Promise.all([page.waitForResponse(isNext), press()]);
    return response.status();
  };
  await until('a redirect of the button', follow, (status) => status === 302);
}

const pageBody = (slug: string, more: object) => ({
  slug,
  title: 'Ada Lovelace',
  bio: 'Mathematician.\nNotes on the Analytical Engine.',
  links: [
    { id: 'shop', label: 'Shop', url: `${siteUrl}/landing`, emoji: '📖' },
    {
      id: 'talk',
      label: 'A label that is as long as a label can be, which is eighty characters, no more',
      url: `${siteUrl}/talk`,
      image_url: `${siteUrl}/t.svg`,
    },
    { id: 'head', type: 'section', label: 'Elsewhere' },
    { id: 'news', label: 'Newsletter', url: `${siteUrl}/news` },
  ],
  social_links: SOCIAL_PLATFORMS.map((platform) => ({ platform, url: 'https://social.example/ada' })),
  ...more,
});

const NAMES = Object.keys(everyTheme(''));

test.for(NAMES)('the theme %s passes an accessibility check on phone and desktop', async (name) => {
  const made = await makePage(name.slice(0, 40), {
    avatar_url: name.length % 2 ? `${siteUrl}/a.svg` : null,
    theme: everyTheme(`${siteUrl}/photo.svg`)[name],
  });
  const page = await looks.newPage();
  const problems: string[] = [];
  page.on('requestfailed', (request) => problems.push(request.url()));
  page.on('console', (message) => {
    // The origin has no icon for pages without an avatar.
    if (!message.location().url.endsWith('/favicon.ico')) problems.push(message.text());
  });
  await page.goto(made.url);
  for (const viewport of Object.values(SCREENS)) {
    await page.setViewportSize(viewport);
    expect(await axeViolations(page)).toEqual([]);
    // Nothing is cut off or overflows.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
  }
  // Everything has loaded, and the policy blocked nothing.
  expect(problems).toEqual([]);
  await page.close();
});

test('a click on a button goes through its short link and is counted in the stats; a view is not', async () => {
  const made = await makePage('clicked');
  // Headless Chromium identifies itself as a robot, and is counted as one.
  const page = await browser.newPage({ userAgent: PERSON, viewport: SCREENS.phone });
  for (const label of ['Shop', 'Newsletter', 'Shop']) {
    await leave(page, made, () => page.getByRole('link', { name: label, exact: true }).click());
    await page.waitForURL(`${siteUrl}/**`);
    expect(new URL(page.url()).searchParams.get('utm_source')).toBe('bio');
  }
  const robot = await browser.newPage();
  await leave(robot, made, () => robot.getByRole('link', { name: 'Shop', exact: true }).click());
  await robot.close();
  await page.close();

  await untilVisible(service, service.demo.secret_key ?? '', Date.now());
  const stats = () => api<Stats>('/bio-pages/clicked/stats');
  await expect.poll(async () => (await stats()).totals.clicks).toBe(3);
  const { links, totals } = await stats();
  expect(links).toMatchObject([
    { id: 'shop', clicks: 2, visitors: 1 },
    { id: 'talk', clicks: 0, visitors: 0 },
    { id: 'news', clicks: 1, visitors: 1 },
  ]);
  expect(totals).toMatchObject({ clicks: 3, visitors: 2 });
});

test('a page works by keyboard, and loads nothing but its images', async () => {
  const made = await makePage('keyboard', { avatar_url: `${siteUrl}/a.svg`, social_links: [] });
  const page = await browser.newPage({ userAgent: PERSON });
  const loaded: string[] = [];
  // By address, not by kind: Chromium may request the avatar twice, the second time as the page's icon.
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto(made.url);
  const requested = () => [...new Set(loaded)].filter((url) => !url.endsWith('/favicon.ico')).sort();
  const own = [made.url, `${siteUrl}/a.svg`, `${siteUrl}/t.svg`].sort();
  await expect.poll(requested).toEqual(own);
  await leave(page, made, async () => {
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
  });
  await page.waitForURL(`${siteUrl}/landing**`);
  await page.close();
});
