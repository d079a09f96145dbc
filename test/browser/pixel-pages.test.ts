import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { clickBlock } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { DIST_DIR } from '../../web/build.ts';
import { storesOf } from '../kafka/deployment.ts';
import { enrichedClick } from '../support/enriched-click.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { type PagesSite, startPages } from './pages-site.ts';

const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const VID = (n: number) => `5b104370-c9bd-8db2-8a30-83f8041ed7f${n}`;

let served: ServedWorkspace;
let neighbor: ServedWorkspace;
let site: PagesSite;
let clickhouse: ClickHouseClient;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let said: string[];
let origin: string;
/** The element of the pixel, as the documentation writes it. */
let tag: string;
let orders = 0;

inChromium(async () => {
  [served, neighbor] = [await servedWorkspace(), await servedWorkspace()];
  clickhouse = createClickHouse({ url: storesOf(served.dataDir).clickhouseUrl, database: 'hoplog' });
  site = await startPages(served.service.short_url);
  origin = `http://localhost:${site.port}`;
  tag = `<script async src="${address()}"></script>`;
  browser = await sharedChromium();
  return async () => {
    site.close();
    await clickhouse.close();
    await served.close();
    await neighbor.close();
  };
});

beforeEach(async () => {
  context = await browser.newContext({ userAgent: PERSON });
  page = await context.newPage();
  said = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(`thrown: ${error.message}`));
});
afterEach(() => context?.close());

const address = (of: ServedWorkspace = served) =>
  `${served.service.short_url}/pixel.js?key=${of.service.demo.publishable_key}`;
const nextOrder = () => `order-${++orders}`;
const callOf = (orderId: string, more = '') => `hoplog.order({ order_id: '${orderId}', amount: 5 ${more} })`;

async function open(html: string, headers: Record<string, string> = {}, query = ''): Promise<void> {
  await page.goto(
    origin +
      site.put(`page-${++orders}`, { html: `<!doctype html><title>Shop</title>${html}`, headers }) +
      query,
  );
}

/** Waits until an order has arrived in the workspace. */
async function arrived(orderId: string, of: ServedWorkspace = served) {
  return expect
    .poll(async () => {
      const { rows } = await of.pool.query(
        `SELECT amount_minor, currency, email, external_user_id, visitor_id, other_visitor_ids FROM orders
         WHERE workspace_id = $1 AND order_id = $2`,
        [of.service.demo.workspace_id, orderId],
      );
      return rows[0] ?? null;
    })
    .toEqual(expect.anything());
}

async function storedOrder(orderId: string, of: ServedWorkspace = served) {
  await arrived(orderId, of);
  const { rows } = await of.pool.query('SELECT * FROM orders WHERE workspace_id = $1 AND order_id = $2', [
    of.service.demo.workspace_id,
    orderId,
  ]);
  return rows[0];
}

