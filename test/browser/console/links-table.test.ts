import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test, vi } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';
import { choose, expectSlugs, LONG, PATIENCE, press, records, SHOP, setDomain, slugs } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

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
