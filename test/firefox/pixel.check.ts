import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildWeb, DIST_DIR } from '../../web/build.ts';
import { type FirefoxPage, openFirefox } from './bidi.ts';

/**
 * The pixel in Firefox: what browsers may do differently. `test/browser/pixel-pages.test.ts` has the rest, in Chromium.
 */

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7f1';
const LANDING = `?a=1&_vid=${VID}`;

type Sent = { order_id: string; visitor_id: string | null };
type Site = {
  shop: string;
  short: string;
  put(path: string, html: string, headers: object): void;
  close(): void;
};

const arrived = new Map<string, Sent>();
let firefox: FirefoxPage;
let site: Site;
let orders = 0;

beforeAll(async () => {
  await buildWeb();
  site = await startSite();
  firefox = await openFirefox('firefox-esr');
});
afterAll(async () => {
  await firefox?.close();
  site?.close();
});

async function startSite(): Promise<Site> {
  const pixel = readFileSync(join(DIST_DIR, 'pixel.js'));
  const pages = new Map<string, { html: string; headers: object }>();
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    response.setHeader('access-control-allow-origin', '*');
    if (path === '/hang') return void request.resume();
    if (path.endsWith('/collect')) {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const sent = JSON.parse(body) as Sent;
        arrived.set(sent.order_id, sent);
        response.writeHead(202).end('{"ok":true}');
      });
      return;
    }
    if (path.endsWith('/pixel.js')) {
      response.setHeader('content-type', 'text/javascript');
      return void response.end(pixel);
    }
    const page = pages.get(path);
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html', ...page?.headers });
    response.end(page?.html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    shop: `http://localhost:${port}`,
    short: `http://127.0.0.1:${port}`,
    put: (path, html, headers) => pages.set(path, { html, headers }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const tag = () => `<script async src="${site.short}/pixel.js?key=pk_live_firefox"></script>`;
const sync = () => tag().replace('async ', '');

/** Opens a page; `run` is called in it once the pixel has loaded. Returns the order id. */
async function visit(
  html: (order: string) => string,
  {
    query = '',
    headers = {},
    run,
  }: { query?: string; headers?: object; run?: (order: string) => string } = {},
): Promise<string> {
  const id = `order-${++orders}`;
  const order = `hoplog.order({ order_id: "${id}", amount: 5 })`;
  site.put(`/${id}`, `<!doctype html><title>Shop</title>${html(order)}`, headers);
  firefox.said();
  await firefox.open(`${site.shop}/${id}${query}`);
  if (run) {
    await expect.poll(() => firefox.evaluate('!!window.hoplog && !!hoplog.visitor')).toBe(true);
    await firefox.evaluate(`${run(order)}; null`);
  }
  return id;
}

const sent = (id: string) => expect.poll(() => arrived.get(id));

test.each<[string, (order: string) => string]>([
  [
    'in a sandboxed frame',
    (order) => `<iframe sandbox="allow-scripts" srcdoc='${sync()}<script>${order}</script>'></iframe>`,
  ],
  [
    'where cookies throw',
    (order) =>
      `<script>Object.defineProperty(document, "cookie", { get() { throw 1 }, set() { throw 1 } })</script>${sync()}<script>${order}</script>`,
  ],
  [
    'where the history throws',
    (order) =>
      `<script>history.replaceState = History.prototype.replaceState = () => { throw 1 }</script>${sync()}<script>${order}</script>`,
  ],
  [
    'where the page has a variable URL',
    (order) => `<script>var URL = "x"</script>${sync()}<script>${order}</script>`,
  ],
  [
    'where beacons throw',
    (order) => `<script>navigator.sendBeacon = () => { throw 1 }</script>${sync()}<script>${order}</script>`,
  ],
  [
    'that was queued',
    (order) =>
      `<script>window.hoplog = []; ${order.replace(/hoplog\.order\((.*)\)/, "hoplog.push(['order', $1])")}</script>${tag()}`,
  ],
])('an order %s arrives', async (_what, html) => {
  await sent(await visit(html, { query: LANDING })).toBeDefined();
});

test.each<[string, () => string, (order: string) => string]>([
  [
    'while 64 KiB of beacons are under way',
    tag,
    (order) => `navigator.sendBeacon('/hang', 'x'.repeat(65_536)); ${order}`,
  ],
  [
    'as the page closes',
    tag,
    (order) => `addEventListener('pagehide', () => { ${order} }); location.href = '/gone'`,
  ],
  [
    'beside a constant named tracker',
    () => `<script>const tracker = "mine"</script>${tag()}`,
    (order) => order,
  ],
  [
    'from a module',
    () => `<script type="module" src="${site.short}/pixel.js?v=2" data-key="pk_live_firefox"></script>`,
    (order) => order,
  ],
  [
    'from a path of the own host',
    () => '<script async src="/hop/pixel.js?key=pk_live_firefox"></script>',
    (order) => order,
  ],
])('an order %s arrives too', async (_what, html, run) => {
  await sent(await visit(html, { run })).toBeDefined();
});

test('the address loses the id for good, and the order has it', async () => {
  const run = (order: string) => `history.pushState(1, '', '?b=1&_vid=${VID}'); ${order}`;
  await sent(await visit(tag, { query: LANDING, run })).toMatchObject({ visitor_id: VID });
  expect(await firefox.evaluate('location.search')).toBe('?b=1');
});

test('a policy without connect-src is named in the console', async () => {
  await visit((order) => `${sync()}<script>addEventListener('load', () => { ${order} })</script>`, {
    headers: { 'content-security-policy': `default-src 'none'; script-src 'unsafe-inline' ${site.short}` },
  });
  const texts: string[] = [];
  await expect
    .poll(() => texts.push(...firefox.said()) && texts.join('\n'))
    .toMatch(/\[hoplog\] .*connect-src/);
});

test('consent is waited for, and Global Privacy Control is respected', async () => {
  const waiting = () => tag().replace('<script', '<script data-consent="wait"');
  const run = (order: string) => `${order}; hoplog.consent(true)`;
  await sent(await visit(waiting, { query: LANDING, run })).toMatchObject({ visitor_id: VID });
  const control = `<script>Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })</script>`;
  await sent(await visit(() => control + tag(), { query: LANDING, run: (order) => order })).toMatchObject({
    visitor_id: null,
  });
  expect(String(await firefox.evaluate('document.cookie'))).not.toContain('_vid');
});
