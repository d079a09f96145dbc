import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DIST_DIR } from '../../web/build.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { inChromium } from './in-chromium.ts';
import { addressOf, arrived, callOf, nextOrder, open, pixelDesk, VID } from './pixel-desk.ts';

const desk = pixelDesk();
let neighbor: ServedWorkspace;

inChromium(async () => {
  neighbor = await servedWorkspace();
  return neighbor.close;
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
    await open(desk, desk.tag);
    await desk.page.waitForFunction('window.hoplog');
    await desk.page.evaluate(`hoplog.order(${fields})`);
    expect(await arrived(orderId, desk.served)).toMatchObject(stored);
  });

  test.each([
    [
      'in a sandboxed frame',
      (order: string) =>
        `<iframe sandbox="allow-scripts" srcdoc='${desk.tag.replace('async', '')}<script>${order}</script>'></iframe>`,
    ],
    [
      'where cookies throw',
      (order: string) =>
        `<script>Object.defineProperty(document, "cookie", { get() { throw new Error("no") }, set() { throw new Error("no") } })</script>${desk.tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where the history throws',
      (order: string) =>
        `<script>history.replaceState = History.prototype.replaceState = () => { throw new Error("no") }</script>${desk.tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where the storage throws',
      (order: string) =>
        `<script>Object.defineProperty(window, "sessionStorage", { get() { throw new Error("no") } })</script>${desk.tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where the page has a variable URL',
      (order: string) =>
        `<script>var URL = "https://shop.example"</script>${desk.tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where beacons throw',
      (order: string) =>
        `<script>navigator.sendBeacon = () => { throw new Error("no") }</script>${desk.tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'where beacons are full and a fetch with `keepalive` throws, as in older WebViews',
      (order: string) =>
        `<script>navigator.sendBeacon = () => false; const plain = fetch; window.fetch = (url, init) => { if (init.keepalive) throw new TypeError("no"); return plain(url, init) }</script>${desk.tag.replace('async', '')}<script>${order}</script>`,
    ],
    [
      'that was queued before its consent, which was queued too',
      (order: string) =>
        `<script>window.hoplog = []; ${order.replace(/hoplog\.order\((.*)\)/, "hoplog.push(['order', $1])")}; hoplog.push(["consent", true])</script>${desk.tag.replace('async', 'async data-consent="wait"')}`,
    ],
    [
      'after a call that can’t be sent',
      (order: string) =>
        `${desk.tag.replace('async', '')}<script>hoplog.order({ get order_id() { throw new Error("no") } }); hoplog.order(5); hoplog.identify(); ${order}</script>`,
    ],
    [
      'after a queued call that can’t be sent',
      (order: string) =>
        `<script>window.hoplog = { q: [null, ["order", { order_id: Symbol(), get amount() { throw 1 } }]], order(f) { this.q.push(["order", f]) } }; ${order}</script>${desk.tag}`,
    ],
    [
      'that was queued in an array',
      (order: string) =>
        `<script>window.hoplog = []; ${order.replace(/hoplog\.order\((.*)\)/, "hoplog.push(['order', $1])")}</script>${desk.tag}`,
    ],
    [
      'that was queued in the stub of `tracker`',
      (order: string) =>
        `<script>window.tracker = { q: [], identify(f) { this.q.push(["identify", f]) }, order(f) { this.q.push(["order", f]) } }; ${order.replace('hoplog.', 'tracker.')}</script>${desk.tag}`,
    ],
  ])('%s', async (_what, html) => {
    const orderId = nextOrder();
    await open(
      desk,
      html(callOf(orderId).replaceAll("'", '&quot;').replaceAll('&quot;', '"')),
      {},
      `?_vid=${VID(2)}`,
    );
    await arrived(orderId, desk.served);
    expect(desk.messages.filter((text) => text.startsWith('thrown'))).toEqual([]);
  });

  test('while 64 KiB of another script’s beacons are under way', async () => {
    await open(desk, desk.tag);
    await desk.page.waitForFunction('window.hoplog');
    const orderId = nextOrder();
    expect(
      await desk.page.evaluate(`
        [navigator.sendBeacon('/hang', 'x'.repeat(65_536)), navigator.sendBeacon('${desk.served.service.short_url}/collect', '{}')]`),
    ).toEqual([true, false]);
    await desk.page.evaluate(callOf(orderId));
    await arrived(orderId, desk.served);
  });

  test('twice at once, though the path of the script does not take calls', async () => {
    const file = await fetch(`${desk.served.service.short_url}/pixel.js`);
    desk.site.put('copied/pixel.js', await file.text());
    const [first, second] = [nextOrder(), nextOrder()];
    const key = desk.served.service.demo.publishable_key;
    await open(
      desk,
      `<script src="/copied/pixel.js" data-key="${key}"></script><script>${callOf(first)}; ${callOf(second)}</script>`,
    );
    for (const orderId of [first, second]) await arrived(orderId, desk.served);
  });
});

test('a queued visitor() calls back with the id, and later ones return it too', async () => {
  await open(
    desk,
    `<script>window.hoplog = []; window.told = []; hoplog.push(['visitor', (id) => told.push(id)])</script>${desk.tag}`,
    {},
    `?_vid=${VID(3)}`,
  );
  await expect.poll(() => desk.page.evaluate('told')).toEqual([VID(3)]);
  expect(await desk.page.evaluate('hoplog.visitor((id) => told.push(id))')).toBe(VID(3));
  expect(await desk.page.evaluate('told')).toEqual([VID(3), VID(3)]);
});

describe('all of 300 calls that were queued arrive', () => {
  const queue = () => {
    const ids = Array.from({ length: 300 }, (_, nth) => `${nextOrder()}-${nth}`);
    const queued = ids.map((order_id) => ['order', { order_id, amount: 1 }]);
    return { ids, script: `<script>window.hoplog = ${JSON.stringify(queued)}</script>` };
  };
  const allArrive = async (ids: string[]) => {
    const { pool, service } = desk.served;
    const count = async () => {
      const { rows } = await pool.query<{ orders: number }>(
        'SELECT count(*)::int AS orders FROM orders WHERE workspace_id = $1 AND order_id = ANY ($2)',
        [service.demo.workspace_id, ids],
      );
      return rows[0]?.orders;
    };
    await expect.poll(count, { timeout: 30_000, interval: 200 }).toBe(300);
  };

  test('where the server responds', async () => {
    const { ids, script } = queue();
    await open(desk, script + desk.tag);
    await allArrive(ids);
  });

  // Chromium drops a beacon that it took when the page has 256 of them under way.
  test('where the server responds to none until the last was called', async () => {
    const { ids, script } = queue();
    const { short_url, demo } = desk.served.service;
    const file = await (await fetch(`${short_url}/pixel.js`)).text();
    desk.site.put('held/pixel.js', file.replaceAll(short_url, `${desk.origin}/held`));
    await open(desk, `${script}<script src="/held/pixel.js" data-key="${demo.publishable_key}"></script>`);
    // Timers run in the order in which they are due: these come after those of the calls.
    for (let nth = 0; nth < 5; nth++)
      await desk.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 10)));
    desk.site.release();
    await allArrive(ids);
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
    await open(desk, html + desk.tag);
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor');
    expect(await desk.page.evaluate(holds)).toBe(true);
    const orderId = nextOrder();
    await desk.page.evaluate(callOf(orderId));
    await arrived(orderId, desk.served);
    expect(desk.messages).toEqual([]);
  });

  test('two keys get each call once, also one from before the second script', async () => {
    await open(desk, desk.tag);
    await desk.page.waitForFunction('window.hoplog');
    const [early, late] = [nextOrder(), nextOrder()];
    await desk.page.evaluate(callOf(early));
    await arrived(early, desk.served);
    const posted: string[] = [];
    desk.page.on(
      'request',
      (request) => request.method() === 'POST' && posted.push(request.postData() ?? ''),
    );
    const before = await desk.page.evaluateHandle('hoplog');
    for (const of of [neighbor, desk.served]) await desk.page.addScriptTag({ url: addressOf(of) });
    await desk.page.evaluate(callOf(late));
    for (const of of [desk.served, neighbor]) for (const orderId of [early, late]) await arrived(orderId, of);
    expect(
      await desk.page.evaluate(({ one }) => one === (globalThis as { hoplog?: unknown }).hoplog, {
        one: before,
      }),
    ).toBe(true);
    // The browser reports a beacon later than the order that it carries may arrive.
    await expect.poll(() => posted).toHaveLength(3);
  });
});

describe('the pixel finds itself', () => {
  const key = () => desk.served.service.demo.publishable_key;
  const src = () => `${desk.served.service.short_url}/pixel.js`;
  const shortLinks = () => desk.served.service.short_url;
  test.each<[what: string, html: () => string, calls?: () => string]>([
    ['with data-key', () => `<script async src="${src()}" data-key="${key()}"></script>`],
    [
      'where a tag manager strips data-key',
      () =>
        `<script>const s = document.createElement('script'); s.src = '${addressOf(desk.served)}'; document.head.append(s)</script>`,
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
    [
      'under a path of the shop’s own host, which gets the calls',
      () => `<script async src="/hop/pixel.js?key=${key()}"></script>`,
      () => `${desk.origin}/hop`,
    ],
    [
      'as a copy on the shop’s own host',
      () => `<script async src="/copied/pixel.js" data-key="${key()}"></script>`,
    ],
    [
      'as such a copy with the key in its address',
      () => `<script async src="/copied/pixel.js?key=${key()}"></script>`,
    ],
    ['in the file of an optimizer', () => `<script src="/bundle.js"></script>`],
    [
      'in the file of an optimizer, with data-key',
      () => `<script src="/bundle-of-file.js" data-key="${key()}"></script>`,
    ],
  ])('%s', async (_what, html, calls = shortLinks) => {
    const bundle = await (await fetch(addressOf(desk.served))).text();
    desk.site.put('bundle.js', `var other = 1;\n${bundle}\n;var more = 2;`);
    const file = await (await fetch(src())).text();
    desk.site.put('bundle-of-file.js', file);
    desk.site.put('copied/pixel.js', file);
    await open(desk, html());
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor');
    const orderId = nextOrder();
    const posted: string[] = [];
    desk.page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await desk.page.evaluate(callOf(orderId));
    await arrived(orderId, desk.served);
    await expect.poll(() => posted).toContain(`${calls()}/collect`);
    expect(desk.messages.filter((text) => text.includes('[hoplog]'))).toEqual([]);
  });

  test.each<
    [
      what: string,
      html: () => string | Promise<string>,
      headers: Record<string, string>,
      why: RegExp,
      again?: string,
    ]
  >([
    [
      'no key',
      () => `<script async src="${src()}"></script>`,
      {},
      /^\[hoplog\] no key found: add \?key=pk_live_/,
    ],
    [
      'a secret key',
      () => `<script async src="${src()}?key=${desk.served.service.demo.secret_key}"></script>`,
      {},
      /^\[hoplog\] .*secret key must never/,
    ],
    [
      'a file that no ingest served',
      async () => {
        desk.site.put('raw.js', await readFile(join(DIST_DIR, 'pixel.js'), 'utf8'));
        return `<script async src="/raw.js" data-key="${key()}"></script>`;
      },
      {},
      /^\[hoplog\] the address of the short links is unknown/,
    ],
    [
      'a policy without connect-src',
      () =>
        `${desk.tag}<script>addEventListener('load', () => { for (let n = 0; n < 3; n++) hoplog.order({ order_id: n, amount: 1 }) })</script>`,
      { 'content-security-policy': `default-src 'none'; script-src 'unsafe-inline' http://127.0.0.1:*` },
      /^\[hoplog\] .*Content-Security-Policy.*add http:\/\/127\.0\.0\.1:\d+ to connect-src/,
      `new Promise((done) => {
        addEventListener('securitypolicyviolation', done);
        hoplog.order({ order_id: 'again', amount: 1 });
      })`,
    ],
  ])(
    'and says once why it can’t work with %s',
    async (_what, html, headers, why, again = 'hoplog.visitor()') => {
      await open(desk, await html(), headers);
      const said = () => desk.messages.filter((text) => text.startsWith('[hoplog]'));
      await expect.poll(said).toEqual([expect.stringMatching(why)]);
      await desk.page.evaluate(`(async () => { await ${again}; console.log('tried again') })()`);
      await expect.poll(() => desk.messages).toContain('tried again');
      expect(said()).toHaveLength(1);
    },
  );
});
