import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { buildDocs } from '../../web/docs/build.ts';
import { type ConsoleSite, consoleSite, screenshot } from './console/console-site.ts';
import { inChromium } from './in-chromium.ts';
import { axeViolations, type Watched, watch } from './page-watch.ts';

/** One of each kind of page, and what each must show. */
const PAGES = [
  ['/docs', 'Quickstart'],
  ['/docs/api', 'Idempotency'],
  ['/docs/api/links', 'Get a link'],
  ['/docs/api/links.create', 'forward_query'],
  ['/docs/api/links.list', 'LinkPerformance'],
  ['/docs/webhooks/sale.created', 'webhook-signature'],
  ['/docs/errors', 'idempotency_key_reused'],
  ['/docs/errors/bad_request', 'What to do'],
  ['/docs/quickstart', 'npm ci'],
  ['/docs/operations/monitoring', 'Runbook'],
] as const;
/** The most that the first page may load. Bytes. */
const FIRST_PAGE_BYTES = 250_000;
const VENV_PYTHON = fileURLToPath(new URL('../sdk/.venv/bin/python', import.meta.url));

let site: ConsoleSite;
const opened: Page[] = [];

inChromium(async () => {
  await buildDocs();
  site = await consoleSite();
  return () => site.close();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((page) => page.context().close()));
});

