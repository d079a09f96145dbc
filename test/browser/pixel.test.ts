import type { Browser, Response } from 'playwright-core';
import { expect, test } from 'vitest';
import { untilVisible } from '../faults/accounting.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { openLink } from './open-link.ts';
import { type Shop, startShop } from './shop.ts';

const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

let served: ServedWorkspace;
let service: ServedWorkspace['service'];
let shop: Shop;
let shopUrl: string;
let browser: Browser;

inChromium(async () => {
  served = await servedWorkspace();
  service = served.service;
  shop = await startShop(
    `<script async src="${service.short_url}/pixel.js" data-key="${service.demo.publishable_key}"></script>`,
  );
  // Another host than the short links': cookies ignore ports.
  shopUrl = `http://localhost:${shop.port}`;
  browser = await sharedChromium();
  return async () => {
    shop.close();
    await served.close();
  };
});

async function api<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(`${service.api_url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${service.demo.secret_key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

type Made = { links: { id: string; short_url: string }[] };
type Click = { visitor_id: string; browser: string; device: string; is_bot: boolean };
type Journey = { visitor: { email: string }; journey: { type: string }[] };
type Channels = { channels: object[] };

test('a real browser clicks, identifies and buys, and the reports show it', async () => {
  const { links } = await api<Made>('/links', {
    destination_url: `${shopUrl}/landing?size=42#reviews`,
    name: 'Spring',
    channel: 'newsletter',
  });
  const [link] = links;
  // Headless Chromium identifies itself as a robot, and is counted as one.
  const page = await browser.newPage({ userAgent: PERSON });
  await openLink(page, link?.short_url ?? '');
  // The pixel moves the visitor ID from the address bar to a cookie of the shop's own.
  await page.waitForFunction("document.cookie.includes('_vid=')");
  const address = new URL(page.url());
  expect(address.searchParams.has('_vid')).toBe(false);
  expect(address.searchParams.get('size')).toBe('42');
  expect(address.searchParams.get('utm_source')).toBe('newsletter');
  expect(address.hash).toBe('#reviews');

  await page.evaluate(`tracker.identify({ email: 'Ada@Example.com', external_user_id: 'u1' })`);
  await page.goto(`${shopUrl}/checkout`);
  await page.waitForFunction("'tracker' in window");
  // The identify of the previous page may be under way too.
  const isOrder = (response: Response) =>
    response.url().endsWith('/collect') && response.request().postData()?.includes('o-1') === true;
  await Promise.all([
    page.waitForResponse(isOrder),
    page.evaluate(
      `tracker.order({ order_id: 'o-1', amount: 19.99, currency: 'usd', email: 'ada@example.com' })`,
    ),
  ]);
  await page.close();

  await untilVisible(service, service.demo.secret_key ?? '', Date.now());
  const { clicks } = await api<{ clicks: Click[] }>(`/clicks?link_id=${link?.id}&bots=include`);
  expect(clicks).toHaveLength(1);
  const journeyOf = () => api<Journey>(`/visitors/${clicks[0]?.visitor_id}/journey`);
  await expect
    .poll(async () => (await journeyOf()).journey.map((entry) => entry.type))
    .toEqual(['click', 'identify', 'order']);
  expect((await journeyOf()).visitor.email.toLowerCase()).toBe('ada@example.com');

  await expect
    .poll(async () => (await api<Channels>('/channels')).channels)
    .toMatchObject([{ channel: 'newsletter', clicks: 1, visitors: 1, conversions: 1, revenue: 19.99 }]);
});

test('under Global Privacy Control an order counts, and no visitor is named', async () => {
  const { workspace_id, secret_key } = service.demo;
  const page = await browser.newPage({ userAgent: PERSON });
  await page.addInitScript("Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })");
  await page.goto(`${shopUrl}/checkout?_vid=5b104370-c9bd-8db2-8a30-83f8041ed7fd`);
  await page.waitForFunction("'tracker' in window");
  const [response] = await Promise.all([
    page.waitForResponse(/\/collect$/),
    page.evaluate(`tracker.order({ order_id: 'o-2', amount: 5, email: 'bob@example.com' })`),
  ]);
  expect(response.status()).toBe(202);
  await page.close();

  await untilVisible(service, secret_key, Date.now());
  const orders = async () => {
    const { rows } = await served.pool.query(
      'SELECT amount_minor, visitor_id, email, external_user_id FROM orders WHERE workspace_id = $1 AND order_id = $2',
      [workspace_id, 'o-2'],
    );
    return rows;
  };
  await expect
    .poll(orders)
    .toEqual([{ amount_minor: 500, visitor_id: null, email: null, external_user_id: null }]);
});
