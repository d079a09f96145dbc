import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import {
  attributesOf,
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
} from './console-site.ts';

const PATIENCE = { timeout: 60_000 };
const DESKTOP =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
const BOT = 'Googlebot/2.1 (+http://www.google.com/bot.html)';

type Link = { id: string; slug: string; short_url: string };
type Page = { clicks: { id: string; visitor_id: string }[] };

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

let site: ConsoleSite;
let facebook: Link;
let youtube: Link;

inChromium(async () => {
  site = await consoleSite();
  facebook = await makeLink('facebook');
  youtube = await makeLink('youtube');
  return site.close;
});

async function makeLink(channel: string): Promise<Link> {
  const { links } = await site.api<{ links: Link[] }>('/links', {
    destination_url: 'https://shop.example/landing',
    name: `On ${channel}`,
    channel,
  });
  const [link] = links;
  if (!link) throw new Error('no link was created');
  return link;
}

async function click(link: Link, count = 1, userAgent = DESKTOP): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { status } = await visitNew(link.short_url, { headers: { 'user-agent': userAgent } });
    expect(status).toBe(302);
  }
}

const rows = (page: ConsolePage) => page.locator('tr[data-click]');
const shownIds = (page: ConsolePage) => attributesOf(rows(page), 'data-click');

/** Runs in the page: records what a screen reader announces of new clicks. */
const RECORD_NEWS = `{
  const seen = globalThis.newsSeen = [];
  const place = document.querySelector('[aria-live=polite]');
  new MutationObserver(() => {
    if (place.textContent !== '') seen.push(place.textContent);
  }).observe(place, { characterData: true, childList: true, subtree: true });
}`;

test('before the first click the page says what to do', async () => {
  const page = await site.open('/live');
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.getByText('Open one of your links. The click appears here.').waitFor();
  await expectGood(page, 'live-empty');
  await click(facebook);
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(1);
  await page.close();
});

test('clicks show up as they happen, each once, with their link and visitor', async () => {
  const page = await site.open('/live');
  await page.getByText('Connected', { exact: true }).waitFor();
  const before = await site.api<Page>('/clicks');
  await page.evaluate(RECORD_NEWS);
  // It ends after a while.
  const passing = page
    .locator('.figure-value', { hasText: /^[1-9]\d*$/ })
    .first()
    .waitFor();
  await click(facebook, 3);
  await click(youtube, 2);
  await click(youtube, 1, BOT);
  const count = before.clicks.length + 5;
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(count);
  const { clicks } = await site.api<Page>('/clicks?limit=500');
  expect(await shownIds(page)).toEqual(clicks.map(({ id }) => id));
  const first = rows(page).first();
  await first.getByRole('link', { name: youtube.slug }).waitFor();
  expect(await first.getByRole('link', { name: youtube.slug }).getAttribute('href')).toBe(
    `/console/links/${youtube.id}`,
  );
  expect(await first.getByRole('link').last().getAttribute('href')).toBe(
    `/console/visitors/${clicks[0]?.visitor_id}`,
  );
  await expect.poll(() => first.textContent(), PATIENCE).toContain('YouTube');
  await page.getByRole('link', { name: 'IP Geolocation by DB-IP' }).waitFor();
  await passing;
  // A screen reader announces how many arrived, not each, and not those that were there.
  const told = async () => {
    const news = await page.evaluate<string[]>('newsSeen');
    return news.reduce((sum, text) => sum + Number(text.match(/^(\d+) new clicks?\.$/)?.[1]), 0);
  };
  await expect.poll(told, PATIENCE).toBe(5);
  await expectGood(page, 'live');
  await page.close();
});

test('a paused list does not move, counts new clicks, and resumes', async () => {
  const page = await site.open('/live');
  await rows(page).first().waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  const before = await shownIds(page);
  await click(facebook, 2);
  await page.getByText('2 new clicks.').waitFor();
  expect(await shownIds(page)).toEqual(before);
  await expectGood(page, 'live-paused');
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(before.length + 2);

  await rows(page).first().hover();
  await click(facebook);
  await page.getByText('The list holds still while you point at it. 1 new click.').waitFor();
  expect(await rows(page).count()).toBe(before.length + 2);
  await page.getByRole('heading', { level: 1 }).hover();
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(before.length + 3);
  // Addresses of this machine have no country.
  await page.getByRole('img', { name: 'Map of the clicks in the list. No known country' }).waitFor();
  await page.close();
});

