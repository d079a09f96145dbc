import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { expect, test, vi } from 'vitest';
import type { FoundLinks } from '../../../api/links/search-schemas.ts';
import { CREATABLE_CHANNELS } from '../../../core/enrich/channels.ts';
import { plainPng } from '../../support/scanned-images.ts';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood, expectNotice } from './console-site.ts';
import { ask } from './dashboard-page.ts';
import { choose, expectSlugs, LONG, PATIENCE, press, records, SHOP, setDomain, slugs } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

/** Runs in the page. */
const HEIGHTS = (rows: { getBoundingClientRect(): { height: number } }[]) =>
  rows.map((row) => Math.round(row.getBoundingClientRect().height));

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await setDomain(site);
  return site.close;
});

test('the table searches, filters, sorts and turns pages, and its URL restores all of it', async () => {
  const rows = Array.from({ length: 60 }, (_, n) => ({
    destination_url: `https://shop.example/${n % 2 ? 'odd' : 'even'}`,
    name: `Post ${String(n).padStart(2, '0')}`,
    slug: `post-${String(n).padStart(2, '0')}`,
    channel: n % 3 === 0 ? 'reddit' : 'slack',
    tags: n < 5 ? ['table', 'first'] : ['table'],
    ...(n === 7 && { expires_at: '2020-01-01T00:00:00Z' }),
  }));
  await site.api('/links/bulk', { links: rows });
  const from = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, n) => `post-${String(first - n).padStart(2, '0')}`);

  const page = await site.open('/links?tag=table');
  await expectSlugs(page, from(59, 35));
  // All columns fit the narrowest usual desktop, with the figures of a currency of long signs (US$).
  await page.getByRole('cell', { name: 'US$0.00' }).first().waitFor();
  const overflow = (region: { scrollWidth: number; clientWidth: number }) =>
    region.scrollWidth - region.clientWidth;
  expect(await page.getByRole('region', { name: 'Links' }).evaluate(overflow as never)).toBe(0);
  await expectGood(page, 'links-table');
  await page.getByRole('button', { name: 'Page 2' }).click();
  await expectSlugs(page, from(34, 10));
  expect(new URL(page.url()).search).toBe('?tag=table&page=2');
  await page.getByRole('searchbox', { name: 'Search' }).fill('ODD');
  await expectSlugs(
    page,
    Array.from({ length: 25 }, (_, n) => `post-${String(59 - 2 * n).padStart(2, '0')}`),
  );
  expect(new URL(page.url()).search).toBe('?tag=table&q=ODD');
  await choose(page, 'Channel', 'Reddit');
  await choose(page, 'Tag', 'first');
  await expectSlugs(page, ['post-03']);
  await page.reload();
  await expectSlugs(page, ['post-03']);
  expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('ODD');
  await page.goBack();
  await page.getByText('10 links').waitFor();

  await page.goto(`${site.app}/console/links?tag=first`);
  await expectSlugs(page, from(4, 0));
  await page.getByRole('button', { name: 'Link', exact: true }).click();
  await expectSlugs(page, from(4, 0).reverse());
  expect(await page.getByRole('columnheader', { name: 'Link' }).getAttribute('aria-sort')).toBe('ascending');
  await page.getByRole('button', { name: 'Link', exact: true }).click();
  await expectSlugs(page, from(4, 0));
  await page.getByRole('button', { name: 'Clicks' }).click();
  await expect.poll(() => new URL(page.url()).search, PATIENCE).toContain('sort=clicks');
  // A page beyond the end leads to the last one.
  await page.goto(`${site.app}/console/links?tag=table&page=9`);
  await expectSlugs(page, from(9, 0));
  await page.getByText('60 links, page 3 of 3').waitFor();
  expect(new URL(page.url()).search).toBe('?tag=table&page=3');
  await page.goto(`${site.app}/console/links?tag=first&page=2`);
  await expectSlugs(page, from(4, 0));
  expect(new URL(page.url()).search).toBe('?tag=first');
  await page.goto(`${site.app}/console/links?status=expired`);
  await expectSlugs(page, ['post-07']);
  await page.goto(`${site.app}/console/links?q=nothing-like-it`);
  await page.getByText('No links match these filters').waitFor();
  await expectGood(page, 'links-none-found');
  await press(page, 'Clear filters');
  await expect.poll(() => slugs(page).then(({ length }) => length), PATIENCE).toBe(25);
  expect(new URL(page.url()).search).toBe('');
  await page.close();
});