async function linkTo(url: string, channel: string, of: ServedWorkspace): Promise<string> {
  const response = await fetch(`${of.service.api_url}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.service.demo.secret_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ destination_url: url, name: 'Spring', channel }),
  });
  const { links } = (await response.json()) as { links: { short_url: string }[] };
  return links[0]?.short_url ?? '';
}

/** Conversions by channel. */
async function conversions(of: ServedWorkspace): Promise<Record<string, number>> {
  const response = await fetch(`${of.service.api_url}/channels`, {
    headers: { authorization: `Bearer ${of.service.demo.secret_key}` },
  });
  const { channels } = (await response.json()) as { channels: { channel: string; conversions: number }[] };
  return Object.fromEntries(channels.map((row) => [row.channel, row.conversions]));
}

/** Cookies of the page, without the times of ids. */
const cookies = async (): Promise<Record<string, string>> => {
  const { _vidt: _, ...others } = await allCookies();
  return others;
};
const allCookies = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await context.cookies(page.url())).map(({ name, value }) => [name, value]));

describe('a browser with several ids', () => {
  test('whose short host lost its cookie between two clicks is credited to the last', async () => {
    const shop = origin + site.put('two-clicks', `<title>Shop</title>${tag}`);
    const first = await linkTo(shop, 'newsletter', served);
    const second = await linkTo(shop, 'youtube', served);
    await page.goto(first);
    await page.waitForFunction("document.cookie.includes('_vid=')");
    const { _vid: older } = await cookies();
    await context.clearCookies({ domain: '127.0.0.1' });
    await page.goto(second);
    await page.waitForFunction("document.cookie.includes('_vids=')");
    const { _vid: newer, _vids } = await cookies();
    expect([newer === older, _vids]).toEqual([false, older]);
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId));
    expect(await storedOrder(orderId)).toMatchObject({ visitor_id: newer, other_visitor_ids: [older] });
    await expect.poll(() => conversions(served)).toMatchObject({ newsletter: 0, youtube: 1 });
  });

  test('because two shops share its domain is credited in each to its own click', async () => {
    const shops = [
      { of: served, host: 'shop-a.plat.localhost', channel: 'tiktok' },
      { of: neighbor, host: 'shop-b.plat.localhost', channel: 'facebook' },
    ];
    for (const { of, host, channel } of shops) {
      const path = site.put(host, `<title>Shop</title><script async src="${address(of)}"></script>`);
      await page.goto(await linkTo(`http://${host}:${site.port}${path}`, channel, of));
      await page.waitForFunction("window.hoplog && document.cookie.includes('_vid=')");
    }
    for (const { of, host, channel } of shops) {
      const orderId = nextOrder();
      await page.goto(`http://${host}:${site.port}/${host}`);
      await page.waitForFunction('window.hoplog');
      await page.evaluate(callOf(orderId));
      await arrived(orderId, of);
      await expect.poll(() => conversions(of)).toMatchObject({ [channel]: 1 });
    }
  });

  test('keeps another tool’s `_vid`, and sends its own', async () => {
    await context.addCookies([{ name: '_vid', value: 'theirs', url: origin }]);
    await open(tag, {}, `?_vid=${VID(1)}`);
    await page.waitForFunction('window.hoplog && hoplog.visitor()');
    expect(await cookies()).toEqual({ _vid: 'theirs', _vids: VID(1) });
  });
});

describe('an address that was copied after the click', () => {
  /** Stores a click of a visitor some minutes ago, and returns the visitor. */
  async function clicked(minutesAgo: number): Promise<string> {
    const visitor = uuidv7();
    const event = clickKey({
      ts: (Date.now() - minutesAgo * 60_000) * 1_000,
      workspaceId: uuidToBytes(served.service.demo.workspace_id),
      linkId: uuidToBytes(uuidv7()),
      visitorId: uuidToBytes(visitor),
    });
    const row = { event, enriched: enrichedClick(), ordinal: 999, sequence: 0n };
    await insertBlock(clickhouse, { table: 'clicks', block: clickBlock([row]), token: visitor });
    return visitor;
  }

  test.each([
    [35, false],
    [25, true],
  ])('and is opened %i minutes after it: the buyer is the visitor: %s', async (minutes, isVisitor) => {
    const visitor = await clicked(minutes);
    await open(tag, {}, `?_vid=${visitor}`);
    await page.waitForFunction('window.hoplog && hoplog.visitor()');
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId, ", email: 'friend@shop.example'"));
    expect(await storedOrder(orderId)).toMatchObject({
      visitor_id: isVisitor ? visitor : null,
      email: 'friend@shop.example',
    });
  });

  test('stays the visitor’s own in the browser that clicked, however late it buys or opens it again', async () => {
    const visitor = await clicked(50);
    await page.clock.install({ time: Date.now() - 49 * 60_000 });
    await open(tag, {}, `?_vid=${visitor}`);
    await page.waitForFunction('window.hoplog && hoplog.visitor()');
    await page.clock.setSystemTime(Date.now());
    await open(tag, {}, `?_vid=${visitor}`);
    await page.waitForFunction('window.hoplog && hoplog.visitor()');
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId));
    expect(await storedOrder(orderId)).toMatchObject({ visitor_id: visitor });
  });

  test('is dated from the page that was opened, not from a consent that came later', async () => {
    const visitor = await clicked(50);
    await page.clock.install({ time: Date.now() - 49 * 60_000 });
    await open(tag.replace('<script', '<script data-consent="wait"'), {}, `?_vid=${visitor}`);
    await page.waitForFunction('window.hoplog && hoplog.visitor');
    await page.clock.setSystemTime(Date.now());
    await open(tag.replace('<script', '<script data-consent="wait"'));
    await page.waitForFunction('window.hoplog && hoplog.visitor');
    const orderId = nextOrder();
    await page.evaluate(`hoplog.consent(true); ${callOf(orderId)}`);
    expect(await storedOrder(orderId)).toMatchObject({ visitor_id: visitor });
  });
});

