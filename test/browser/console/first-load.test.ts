import { expect, test, vi } from 'vitest';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

/** Budgets of the first load: all files and responses, compressed. Bytes. */
const MOST_BYTES = { overview: 170_000, links: 190_000 };
const PATIENCE = { timeout: 60_000 };
/** Several pages, on a machine that may have other things to do. */
const LONG = { timeout: 400_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  const { links } = await site.api<{ links: { short_url: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Summer sale',
    channel: 'facebook',
  });
  await visitNew(links[0]?.short_url ?? '');
  const channels = async () => (await site.api<{ channels: { clicks: number }[] }>('/channels')).channels;
  await vi.waitFor(async () => expect(await channels()).toMatchObject([{ clicks: 1 }]), PATIENCE);
  return site.close;
});

/**
 * Loads the page with an empty browser cache, and records its responses until the network is idle.
 *
 * @returns the bodies' sizes as sent, compressed, request by request. Bytes
 */
async function transferred(page: ConsolePage) {
  // Responses of the load before must not be among them: its chart may come late.
  const address = page.url();
  await page.goto('about:blank');
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Network.enable');
  await protocol.send('Network.setCacheDisabled', { cacheDisabled: true });
  const begun = new Map<string, { path: string; headers: number }>();
  const bodies: { path: string; bytes: number }[] = [];
  protocol.on('Network.responseReceived', ({ requestId, response: { url, encodedDataLength } }) => {
    begun.set(requestId, { path: new URL(url).pathname, headers: encodedDataLength });
  });
  protocol.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const { path, headers } = begun.get(requestId) ?? { path: requestId, headers: 0 };
    bodies.push({ path, bytes: encodedDataLength - headers });
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  return bodies;
}

/** Expects that a first load took less than its budget. */
function expectWithin(bodies: readonly { path: string; bytes: number }[], most: number): void {
  const sum = bodies.reduce((all, { bytes }) => all + bytes, 0);
  // Less than the scripts alone would mean that no bodies are counted.
  expect(sum).toBeGreaterThan(50_000);
  expect(sum, bodies.map(({ path, bytes }) => `${bytes} ${path}`).join('\n')).toBeLessThan(most);
}

test(
  'the first load of the overview, with its chart and map, takes under 170 KB compressed',
  LONG,
  async () => {
    const page = await site.open('/');
    const bodies = await transferred(page);
    await page.getByRole('img', { name: /^Clicks by day: 1 / }).waitFor();
    await page.getByRole('list', { name: 'Channels' }).waitFor();
    await page.getByRole('img', { name: /^Map of clicks/ }).waitFor();
    const paths = bodies.map(({ path }) => path);
    for (const path of ['/console', '/api/v1/session', '/api/v1/analytics/query'])
      expect(paths).toContain(path);
    expect(paths.filter((path) => path.endsWith('.js')).length).toBeGreaterThan(1);
    expectWithin(bodies, MOST_BYTES.overview);
    await page.close();
  },
);

test('the first load of the list of links takes under 190 KB compressed', LONG, async () => {
  const page = await site.open('/links');
  const bodies = await transferred(page);
  await page.getByRole('region', { name: 'Links' }).getByText('Summer sale').waitFor();
  expect(bodies.map(({ path }) => path)).toContain('/api/v1/links/search');
  expectWithin(bodies, MOST_BYTES.links);
  await page.close();
});

test(
  "the policy allows only the site's own scripts, and no page of the navigation calls another host",
  LONG,
  async () => {
    const answer = await fetch(`${site.app}/console`);
    const policy = new Map(
      (answer.headers.get('content-security-policy') ?? '').split(';').map((part) => {
        const [name = '', ...sources] = part.trim().split(' ');
        return [name, sources];
      }),
    );
    expect(policy.get('script-src')).toEqual(["'self'"]);
    expect(policy.get('default-src')).toEqual(["'none'"]);
    expect(policy.get('connect-src')).toEqual(["'self'"]);
    expect([...policy.values()].flat().filter((source) => source.startsWith("'unsafe-"))).toEqual([]);

    const page = await site.open('/');
    const entries = page.getByRole('navigation').getByRole('link');
    await entries.first().waitFor();
    const names = await entries.allTextContents();
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      await entries.filter({ hasText: new RegExp(`^${name}$`) }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      expectClean(page);
    }
    await page.close();
  },
);