/** Cells of figures that are there. */
const FIGURES = 'tbody td[style*="text-align: right"]:not([aria-busy])';

test('links are shown while their figures are counted, unless a figure sorts them', async () => {
  const links = [{ ...SHOP, name: 'Counted', slug: 'counted', smart: true, tags: ['counted'] }];
  await site.api('/links/bulk', { links });
  const page = await site.open('/links');
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const searches: string[] = [];
  await page.route('**/links/search?*', async (route) => {
    const { search } = new URL(route.request().url());
    searches.push(search);
    if (!search.includes('figures=exclude')) await held;
    await route.continue();
  });
  await page.goto(`${site.app}/console/links?tag=counted`);
  await expectSlugs(page, ['counted']);
  expect(await page.locator('tbody td[aria-busy]').count()).toBe(4);
  await expectGood(page, 'links-counting');
  release();
  await page.locator(FIGURES).nth(3).waitFor();
  expect(await page.locator(FIGURES).allTextContents()).toEqual([
    '0',
    '0',
    '0',
    expect.stringContaining('0.00'),
  ]);
  searches.length = 0;
  await page.goto(`${site.app}/console/links?tag=counted&sort=clicks`);
  await expectSlugs(page, ['counted']);
  expect(searches.filter((search) => search.includes('figures=exclude'))).toEqual([]);
  await page.close();
});

test('a page that is opened reads its links once, before it renders', async () => {
  const rows = ['once-1', 'once-2'].map((slug) => ({
    ...SHOP,
    name: slug,
    slug,
    smart: true,
    tags: ['once'],
  }));
  await site.api('/links/bulk', { links: rows });
  const page = await site.open('/no-such-page');
  // The first render waits for the response half a second at most: here as long as a loaded machine needs.
  await page.addInitScript(
    'const later = setTimeout; setTimeout = (run, ms, ...more) => later(run, ms === 500 ? 600000 : ms, ...more)',
  );
  const reads: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/links/search')) reads.push(searchParams.get('figures'));
  });
  await page.goto(`${site.app}/console/links?tag=once`);
  await expectSlugs(page, ['once-2', 'once-1']);
  await page.locator(FIGURES).first().waitFor();
  expect(reads).toEqual([null]);
  expectClean(page);
  await page.close();
});

test('an export has every link when one is deleted meanwhile', async () => {
  const names = Array.from({ length: 510 }, (_, n) => `walk-${n}`);
  const links = names.map((slug) => ({ ...SHOP, name: slug, slug, smart: true, tags: ['walk'] }));
  await site.api('/links/bulk', { links });
  const [first] = await records(site, '&slug=walk-0');
  const page = await site.open('/links?tag=walk');
  await page.getByText('510 links').waitFor();
  await page.route('**/links/search?*offset=499*', async (route) => {
    if (first) await site.api(`/links/${first.id}`, undefined, 'DELETE').catch(() => undefined);
    await route.continue();
  });
  const download = page.waitForEvent('download');
  await press(page, 'Export');
  await page.getByRole('menuitem', { name: 'These links as CSV' }).click();
  const lines = parse(readFileSync(await (await download).path()), { columns: true, bom: true }) as {
    slug: string;
  }[];
  // The deleted link was read before.
  expect(await records(site, '&slug=walk-0')).toEqual([]);
  expect(lines.map(({ slug }) => slug)).toEqual(names);
  expectClean(page);
  await page.close();
});