/** Opens a page in a context of its own, signed out. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Page & { watched: Watched }> {
  const context = await site.browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options });
  const page = await context.newPage();
  opened.push(page);
  const watched = watch(page, [site.app]);
  await page.goto(`${site.app}${path}`);
  return Object.assign(page, { watched });
}

const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

test('pages are accessible and fit in both themes and widths, load nothing foreign, and violate no policy', async () => {
  const page = await open('/docs');
  for (const [path, text] of PAGES) {
    await page.goto(`${site.app}${path}`);
    await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
    for (const [width, colorScheme] of [
      [1_440, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await screenshot(page, `documentation${path.slice(5).replaceAll('/', '-')}-${colorScheme}-${width}`);
      expect(await axeViolations(page), `${path}, ${colorScheme}, ${width}`).toEqual([]);
      expect([path, width, await page.evaluate(sideways)]).toEqual([path, width, 0]);
    }
  }
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
});

test('pages read without JavaScript: text, samples of each language, fields, and navigation on a phone', async () => {
  const page = await open('/docs/api/links.create', {
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
  });
  for (const text of ['import httpx', 'await fetch(', 'curl -X POST']) {
    expect(await page.getByText(text).first().isVisible(), text).toBe(true);
  }
  expect(await page.locator('[id="body.forward_query"]').isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Pages' }).click();
  await page.getByRole('link', { name: 'Folders' }).click();
  await page.getByRole('heading', { level: 1, name: 'Folders' }).waitFor();
});

test.each(['/docs/api/links.create', '/docs/quickstart', '/docs/console'])(
  '%s loads at most 250 KB first, and the search index only with a search',
  async (path) => {
    const context = await site.browser.newContext({ viewport: { width: 1_440, height: 900 } });
    const page = await context.newPage();
    opened.push(page);
    const session = await context.newCDPSession(page);
    let bytes = 0;
    const paths: string[] = [];
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await session.send('Network.enable');
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await page.goto(`${site.app}${path}`, { waitUntil: 'networkidle' });
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThanOrEqual(FIRST_PAGE_BYTES);
    expect(paths.filter((path) => path.includes('/search-'))).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('forward_query');
    await page.locator('.results a').first().waitFor();
    expect(paths.filter((path) => path.includes('/search-')).length).toBe(1);
  },
);

test('search is used with the keyboard, and leads to an operation, a guide and an error', async () => {
  const page = await open('/docs');
  for (const [query, heading] of [
    ['forward_path', /link/i],
    ['idempotency_key_reused', 'idempotency_key_reused'],
    ['pgbouncer', 'PgBouncer'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(query);
    await page.locator('.results a').first().waitFor();
    if (query === 'forward_path') expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/.+/);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  }
  await page.keyboard.press('/');
  await page.keyboard.type('no such words anywhere');
  await page.getByText('Nothing found for').waitFor();
  await page.keyboard.press('Escape');
  expect(await page.locator('.results').isVisible()).toBe(false);
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
});

test('one press makes a key for a member who is signed in; samples and "try it" use it, in this tab only', async () => {
  const { link_id: id } = await createLink();
  const page = await site.open('/');
  await page.goto(`${site.app}/docs/api/links.get`);
  await page.getByRole('button', { name: 'Make a key' }).click();
  const used = page.locator('[data-key="secret"]').first();
  await expect.poll(() => used.textContent()).toMatch(/^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
  const key = (await used.textContent()) ?? '';
  await page.getByRole('textbox', { name: /^id/ }).fill(id);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^200 OK, \d+ ms, with your key$/).waitFor();
  expect(JSON.parse((await page.locator('[data-response] pre').textContent()) ?? '')).toMatchObject({ id });

  // The key reads, and does not write.
  await expect(call(key, 'GET', '/me')).resolves.toBe(200);
  await expect(call(key, 'POST', '/folders', { name: 'x' })).resolves.toBe(403);

  await page.goto(`${site.app}/docs/api/me.get`);
  await expect.poll(() => used.textContent()).toBe(key);
  for (const [language, command] of commandsOf(await samplesOn(page))) {
    expect([language, execFileSync(command[0], command.slice(1), { encoding: 'utf8' })]).toEqual([
      language,
      expect.stringContaining(site.service.demo?.workspace_id ?? ''),
    ]);
  }
  const other = await page.context().newPage();
  await other.goto(`${site.app}/docs/api/me.get`);
  await other.getByRole('button', { name: 'Make a key' }).waitFor();
  expect(await other.locator('[data-key="secret"]').first().textContent()).toBe('YOUR_SECRET_KEY');
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  await page.getByRole('button', { name: 'Forget it' }).click();
  expect(await used.textContent()).toBe('YOUR_SECRET_KEY');
});

test('a reader who is signed out is led to the console, may use a key of their own, and sees errors explained', async () => {
  const page = await open('/docs/api/links.get');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('link', { name: 'Sign in to the console' }).waitFor();
  await page.getByText('Use a key that you have').click();
  await page.getByRole('textbox', { name: 'Your secret key' }).fill('pk_live_wrong');
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByText('A secret key begins with lk_live_').waitFor();
  await page.getByText('Use a key that you have').click();
  await page.getByRole('textbox', { name: 'Your secret key' }).fill(site.service.demo?.secret_key ?? '');
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByRole('textbox', { name: /^id/ }).fill('not-an-id');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^400 Bad Request/).waitFor();
  await page.getByRole('link', { name: 'What to do about this error' }).click();
  await page.getByRole('heading', { level: 1, name: 'bad_request' }).waitFor();
});

async function createLink(): Promise<{ link_id: string }> {
  const body = {
    destination_url: 'https://shop.example/docs',
    name: 'Docs',
    channel: 'newsletter',
    external: true,
  };
  const { links } = await site.api<{ links: { id: string }[] }>('/links', body);
  return { link_id: links[0]?.id ?? '' };
}

async function call(key: string, method: string, path: string, body?: object): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${site.service.api_url}${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  return response.status;
}

const samplesOn = (page: Page): Promise<string[]> =>
  page.locator('[data-tabs="language"] pre').allTextContents();

/** The samples as commands. The one in Python runs where its client is installed. */
function commandsOf([curl = '', node = '', python = '']: string[]): [string, [string, ...string[]]][] {
  return [
    ['curl', ['sh', '-c', curl]],
    ['Node.js', [process.execPath, '--input-type=module', '-e', node]],
    ...(existsSync(VENV_PYTHON)
      ? ([['Python', [VENV_PYTHON, '-c', python]]] satisfies [string, [string, ...string[]]][])
      : []),
  ];
}