describe('an order arrives', () => {
  test.each([
    [
      'with numbers that JavaScript added up',
      '{ order_id: 1001.5, amount: 1.1 * 3, currency: "EUR ", email: "" }',
      '1001.5',
      { amount_minor: 330, currency: 'eur', email: null },
    ],
    [
      'with a whole cart',
      '{ order_id: "cart", amount: "49.90", email: "guest", items: Array(300).fill({ name: "x".repeat(90) }) }',
      'cart',
      { amount_minor: 4_990, email: null },
    ],
    [
      'with numbers as ids',
      '{ order_id: 1002, amount: 100 / 3, external_user_id: 42 }',
      '1002',
      { amount_minor: 3_333, external_user_id: '42' },
    ],
    ['with a bigint', '{ order_id: "big", amount: 10n }', 'big', { amount_minor: 1_000 }],
  ])('%s', async (_what, fields, orderId, stored) => {
    await open(tag);
    await page.waitForFunction('window.hoplog');
    await page.evaluate(`hoplog.order(${fields})`);
    expect(await storedOrder(orderId)).toMatchObject(stored);
  });

  test.each([
    [
      'in a sandboxed frame',
      (order: string) =>
        `<iframe sandbox="allow-scripts" srcdoc='${tag.replace('async', '')}<script>${order}</script>'></iframe>`,
    ],
    [
      'where cookies throw',
      (order: string) =>
        `<script>Object.defineProperty(document, "cookie", { get() { throw new Error("no") }, set() { throw new Error("no") } })</script>${tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where the history throws',
      (order: string) =>
        `<script>history.replaceState = History.prototype.replaceState = () => { throw new Error("no") }</script>${tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where the storage throws',
      (order: string) =>
        `<script>Object.defineProperty(window, "sessionStorage", { get() { throw new Error("no") } })</script>${tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where the page has a variable URL',
      (order: string) =>
        `<script>var URL = "https://shop.example"</script>${tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where beacons throw',
      (order: string) =>
        `<script>navigator.sendBeacon = () => { throw new Error("no") }</script>${tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'after a call that can’t be sent',
      (order: string) =>
        `${tag.replace('async', '')}<script>hoplog.order({ get order_id() { throw new Error("no") } }); hoplog.order(5); hoplog.identify(); ${order}</script>`,
    ],
    [
      'after a queued call that can’t be sent',
      (order: string) =>
        `<script>window.hoplog = { q: [null, ["order", { order_id: Symbol(), get amount() { throw 1 } }]], order(f) { this.q.push(["order", f]) } }; ${order}</script>${tag}`,
    ],
    [
      'that was queued in an array',
      (order: string) =>
        `<script>window.hoplog = []; ${order.replace(/hoplog\.order\((.*)\)/, "hoplog.push(['order', $1])")}</script>${tag}`,
    ],
    [
      'that was queued in the stub of `tracker`',
      (order: string) =>
        `<script>window.tracker = { q: [], identify(f) { this.q.push(["identify", f]) }, order(f) { this.q.push(["order", f]) } }; ${order.replace('hoplog.', 'tracker.')}</script>${tag}`,
    ],
  ])('%s', async (_what, html) => {
    const orderId = nextOrder();
    await open(
      html(callOf(orderId).replaceAll("'", '&quot;').replaceAll('&quot;', '"')),
      {},
      `?_vid=${VID(2)}`,
    );
    await arrived(orderId);
    expect(said.filter((text) => text.startsWith('thrown'))).toEqual([]);
  });

  test('while 64 KiB of another script’s beacons are under way', async () => {
    await open(tag);
    await page.waitForFunction('window.hoplog');
    const orderId = nextOrder();
    expect(
      await page.evaluate(`
        [navigator.sendBeacon('/hang', 'x'.repeat(65_536)), navigator.sendBeacon('${served.service.short_url}/collect', '{}')]`),
    ).toEqual([true, false]);
    await page.evaluate(callOf(orderId));
    await arrived(orderId);
  });
});

describe('the names in the page', () => {
  test.each([
    [
      'an own tracker',
      '<script>window.tracker = { mine: true, q: [] }</script>',
      'tracker.mine === true && !tracker.order',
    ],
    ['an element', '<div id="tracker"></div>', 'tracker instanceof HTMLElement'],
    ['a constant', '<script>const tracker = "mine"</script>', 'tracker === "mine"'],
    ['none', '', 'tracker === hoplog'],
  ])('%s of the name tracker stays, and hoplog works', async (_what, html, holds) => {
    await open(html + tag);
    await page.waitForFunction('window.hoplog && hoplog.visitor');
    expect(await page.evaluate(holds)).toBe(true);
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId));
    await arrived(orderId);
    expect(said).toEqual([]);
  });

  test('two keys get each call once, also one from before the second script', async () => {
    await open(tag);
    await page.waitForFunction('window.hoplog');
    const [early, late] = [nextOrder(), nextOrder()];
    await page.evaluate(callOf(early));
    const posted: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && posted.push(request.postData() ?? ''));
    const before = await page.evaluateHandle('hoplog');
    for (const of of [neighbor, served]) await page.addScriptTag({ url: address(of) });
    await page.evaluate(callOf(late));
    for (const of of [served, neighbor]) for (const orderId of [early, late]) await arrived(orderId, of);
    expect(
      await page.evaluate(({ one }) => one === (globalThis as { hoplog?: unknown }).hoplog, { one: before }),
    ).toBe(true);
    expect(posted).toHaveLength(3);
  });
});

describe('the pixel finds itself', () => {
  const key = () => served.service.demo.publishable_key;
  const src = () => `${served.service.short_url}/pixel.js`;
  test.each([
    ['with data-key', () => `<script async src="${src()}" data-key="${key()}"></script>`],
    [
      'where a tag manager strips data-key',
      () =>
        `<script>const s = document.createElement('script'); s.src = '${address()}'; document.head.append(s)</script>`,
    ],
    [
      'with a key that ends in a line end',
      () => `<script async src="${src()}" data-key="${key()}\n"></script>`,
    ],
    [
      'as a module with other parameters',
      () => `<script type="module" src="${src()}?v=2" data-key="${key()}"></script>`,
    ],
    [
      'as a module with the key in its address',
      () => `<script type="module" src="${src()}?v=2&key=${key()}"></script>`,
    ],
    ['under a path of the shop’s own host', () => `<script async src="/hop/pixel.js?key=${key()}"></script>`],
    [
      'as a copy on the shop’s own host',
      () => `<script async src="/copied/pixel.js" data-key="${key()}"></script>`,
    ],
    ['in the file of an optimizer', () => `<script src="/bundle.js"></script>`],
    [
      'in the file of an optimizer, with data-key',
      () => `<script src="/bundle-of-file.js" data-key="${key()}"></script>`,
    ],
  ])('%s', async (_what, html) => {
    const bundle = await (await fetch(address())).text();
    site.put('bundle.js', `var other = 1;\n${bundle}\n;var more = 2;`);
    const file = await (await fetch(src())).text();
    site.put('bundle-of-file.js', file);
    site.put('copied/pixel.js', file);
    await open(html());
    await page.waitForFunction('window.hoplog && hoplog.visitor');
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId));
    await arrived(orderId);
    expect(said.filter((text) => text.includes('[hoplog]'))).toEqual([]);
  });

  test.each([
    [
      'no key',
      () => `<script async src="${src()}"></script>`,
      {},
      /^\[hoplog\] no key found: add \?key=pk_live_/,
    ],
    [
      'a secret key',
      () => `<script async src="${src()}?key=${served.service.demo.secret_key}"></script>`,
      {},
      /^\[hoplog\] .*secret key must never/,
    ],
    [
      'a file that no ingest served',
      async () => {
        site.put('raw.js', await readFile(join(DIST_DIR, 'pixel.js'), 'utf8'));
        return `<script async src="/raw.js" data-key="${key()}"></script>`;
      },
      {},
      /^\[hoplog\] the address of the short links is unknown/,
    ],
    [
      'a policy without connect-src',
      () =>
        `${tag}<script>addEventListener('load', () => { for (let n = 0; n < 3; n++) hoplog.order({ order_id: n, amount: 1 }) })</script>`,
      { 'content-security-policy': `default-src 'none'; script-src 'unsafe-inline' http://127.0.0.1:*` },
      /^\[hoplog\] .*Content-Security-Policy.*add http:\/\/127\.0\.0\.1:\d+ to connect-src/,
    ],
  ])('and says once why it can’t work with %s', async (_what, html, headers, why) => {
    await open(await html(), headers as Record<string, string>);
    await expect
      .poll(() => said.filter((text) => text.startsWith('[hoplog]')))
      .toEqual([expect.stringMatching(why)]);
  });
});

describe('consent', () => {
  const waiting = () => tag.replace('<script', '<script data-consent="wait"');

  test('is waited for: nothing is sent or stored but the address’s id, then all is', async () => {
    const posted: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await open(waiting(), {}, `?_vid=${VID(3)}`);
    await page.waitForFunction('window.hoplog && hoplog.consent');
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId));
    expect(await page.evaluate('hoplog.visitor()')).toBeNull();
    // Another page of the visit: the consent comes there.
    await open(waiting());
    await page.waitForFunction('window.hoplog && hoplog.consent');
    await page.evaluate(callOf(orderId));
    expect([posted, await allCookies()]).toEqual([[], {}]);
    expect(await page.evaluate('({ ...sessionStorage })')).toEqual({
      _vid: expect.stringMatching(new RegExp(`^${VID(3)}\\.[0-9a-z]{6}$`)),
    });
    await page.evaluate('hoplog.consent(true)');
    expect(await storedOrder(orderId)).toMatchObject({ visitor_id: VID(3) });
    expect([await cookies(), await page.evaluate('sessionStorage.length')]).toEqual([{ _vid: VID(3) }, 0]);
  });

  test('that is refused removes everything, and nothing is sent', async () => {
    const posted: string[] = [];
    await context.addCookies([
      { name: '_vid', value: VID(4), url: origin },
      { name: '_vids', value: VID(5), url: origin },
    ]);
    page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await open(waiting(), {}, `?_vid=${VID(3)}`);
    await page.waitForFunction('window.hoplog && hoplog.consent');
    await page.evaluate(`${callOf(nextOrder())}; hoplog.consent(false); ${callOf(nextOrder())}`);
    expect([posted, await allCookies(), await page.evaluate('sessionStorage.length')]).toEqual([[], {}, 0]);
  });

  test('under Global Privacy Control no id is kept or sent', async () => {
    await context.addCookies([
      { name: '_vid', value: VID(4), url: origin },
      { name: '_vids', value: VID(5), url: origin },
    ]);
    await page.addInitScript("Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })");
    await open(tag, {}, `?_vid=${VID(3)}`);
    await page.waitForFunction('window.hoplog && hoplog.consent');
    const orderId = nextOrder();
    await page.evaluate(callOf(orderId, ", email: 'a@example.com', external_user_id: 'u'"));
    expect(await storedOrder(orderId)).toMatchObject({
      visitor_id: null,
      other_visitor_ids: [],
      email: null,
      external_user_id: null,
    });
    expect([await allCookies(), await page.evaluate('hoplog.visitor()')]).toEqual([{}, null]);
  });
});