test('selected links are tagged, archived, restored and deleted together', async () => {
  const names = ['bulk-1', 'bulk-2', 'bulk-3'];
  const links = names.map((slug, n) => ({
    ...SHOP,
    name: slug,
    slug,
    smart: true,
    tags: n ? ['bulk'] : ['bulk', 'x'],
  }));
  await site.api('/links/bulk', { links });
  const page = await site.open('/links?tag=bulk', { keepsUndo: true });
  await expectSlugs(page, names.toReversed());
  await page.getByRole('checkbox', { name: 'Select bulk-1' }).check();
  await page.getByRole('checkbox', { name: 'Select bulk-2' }).check();
  const bar = page.getByRole('region', { name: 'Selected links' });
  await bar.getByText('2 links selected').waitFor();
  await expectGood(page, 'links-selected');
  await bar.getByRole('button', { name: 'Add tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add tags to 2 links' });
  await dialog.getByRole('combobox', { name: 'Tags' }).fill('spring');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await expectNotice(page, '2 links tagged');
  const tagsOf = async () =>
    (await records(site, '&slug=bulk-&archived=include')).map(({ slug, tags }) => [slug, tags]).toSorted();
  expect(await tagsOf()).toEqual([
    ['bulk-1', ['bulk', 'x', 'spring']],
    ['bulk-2', ['bulk', 'spring']],
    ['bulk-3', ['bulk']],
  ]);
  await bar.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expectNotice(page, 'Undone');
  expect((await tagsOf()).map(([, tags]) => tags)).toEqual([['bulk', 'x'], ['bulk'], ['bulk']]);

  await page.getByRole('checkbox', { name: 'Select this page' }).check();
  await bar.getByText('3 links selected').waitFor();
  await page.getByRole('checkbox', { name: 'Select bulk-3' }).uncheck();
  // The links, and with them the bar, are gone before the last read is refreshed.
  const tags = Promise.withResolvers<void>();
  await page.route('**/links/tags*', async (route) => {
    await tags.promise;
    await route.continue();
  });
  await bar.getByRole('button', { name: 'Archive' }).click();
  await expectSlugs(page, ['bulk-3']);
  await bar.waitFor({ state: 'detached' });
  tags.resolve();
  await expectNotice(page, '2 links archived');
  await page.unroute('**/links/tags*');
  // A checkbox that has the focus has nothing of its own to undo.
  await page.getByRole('checkbox', { name: 'Select bulk-3' }).press('Control+z');
  await expectSlugs(page, names.toReversed());
  await page.getByRole('checkbox', { name: 'Select bulk-1' }).check();
  await page.getByRole('checkbox', { name: 'Select bulk-2' }).check();
  await bar.getByRole('button', { name: 'Archive' }).click();
  await expectSlugs(page, ['bulk-3']);
  await press(page, 'Archived');
  await expectSlugs(page, ['bulk-2', 'bulk-1']);
  expect(new URL(page.url()).search).toBe('?tag=bulk&shown=archived');
  await page.getByRole('checkbox', { name: 'Select bulk-2' }).check();
  await bar.getByRole('button', { name: 'Restore' }).click();
  await expectSlugs(page, ['bulk-1']);
  await page.getByRole('checkbox', { name: 'Select bulk-1' }).check();
  await bar.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete 1 link?' });
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No links match these filters').waitFor();
  await press(page, 'Your links');
  await expectSlugs(page, ['bulk-3', 'bulk-2']);
  expectClean(page);
  await page.close();
});

