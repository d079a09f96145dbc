import { createRequire } from 'node:module';
import { transformSync } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sharedChromium } from '../browser/chromium.ts';
import { inChromium } from '../browser/in-chromium.ts';
import { type PagesSite, startPages } from '../browser/pages-site.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { LIMIT_MS } from '../support/until.ts';
import { readDocument } from './markdown.ts';

/** A fenced block, with the heading above it. Address and key are those of the test. */
type Snippet = { heading: string; language: string; code: string };

let served: ServedWorkspace;
let site: PagesSite;
let browser: Browser;
let snippets: Snippet[];

inChromium(async () => {
  served = await servedWorkspace();
  const { short_url, demo } = served.service;
  snippets = snippetsOf(
    readDocument('docs/pixel.md')
      .replaceAll('https://go.example.com', short_url)
      .replaceAll('pk_live_...', demo.publishable_key),
  );
  site = await startPages(short_url);
  browser = await sharedChromium();
  return async () => {
    site.close();
    await served.close();
  };
});

function snippetsOf(document: string): Snippet[] {
  return document.split(/^##+ /m).flatMap((section) => {
    const [heading = ''] = section.split('\n');
    return [...section.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', code = '']) => ({
      heading,
      language,
      code,
    }));
  });
}

/** Returns the one snippet of a section and language, as the document has it. */
function snippet(heading: string, language: string, nth = 0): string {
  const found = snippets.filter((one) => one.heading === heading && one.language === language)[nth];
  if (!found) throw new Error(`docs/pixel.md has no ${language} under "${heading}"`);
  run.add(found);
  return found.code;
}
const run = new Set<Snippet>();

let pages = 0;
/** Opens a page with this in its head, in a browser of its own. */
async function open(head: string, options: { body?: string; headers?: Record<string, string> } = {}) {
  const context = await browser.newContext();
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const html = `<!doctype html><html><head><title>Shop</title>${head}</head><body>${options.body ?? ''}</body></html>`;
  const path = site.put(`documented-${++pages}`, { html, headers: options.headers ?? {} });
  await page.goto(`http://localhost:${site.port}${path}`);
  return page;
}

async function orderArrives(page: Page): Promise<void> {
  await page.waitForFunction('window.hoplog && hoplog.visitor');
  const orderId = `documented-${pages}`;
  await page.evaluate(`hoplog.order({ order_id: '${orderId}', amount: 5 })`);
  await arrived(orderId);
  await page.context().close();
}

async function arrived(orderId: string, of = served) {
  const find = async () =>
    (
      await of.pool.query(
        `SELECT amount_minor::integer, currency, email FROM orders WHERE workspace_id = $1 AND order_id = $2`,
        [of.service.demo.workspace_id, orderId],
      )
    ).rows[0] ?? null;
  await expect.poll(find).not.toBeNull();
  return find();
}

const tag = () => snippet('Install it', 'html');

test('the tag is installed', async () => {
  await orderArrives(await open(tag()));
});

test('a signup and an order are reported', async () => {
  const page = await open(tag());
  await page.waitForFunction('window.hoplog && hoplog.visitor');
  const code = /<script>(.*)<\/script>/s.exec(snippet('Report a signup and an order', 'html'))?.[1] ?? '';
  await page.addScriptTag({ content: code });
  expect(await arrived('1001')).toEqual({ amount_minor: 4_990, currency: 'eur', email: 'ada@example.com' });
  await page.context().close();
});

test('a call before the pixel has loaded arrives', async () => {
  // In another workspace, which has no order of this number yet.
  const other = await servedWorkspace();
  const [key, otherKey] = [served, other].map(({ service }) => service.demo.publishable_key);
  const page = await open(
    (snippet('Before the pixel has loaded', 'html') + tag()).replace(key ?? '', otherKey ?? ''),
  );
  expect(await arrived('1001', other)).toEqual({ amount_minor: 4_990, currency: 'eur', email: null });
  await page.context().close();
  await other.close();
});

test('a page with that Content-Security-Policy works', async () => {
  const policy = snippet('Content-Security-Policy', 'text').trim();
  await orderArrives(await open(tag(), { headers: { 'content-security-policy': policy } }));
});

test('the script works from the own host', async () => {
  // The site passes on as this line of nginx says.
  expect(snippet('Serve it from your own host', 'text')).toContain(
    `location /hop/ { proxy_pass ${served.service.short_url}/; }`,
  );
  await orderArrives(await open(snippet('Serve it from your own host', 'html')));
});

test('the layout of Next.js has the tag', async () => {
  const code = transformSync(snippet('Single-page applications', 'jsx'), {
    loader: 'jsx',
    jsx: 'automatic',
    format: 'cjs',
  }).code;
  // Not imported: React's types declare those of a page, which tests of Node have from elsewhere.
  const load = createRequire(import.meta.url);
  const { renderToString } = load('react-dom/server') as { renderToString(element: unknown): string };
  const { createElement } = load('react') as { createElement(type: unknown, props: object): unknown };
  const module: { exports: { default?: unknown } } = { exports: {} };
  new Function('require', 'module', 'exports', code)(load, module, module.exports);
  const html = renderToString(createElement(module.exports.default, { children: 'A page' }));
  await orderArrives(await open(/<head>(.*)<\/head>/s.exec(html)?.[1] ?? ''));
});

test('the configuration of Nuxt has the tag', async () => {
  const code = snippet('Single-page applications', 'ts').replace('export default', 'return');
  const config = new Function('defineNuxtConfig', code)((one: unknown) => one) as {
    app: { head: { script: { src: string; async: true }[] } };
  };
  const [script, ...others] = config.app.head.script;
  expect([script?.async, others]).toEqual([true, []]);
  await orderArrives(await open(`<script async src="${script?.src}"></script>`));
});

test('the tags of SvelteKit and Turbo work', async () => {
  for (const nth of [0, 1]) await orderArrives(await open(snippet('Single-page applications', 'html', nth)));
});

test('the tag that waits for consent sends nothing before it', async () => {
  const page = await open(snippet('Consent', 'html'));
  const posted: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
  await page.waitForFunction('window.hoplog && hoplog.consent');
  const orderId = 'with-consent';
  await page.evaluate(`hoplog.order({ order_id: '${orderId}', amount: 5 })`);
  expect(posted).toEqual([]);
  await page.evaluate('hoplog.consent(true)');
  await arrived(orderId);
  await page.context().close();
});

test('no snippet of the page was left out', () => {
  expect(snippets.filter((one) => !run.has(one)).map(({ heading, code }) => `${heading}: ${code}`)).toEqual(
    [],
  );
});