describe('the address', () => {
  const tool = `<script>window.views = 0; for (const name of ['pushState', 'replaceState']) { const write = history[name]; history[name] = function () { views++; return write.apply(this, arguments) } }</script>`;

  test('loses the id without a view for tools that count changes of the history', async () => {
    await open(tool + tag, {}, `?a=%7E&_vid=${VID(6)}#x`);
    await page.waitForFunction('window.hoplog');
    expect(await page.evaluate('[views, location.search, location.hash]')).toEqual([0, '?a=%7E', '#x']);
  });

  test('does not get it back by what routers write', async () => {
    await open(tag, {}, `?_vid=${VID(6)}`);
    await page.waitForFunction('window.hoplog');
    await page.evaluate(
      `history.pushState({ a: 1 }, '', '?b=1&_vid=${VID(6)}'); history.replaceState(history.state, '', location.href)`,
    );
    expect(await page.evaluate('[location.search, history.state]')).toEqual(['?b=1', { a: 1 }]);
    await page.evaluate(`history.replaceState(null, '')`);
    expect(await page.evaluate('location.search')).toBe('?b=1');
  });

  test('keeps it with data-keep-address', async () => {
    await open(tag.replace('<script', '<script data-keep-address'), {}, `?_vid=${VID(6)}`);
    await page.waitForFunction('window.hoplog && hoplog.visitor');
    expect(await page.evaluate('[location.search, hoplog.visitor()]')).toEqual([`?_vid=${VID(6)}`, VID(6)]);
  });
});