test('links of referrers, bio pages and programs are behind their chips, and a phone folds the filters', async () => {
  const program = { name: 'Friends', destination_url: 'https://shop.example/join', code: 'chips-join' };
  await site.api('/programs', program);
  const referrer = { email: 'ada@shop.example', external_user_id: 'ada', tier: 'free' };
  await site.api('/referrals/enroll', referrer);
  await site.api('/bio-pages', {
    slug: `chips-${Date.now()}`,
    links: [{ label: 'Button', url: 'https://shop.example/button' }],
  });
  await site.api('/links', { ...SHOP, name: 'Ours', slug: 'chips-ours', smart: true });
  const page = await site.open('/links?q=chips');
  await expectSlugs(page, ['chips-ours']);
  await press(page, 'Programs');
  await expectSlugs(page, ['chips-join']);
  await press(page, 'All');
  await expectSlugs(page, ['chips-ours', 'chips-join']);
  await page.goto(`${site.app}/console/links?shown=referral`);
  await page.getByText('1 link', { exact: true }).waitFor();
  await page.getByRole('cell', { name: 'Referral', exact: true }).waitFor();
  await press(page, 'Bio pages');
  await page.getByRole('cell', { name: 'Bio page', exact: true }).waitFor();
  await page.close();

  const phone = await site.open('/links?q=chips&status=active', { width: 390 });
  const cards = phone.getByRole('list', { name: 'Links' }).getByRole('listitem');
  await cards.filter({ hasText: 'chips-ours' }).waitFor();
  const channel = phone.getByRole('combobox', { name: 'Channel', exact: true });
  expect(await channel.isVisible()).toBe(false);
  await phone.getByRole('button', { name: 'Filters (1)' }).click();
  await channel.waitFor();
  await cards.getByRole('checkbox', { name: 'Select chips-ours' }).check();
  await phone.getByRole('region', { name: 'Selected links' }).waitFor();
  await expectGood(phone, 'links-phone');
  await phone.close();
});

test('rows have a line of their clicks by one request, and the columns that a person chose', async () => {
  const names = Array.from({ length: 6 }, (_, n) => `trend-${n}`);
  const links = names.map((slug, n) => ({ ...SHOP, name: `Trend ${n}`, slug, smart: true, tags: ['trend'] }));
  await site.api('/links/bulk', { links });
  for (const path of ['trend-0', 'trend-0', 'trend-1']) {
    await visitNew(`${site.service.short_url}/${path}`);
  }
  const clicksOf = async (slug: string) =>
    (await site.api<FoundLinks>(`/links/search?q=${slug}`)).links[0]?.figures?.clicks;
  await expect.poll(() => clicksOf('trend-0'), PATIENCE).toBe(2);
  await expect.poll(() => clicksOf('trend-1'), PATIENCE).toBe(1);
  // One, where midnight is between both clicks.
  const [trend] = await records(site, '&slug=trend-0');
  const { rows: days } = await ask(site, {
    dimensions: ['time:day'],
    filters: [{ dimension: 'link', operator: 'is', values: [trend?.id] }],
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  const most = Math.max(...days.map(({ metrics }) => metrics.clicks ?? 0));

  const asked: string[] = [];
  const page = await site.open('/');
  page.on('request', (request) => {
    if (request.url().endsWith('/analytics/query')) asked.push(request.postData() ?? '');
  });
  const row = (slug: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: slug }) });
  await page.getByRole('link', { name: 'Links', exact: true }).click();
  await page.waitForURL(/console\/links$/);
  // This page has asked too.
  await row('trend-2').getByRole('img', { name: 'No clicks' }).waitFor();
  asked.length = 0;
  await page.goto(`${site.app}/console/links?tag=trend`);
  await expectSlugs(page, names.toReversed());
  await row('trend-0')
    .getByRole('img', { name: `At most ${most === 1 ? '1 click' : `${most} clicks`} in a day` })
    .waitFor();
  await row('trend-1').getByRole('img', { name: 'At most 1 click in a day' }).waitFor();
  await row('trend-2').getByRole('img', { name: 'No clicks' }).waitFor();
  const ofTrends = asked.filter((body) => body.includes('"link","time:day"'));
  expect(ofTrends.length).toBe(1);
  const heights = await page.locator('tbody tr').evaluateAll(HEIGHTS);
  expect(heights).toEqual(names.map(() => 44));

  await press(page, 'Columns');
  const choices = page.getByRole('group', { name: 'Columns of the table' });
  await choices.getByRole('checkbox', { name: 'Tags' }).check();
  await choices.getByRole('checkbox', { name: 'Visitors' }).uncheck();
  await expectGood(page, 'links-columns', 'each once');
  await choices.getByRole('checkbox', { name: 'Tags' }).press('Escape');
  await choices.waitFor({ state: 'detached' });
  const headings = () => page.getByRole('columnheader').allTextContents();
  const chosen = [
    '',
    'Link',
    'Copy',
    'Channel',
    'Status',
    'Tags',
    'Trend',
    'Clicks',
    'Conversions',
    'Revenue',
    'Created',
  ];
  const trimmed = async () => (await headings()).map((text) => text.trim());
  await expect.poll(trimmed, PATIENCE).toEqual(chosen);
  await page.reload();
  await expect.poll(trimmed, PATIENCE).toEqual(chosen);
  await row('trend-0').getByText('trend', { exact: true }).waitFor();
  await press(page, 'Columns');
  await press(page, 'Reset');
  await expect.poll(async () => (await trimmed()).includes('Visitors'), PATIENCE).toBe(true);
  expectClean(page);
  await page.close();
});