test('when the API fails, each page says so, and a retry shows the page', LONG, async () => {
  const page = await site.open('/');
  await page.getByRole('img', { name: /^Clicks by day/ }).waitFor();
  const error = { code: 'internal', message: 'something went wrong here', request_id: 'req-7' };
  let isDown = false;
  await page.route(/\/api\/v1\/(?!session)/, (route) => {
    if (!isDown) return route.continue();
    // Visitors simulate a server that is down.
    if (route.request().url().includes('/visitors')) return route.abort('connectionrefused');
    return route.fulfill({ status: 500, json: { error } });
  });
  for (const [path, name, title, shown] of [
    ['/', 'overview', 'Failed to load', 'Totals'],
    ['/links', 'links', 'Failed to load', 'Links'],
    ['/visitors', 'visitors', 'No answer', 'Visitors'],
    ['/live', 'live', 'Reconnecting', 'Clicks, newest first'],
    ['/referrals', 'referrals', 'Failed to load', null],
  ] as const) {
    isDown = true;
    await page.goto(`${site.app}/console${path === '/' ? '' : path}`);
    await page.getByText(title).first().waitFor();
    if (name === 'overview') expect(await page.getByRole('alert').textContent()).toContain('Request req-7');
    await expectGood(page, `${name}-failed`);
    isDown = false;
    // The live list reconnects automatically.
    if (name !== 'live') await page.getByRole('button', { name: 'Try again' }).first().click();
    if (shown === null) await page.getByText('No programs yet').waitFor();
    else await page.getByRole('region', { name: shown }).locator('tbody tr, button').first().waitFor();
  }
  await page.close();
});

test('a list that was empty says that it could not be reloaded', LONG, async () => {
  const page = await site.open('/webhooks');
  await page.getByText('No webhooks yet').waitFor();
  await page.clock.install();
  await page.route('**/api/v1/webhooks*', (route) => route.abort('connectionrefused'));
  await page.clock.fastForward('00:10');
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await vi.waitFor(async () => {
    await page.clock.runFor(1_000);
    expect(await page.getByRole('alert').getByText('The server does not respond.').count()).toBe(1);
  }, PATIENCE);
  expect(await page.getByText('No webhooks yet').isVisible()).toBe(true);
  await page.close();
});

test(
  'a person who returns while the API is down finds the page with everything they typed',
  LONG,
  async () => {
    const page = await site.open('/links/new');
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Autumn sale');
    await page.clock.install();
    let refusals = 0;
    await page.route('**/api/v1/**', (route) => {
      if (route.request().url().endsWith('/session')) refusals += 1;
      return route.abort('connectionrefused');
    });
    // Older than the cache accepts; then the first try and the last one fail.
    await page.clock.fastForward('02:00');
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await vi.waitFor(async () => {
      await page.clock.runFor(1_000);
      expect(refusals).toBe(3);
    }, PATIENCE);
    await page.clock.runFor(5_000);
    expect(await name.inputValue()).toBe('Autumn sale');
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Links' }).isVisible()).toBe(true);
    await page.close();
  },
);

test('a period with days that do not exist falls back to the default one', LONG, async () => {
  const page = await site.open('/?from=2026-13-01&to=2026-13-01');
  expect(await page.getByRole('combobox', { name: 'Time range' }).inputValue()).toBe('30');
  await page.getByRole('img', { name: /^Clicks by day: 1 / }).waitFor();
  expectClean(page);
  await page.close();
});
