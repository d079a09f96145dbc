import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { untilVisible } from '../faults/accounting.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { type Shop, startShop } from './shop.ts';

const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

let served: ServedWorkspace;
let service: ServedWorkspace['service'];
let shop: Shop;
let asking: Shop;
let naming: Shop;
let shopUrl: string;
let browser: Browser;

inChromium(async () => {
  served = await servedWorkspace();
  service = served.service;
  const { short_url, demo } = service;
  const script = (attributes = '') =>
    `<script async src="${short_url}/pixel.js?key=${demo.publishable_key}" ${attributes}></script>`;
  const buying = `<script>
    window.hoplog = { q: [], order(fields) { this.q.push(['order', fields]) }, identify() {} };
    if (location.pathname === '/bought') hoplog.order({ order_id: 'o-' + location.hash.slice(1), amount: 5 });
  </script>`;
  shop = await startShop(buying + script());
  asking = await startShop(script('data-consent="wait"'));
  // Without the key in its address, the script can't know the program's parameters.
  naming = await startShop(
    `<script async src="${short_url}/pixel.js" data-key="${demo.publishable_key}" data-parameters="via,fpr"></script>`,
  );
  // Another host than the short links': cookies ignore ports.
  shopUrl = `http://localhost:${shop.port}`;
  browser = await sharedChromium();
  await api('/programs', {
    name: 'Friends',
    destination_url: 'https://shop.example/join',
    commission_rate: 20,
  });
  return async () => {
    shop.close();
    asking.close();
    naming.close();
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

/** A referrer with a link. */
async function referrer(user: string) {
  const enrolled = await api<{ referral_link: string; partner_id: string }>('/referrals/enroll', {
    external_user_id: user,
    email: `${user}@mail.example`,
    tier: 'free',
  });
  return { ...enrolled, user, code: enrolled.referral_link.split('/').at(-1) ?? '' };
}

/** Opens pages in a tab of a new browser, and returns the calls of the pixel. */
async function person(): Promise<{ page: Page; calls: Record<string, unknown>[]; close(): Promise<void> }> {
  const context = await browser.newContext({ userAgent: PERSON });
  const page = await context.newPage();
  const calls: Record<string, unknown>[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/collect')) calls.push(JSON.parse(request.postData() ?? '{}'));
  });
  return { page, calls, close: () => context.close() };
}

const visitsIn = (calls: Record<string, unknown>[]) => calls.filter(({ type }) => type === 'visit');
const idOf = (page: Page) =>
  page.evaluate(`(document.cookie.match(/_vid=([^;]+)/) || [])[1] || ''`) as Promise<string>;
const untilLoaded = (page: Page) => page.waitForFunction("'tracker' in window && 'alsoFor' in tracker");

async function clicksOf({ user }: { user: string }): Promise<number> {
  await untilVisible(service, service.demo.secret_key ?? '', Date.now());
  return (await api<{ stats: { clicks: number } }>(`/referrals/stats?external_user_id=${user}`)).stats.clicks;
}

test('a page opened with a referrer’s code is one click a session, and its visitor is the referrer’s', async () => {
  const ann = await referrer('ann');
  const { page, calls, close } = await person();
  await page.goto(`${shopUrl}/landing?size=42&via=${ann.code}`);
  await page.waitForFunction("document.cookie.includes('_vid=')");
  // The site's own parameter stays, as analytics of the shop reads it too.
  expect(new URL(page.url()).searchParams.get('via')).toBe(ann.code);
  await page.reload();
  await untilLoaded(page);
  await page.goto(`${shopUrl}/pricing?via=${ann.code}`);
  await untilLoaded(page);
  expect(visitsIn(calls)).toMatchObject([{ code: `via=${ann.code}`, visitor_id: null, referrer: '' }]);
  await expect.poll(() => clicksOf(ann)).toBe(1);
  const visitor = await idOf(page);
  const { clicks } = await api<{ clicks: object[] }>('/clicks?limit=1');
  expect(clicks).toMatchObject([{ visitor_id: visitor, slug: ann.code, channel: 'referral' }]);
  // One report waits two seconds for the watermark; a busy machine may need a second report.
  const signup = () =>
    api<{ partner_id?: string }>('/referrals/report-signup', {
      new_user_external_user_id: 'ann-friend',
      _vid: visitor,
    });
  await expect.poll(async () => (await signup()).partner_id).toBe(ann.partner_id);
  await close();
});

test('a visitor whom a short link led here is not counted twice', async () => {
  const ben = await referrer('ben');
  const { page, calls, close } = await person();
  // Adds what the redirect of the link adds: its own parameter, and the visitor.
  const visitor = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';
  await page.goto(`${shopUrl}/landing?ref=${ben.code}&_vid=${visitor}`);
  await page.waitForFunction("document.cookie.includes('_vid=')");
  await page.reload();
  await untilLoaded(page);
  expect(new URL(page.url()).searchParams.get('ref')).toBe(ben.code);
  await page.waitForFunction('hoplog.visitor()');
  expect(visitsIn(calls)).toEqual([]);
  expect(await idOf(page)).toBe(visitor);
  await close();
});

test('an unknown code does nothing', async () => {
  const { page, calls, close } = await person();
  const answered = page.waitForResponse(/\/collect$/);
  await page.goto(`${shopUrl}/landing?ref=nobody-of-ours`);
  expect(await (await answered).json()).toEqual({ ok: true, visitor_id: null });
  expect(visitsIn(calls)).toHaveLength(1);
  expect(await idOf(page)).toBe('');
  await close();
});

test('an order that is called while the page loads has the visitor of the visit', async () => {
  const cat = await referrer('cat');
  const { page, calls, close } = await person();
  await page.goto(`${shopUrl}/bought?ref=${cat.code}#1`);
  await expect.poll(() => calls.map(({ type }) => type)).toEqual(['visit', 'order']);
  await expect.poll(() => idOf(page)).not.toBe('');
  const visitor = await idOf(page);
  expect(calls[1]).toMatchObject({ visitor_id: visitor });
  await close();
});

test('data-parameters names the parameters of referrers where the address has no key', async () => {
  const { page, calls, close } = await person();
  await page.goto(`http://localhost:${naming.port}/landing?ref=site&fpr=jon-17`);
  await untilLoaded(page);
  await expect.poll(() => visitsIn(calls)).toMatchObject([{ code: 'fpr=jon-17' }]);
  await close();
});

test('nothing is sent or stored before consent, and the visit is a click afterwards', async () => {
  const dan = await referrer('dan');
  const { page, calls, close } = await person();
  await page.goto(`http://localhost:${asking.port}/landing?via=${dan.code}`);
  await untilLoaded(page);
  expect(calls).toEqual([]);
  expect(await page.evaluate('sessionStorage.length + document.cookie.length')).toBe(0);
  await page.evaluate('hoplog.consent(true)');
  await page.waitForFunction("document.cookie.includes('_vid=')");
  expect(visitsIn(calls)).toHaveLength(1);
  await expect.poll(() => clicksOf(dan)).toBe(1);
  await close();
});