test('keys move between rows, select and open, and selected links are moved to a folder', async () => {
  const names = ['keys-1', 'keys-2', 'keys-3'];
  const links = names.map((slug) => ({ ...SHOP, name: slug, slug, smart: true, tags: ['keys'] }));
  await site.api('/links/bulk', { links });
  const folder = await site.api<{ id: string }>('/folders', { name: 'Moved here' });
  const page = await site.open('/links?tag=keys', { keepsUndo: true });
  await expectSlugs(page, names.toReversed());
  const focused = () => page.locator('a.link-slug:focus').allTextContents();
  const expectFocus = (slug: string) => expect.poll(focused, PATIENCE).toEqual([slug]);
  // The page may listen to keys a moment after it shows the links.
  await expect
    .poll(async () => {
      await page.keyboard.press('j');
      return focused();
    }, PATIENCE)
    .toEqual(['keys-3']);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expectFocus('keys-1');
  await page.keyboard.press('x');
  await page.keyboard.press('k');
  await expectFocus('keys-2');
  await page.keyboard.press('x');
  const bar = page.getByRole('region', { name: 'Selected links' });
  await bar.getByText('2 links selected').waitFor();
  expect(await page.getByRole('checkbox', { name: 'Select keys-3' }).isChecked()).toBe(false);
  // Letters that are typed stay letters.
  const search = page.getByRole('searchbox', { name: 'Search' });
  // A list without the links would end their selection: on a loaded machine it arrives before the field is empty again.
  await page.route(/jxk/, () => undefined);
  await page.keyboard.press('/');
  await page.keyboard.type('jxk/');
  expect(await search.inputValue()).toBe('jxk/');
  await search.fill('');
  await expectSlugs(page, names.toReversed());
  await bar.getByText('2 links selected').waitFor();

  await bar.getByRole('button', { name: 'Move' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move 2 links' });
  await dialog.getByRole('combobox', { name: 'Folder' }).click();
  await page.getByRole('option', { name: 'Moved here' }).click();
  await expectGood(page, 'links-move', 'each once');
  await dialog.getByRole('button', { name: 'Move' }).click();
  await expectNotice(page, '2 links moved');
  const folders = async () =>
    (await records(site, '&slug=keys-')).map((one) => [one.slug, one.folder_id]).toSorted();
  expect(await folders()).toEqual([
    ['keys-1', folder.id],
    ['keys-2', folder.id],
    ['keys-3', null],
  ]);
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expectNotice(page, 'Undone');
  expect(await folders()).toEqual(names.map((slug) => [slug, null]));
  await page.getByRole('link', { name: 'keys-2' }).focus();
  await page.keyboard.press('j');
  await expectFocus('keys-1');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'keys-1' }).waitFor();
  expectClean(page);
  await page.close();
});