test('filters by link, channel, country and bots are in the URL, for past and new clicks', async () => {
  const page = await site.open('/live');
  await rows(page).first().waitFor();
  await page.getByRole('combobox', { name: 'Link' }).fill(youtube.slug);
  await page.getByRole('option', { name: youtube.slug }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('link'), PATIENCE).toBe(youtube.id);
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(2);
  await page.getByRole('switch', { name: 'Include bots' }).check();
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(3);
  await page.getByText('Connected', { exact: true }).waitFor();
  await click(facebook);
  await click(youtube, 1, BOT);
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(4);
  expect(await rows(page).getByText('Bot', { exact: true }).count()).toBe(2);
  await page.close();

  const other = await site.open('/live?channel=facebook');
  await rows(other).first().waitFor();
  expect(await other.getByRole('combobox', { name: 'Channel' }).inputValue()).toBe('Facebook');
  expect(new Set(await rows(other).getByRole('cell').nth(2).allTextContents())).toEqual(
    new Set(['Facebook']),
  );
  await other.getByRole('combobox', { name: 'Country' }).fill('Germ');
  await other.getByRole('option', { name: 'Germany' }).click();
  await other.getByText('Waiting for the first click').waitFor();
  expect(new URL(other.url()).search).toBe('?channel=facebook&country=DE');
  expectClean(other);
  await other.close();
});

test('an unknown channel is ignored as a filter', async () => {
  const page = await site.open('/live?channel=bogus');
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.close();
});

test('a broken connection is restored, and no click is missing or shown twice', async () => {
  const line = await startLine(new URL(site.app));
  const page = await site.open('/live');
  await page.goto(`http://127.0.0.1:${line.port}/console/live`);
  await page.getByText('Connected', { exact: true }).waitFor();
  line.cut();
  await page.getByText('Reconnecting', { exact: true }).waitFor();
  await click(facebook, 3);
  line.mend();
  await page.getByText('Connected', { exact: true }).waitFor();
  await click(facebook, 2);
  await expect
    .poll(async () => {
      const { clicks } = await site.api<Page>('/clicks?limit=500');
      const shown = await shownIds(page);
      return shown.length === clicks.length && clicks.every(({ id }) => shown.includes(id));
    }, PATIENCE)
    .toBe(true);
  await page.close();
  await line.close();
});

test('where no clicks will arrive, the page says why, and "Try again" connects it', async () => {
  const page = await site.open('/no-such-page');
  const error = { code: 'payment_required', message: 'not in this plan', request_id: 'req-1' };
  await page.route('**/api/v1/clicks?*', (route) => route.fulfill({ status: 402, json: { error } }));
  await page.getByRole('navigation').getByRole('link', { name: 'Live' }).click();
  await page.getByText('Your plan does not include this').waitFor();
  await page.getByText('Not connected', { exact: true }).waitFor();
  expect(await page.getByText('Reconnecting').count()).toBe(0);
  await expectGood(page, 'live-refused');
  const again = page.getByRole('button', { name: 'Try again' });
  const refused = page.waitForResponse(/\/api\/v1\/clicks\?/);
  await again.press('Enter');
  await refused;
  await page.getByText('Your plan does not include this').waitFor();
  await page.getByText('Not connected', { exact: true }).waitFor();
  await page.unroute('**/api/v1/clicks?*');
  await again.press('Enter');
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.getByText('Your plan does not include this').waitFor({ state: 'detached' });
  const { clicks } = await site.api<Page>('/clicks?limit=500');
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(clicks.length);
  await click(youtube);
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(clicks.length + 1);
  await page.close();
});

/** A proxy to the console that can be cut: a browser in offline mode keeps its open connections. */
async function startLine(target: URL) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** It keeps its port, which another process could take. */
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