test('links are dragged onto a folder of the navigation: one, or all that are selected', async () => {
  const names = ['dragged-1', 'dragged-2', 'dragged-3'];
  const links = names.map((slug) => ({ ...SHOP, name: slug, slug, smart: true, tags: ['dragged'] }));
  await site.api('/links/bulk', { links });
  const folder = await site.api<{ id: string }>('/folders', { name: 'A dragged one' });
  const page = await site.open('/links?tag=dragged', { keepsUndo: true });
  await expectSlugs(page, names.toReversed());
  const target = page.getByRole('list', { name: 'Folders' }).getByRole('link', { name: 'A dragged one' });
  const cell = (slug: string) => page.locator('.link-cell').filter({ hasText: slug });
  const folders = async () =>
    (await records(site, '&slug=dragged-')).map((one) => [one.slug, one.folder_id]).toSorted();
  await cell('dragged-2').dragTo(target);
  await expectNotice(page, '1 link moved to A dragged one');
  expect(await folders()).toEqual([
    ['dragged-1', null],
    ['dragged-2', folder.id],
    ['dragged-3', null],
  ]);
  for (const slug of names) await page.getByRole('checkbox', { name: `Select ${slug}` }).check();
  await cell('dragged-1').dragTo(target);
  await expectNotice(page, '2 links moved to A dragged one');
  expect(await folders()).toEqual(names.map((slug) => [slug, folder.id]));
  await expect.poll(() => target.textContent(), PATIENCE).toMatch(/3/);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expectNotice(page, 'Undone');
  expect((await folders()).map(([, id]) => id)).toEqual([null, folder.id, null]);
  expectClean(page);
  await page.close();
});

test('links show the icons of channels, and icon and title of the site that they lead to', async () => {
  const shop = createServer(({ url }, response) => {
    if (url === '/favicon.ico') response.end(plainPng(32, 32, [201, 42, 42, 255]));
    else response.setHeader('content-type', 'text/html').end('<title>Autumn sale – Corner shop</title>');
  });
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const { port } = shop.address() as AddressInfo;
  const row = { destination_url: `http://127.0.0.1:${port}/autumn`, name: 'Autumn', external: true };
  const channels = CREATABLE_CHANNELS.map((channel) => ({
    ...row,
    channel,
    slug: `icon-${channel.replaceAll('_', '-')}`,
    tags: ['icons'],
  }));
  await site.api('/links/bulk', { links: channels });
  const { links } = await site.api<FoundLinks>('/links/search?tag=icons&q=icon-reddit');
  const link = links[0]?.link;
  await visitNew(link?.short_url ?? '');

  const page = await site.open('/links?tag=icons');
  const region = page.getByRole('region', { name: 'Links' });
  await expect.poll(() => region.locator('img.destination-mark').count(), PATIENCE).toBe(channels.length);
  await region.getByText('Autumn sale – Corner shop').first().waitFor();
  // Each is drawn, in the size of the text, and takes its color from its file.
  const sizes = (images: { naturalWidth: number }[]) => images.map((image) => image.naturalWidth);
  expect(await region.locator('img.destination-mark').evaluateAll(sizes as never)).toEqual(
    channels.map(() => 32),
  );
  // A letter marks what no icon is known for.
  expect(await region.locator('.channel-mark').count()).toBe(channels.length - 1);
  expect(await region.locator('td:not(.link-cell) .letter-mark').count()).toBe(1);
  await expectGood(page, 'links-icons');

  await page.goto(`${site.app}/console/links/${link?.id}`);
  const facts = page.getByRole('region', { name: 'Settings of the link' });
  await facts.getByText('Autumn sale – Corner shop').waitFor();
  await facts.locator('img.destination-mark').waitFor();
  await expectGood(page, 'link-icons');

  await vi.waitFor(async () => {
    await page.goto(`${site.app}/console/`);
    await page.getByRole('list', { name: 'Links' }).locator('img.destination-mark').first().waitFor();
    await page.getByRole('list', { name: 'Channels' }).locator('.channel-mark').first().waitFor();
  }, PATIENCE);
  await expectGood(page, 'overview-icons');
  await page.close();
  shop.close();
  shop.closeAllConnections();
});
