import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_CHROMIUM } from '../chromium.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  screenshot,
} from './console-site.ts';
import { fillShop, type Shop } from './dashboard-desk.ts';

const PATIENCE = { timeout: 60_000 };
// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

type Result = {
  rows: { dimensions: Record<string, string | null>; metrics: Record<string, number> }[];
  totals: Record<string, number>;
};

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const ask = (body: object) =>
  site.api<Result>('/analytics/query', { metrics: ['clicks'], window: { days: 30 }, ...body });
const count = (value: number | undefined) => new Intl.NumberFormat('en-GB').format(value ?? 0);

const totals = (page: ConsolePage, metric: string) =>
  page.getByRole('region', { name: 'Totals' }).getByRole('button', { name: new RegExp(`^${metric}`) });
const card = (page: ConsolePage, name: string) => page.getByRole('region', { name, exact: true });
const chart = (page: ConsolePage, name: RegExp) => page.getByRole('img', { name }).waitFor();
/** A row of a list, by the beginning of its name. */
const bar = (page: ConsolePage, list: string, name: string) =>
  page
    .getByRole('list', { name: list, exact: true })
    .getByRole('button', { name: new RegExp(`^\\W*${name}`) });
const address = (page: ConsolePage) => new URL(page.url()).searchParams;

/** The cells of a CSV file whose texts have no quotes. */
const cellsOf = (text: string): string[][] =>
  text
    .replace('\uFEFF', '')
    .trim()
    .split('\r\n')
    .map(
      (line) => line.match(/"[^"]*"|[^,]+|(?<=,|^)(?=,|$)/g)?.map((cell) => cell.replaceAll('"', '')) ?? [],
    );

test('an empty workspace shows how to begin, by role', async () => {
  const page = await site.open('/');
  await page.getByText('Create your first link').waitFor();
  expect(await page.getByRole('link', { name: 'New link' }).getAttribute('href')).toBe('/console/links/new');
  expect(await page.getByRole('link', { name: 'the pixel' }).getAttribute('href')).toBe(
    '/console/settings/developers',
  );
  await expectGood(page, 'dashboard-empty');
  await page.close();
  const analyst = await site.open('/', { role: 'analyst' });
  await analyst.getByText('Ask an operator of the workspace to create one.').waitFor();
  expect(await analyst.getByRole('link', { name: 'New link' }).count()).toBe(0);
  await analyst.close();
});

describe('with clicks, leads and orders', () => {
  let shop: Shop;

  beforeAll(async () => {
    if (NO_CHROMIUM) return;
    shop = await fillShop(site, { clicks: 9_500, orders: 374, leads: 900 });
  }, 120_000);

  test('shows the figures of the API, compared with the previous period', async () => {
    const page = await site.open('/');
    const { totals: all } = await ask({ metrics: ['clicks', 'visitors', 'leads', 'conversions'] });
    await totals(page, 'Clicks').waitFor();
    for (const [name, metric] of [
      ['Clicks', 'clicks'],
      ['Visitors', 'visitors'],
      ['Leads', 'leads'],
      ['Conversions', 'conversions'],
    ] as const) {
      expect(await totals(page, name).textContent()).toContain(count(all[metric]));
    }
    expect(await totals(page, 'Clicks').textContent()).toMatch(/[▲▼=] [+-]?[\d.,]+%/);
    expect(await totals(page, 'Clicks').locator('[title]').getAttribute('title')).toBe(
      'Compared with the previous period',
    );
    await chart(page, new RegExp(`^Clicks by day: ${count(all.clicks)} in 31 days, most on `));
    const { rows } = await ask({ dimensions: ['channel'] });
    expect(await bar(page, 'Channels', 'Instagram').textContent()).toContain(count(rows[0]?.metrics.clicks));
    const funnel = await card(page, 'Funnel').textContent();
    for (const metric of ['clicks', 'leads', 'conversions']) expect(funnel).toContain(count(all[metric]));
    await page.getByRole('img', { name: /^Map of clicks by country\. Germany: / }).waitFor();
    // One box beside the pointer has the values of a day. The pointer moves again where the chart was redrawn.
    const hover = page.locator('.chart-hover');
    await expect
      .poll(async () => {
        await page.locator('.time-chart .u-over').hover({ position: { x: 50, y: 50 } });
        await page.locator('.time-chart .u-over').hover();
        return hover.textContent();
      }, PATIENCE)
      .toMatch(/^\d+ \w+ 2026Clicks\d+Previous period \(\d+ \w+ 2026\)\d+$/);
    await page.waitForLoadState('networkidle');
    await expectGood(page, 'dashboard');
    await page.getByRole('button', { name: 'Show as table' }).click();
    expect(await page.getByRole('region', { name: 'Figures over time' }).getByRole('row').count()).toBe(32);
    expectClean(page);
    await page.close();
  });

  test('a press on a row or a country filters by it, and back undoes that', async () => {
    const page = await site.open('/');
    const filter = (dimension: string, value: string) => ({
      filters: [{ dimension, operator: 'is', values: [value] }],
    });
    await bar(page, 'Channels', 'YouTube').click();
    const youtube = (await ask(filter('channel', 'youtube'))).totals.clicks;
    await chart(page, new RegExp(`^Clicks by day: ${count(youtube)} in`));
    expect(address(page).getAll('f')).toEqual(['channel:is:youtube']);
    expect(await bar(page, 'Channels', 'YouTube').getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('button', { name: 'Remove the filter Channel is YouTube' }).waitFor();
    // The rows of a link lead to it, and its chip has its name.
    const [, newsletter] = shop.links;
    expect(await page.getByRole('link', { name: 'Open the link lamp-video' }).getAttribute('href')).toBe(
      `/console/links/${shop.links[2]?.id}`,
    );
    await page.goBack();
    await bar(page, 'Links', 'newsletter-nov').click();
    await page.getByRole('button', { name: 'Remove the filter Link is newsletter-nov' }).click();
    expect(newsletter && address(page).getAll('f')).toEqual([]);
    const germany = page.locator('[data-country=DE][data-any]');
    await germany.hover();
    await page.getByText(/Germany: [\d,]+$/).waitFor();
    await germany.click();
    await chart(
      page,
      new RegExp(`^Clicks by day: ${count((await ask(filter('country', 'DE'))).totals.clicks)} in`),
    );
    // Every list narrows, and a second press ends the filter.
    await page.getByRole('tab', { name: 'Cities' }).click();
    await expect
      .poll(() => page.getByRole('list', { name: 'Cities' }).getByRole('listitem').count(), PATIENCE)
      .toBe(1);
    await page.getByRole('tab', { name: 'Countries' }).click();
    await bar(page, 'Countries', 'Germany').click();
    await bar(page, 'Countries', 'United States').waitFor();
    expect(address(page).getAll('f')).toEqual([]);
    expectClean(page);
    await page.close();
  });

  test('each list has the rows of its dimension', async () => {
    const page = await site.open('/');
    for (const [tab, list, row] of [
      ['Referrers', 'Referrers', 'l.instagram.com'],
      ['Campaigns', 'Campaigns', 'Autumn sale'],
      ['Regions', 'Regions', 'BE, Germany'],
      ['Languages', 'Languages', 'English'],
      ['Tags', 'Tags', 'autumn'],
      ['Folders', 'Folders', 'Autumn 2026'],
      ['Domains', 'Domains', 'go.shop.example'],
      ['QR codes', 'QR codes', 'QR code'],
      ['Browsers', 'Browsers', 'Chrome'],
      ['Systems', 'Systems', 'Android'],
    ] as const) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await bar(page, list, row).first().waitFor();
    }
    const utm = page.getByRole('combobox', { name: 'UTM parameters' });
    for (const [name, row] of [
      ['utm_source', 'instagram'],
      ['utm_medium', 'social'],
      ['utm_campaign', 'autumn-sale'],
      ['utm_term', 'None'],
      ['utm_content', 'None'],
    ] as const) {
      await utm.selectOption(name);
      await bar(page, `UTM ${name.slice(4)}`, row).waitFor();
    }
    expect(Object.fromEntries(address(page))).toEqual({
      source: 'utm_content',
      place: 'language',
      content: 'trigger',
      tech: 'os',
    });
    await page.reload();
    await bar(page, 'Systems', 'Android').waitFor();
    await expectGood(page, 'dashboard-lists');
    await page.close();
  });

  test('the keyboard alone adds, changes and removes a filter with any condition', async () => {
    const page = await site.open('/');
    await bar(page, 'Channels', 'Instagram').waitFor();
    await page.getByRole('button', { name: 'Add filter' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a filter' });
    await dialog.getByRole('checkbox', { name: /Germany/ }).waitFor();
    await expectGood(page, 'dashboard-filter');
    await dialog.getByRole('textbox', { name: 'Values' }).focus();
    await page.keyboard.type('jap');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(address(page).getAll('f')).toEqual(['country:is:JP']);
    // Its own values stay offered while it is changed.
    await page.getByRole('button', { name: 'Country is Japan', exact: true }).press('Enter');
    const change = page.getByRole('dialog', { name: 'Change the filter' });
    await change.getByRole('combobox', { name: 'Condition' }).selectOption('is_not');
    await change.getByRole('checkbox', { name: /France/ }).press('Space');
    await change.getByRole('button', { name: 'Apply' }).press('Enter');
    await page.getByRole('button', { name: 'Country is not Japan, France', exact: true }).waitFor();
    expect(address(page).getAll('f')).toEqual(['country:is_not:JP,FR']);
    await page.getByRole('button', { name: 'Add filter' }).press('Enter');
    await dialog.getByRole('combobox', { name: 'Filter by' }).selectOption('utm_campaign');
    await dialog.getByRole('combobox', { name: 'Condition' }).selectOption('contains');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('SALE');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'UTM campaign contains SALE', exact: true }).waitFor();
    const { totals: both } = await ask({
      filters: [
        { dimension: 'country', operator: 'is_not', values: ['JP', 'FR'] },
        { dimension: 'utm_campaign', operator: 'contains', values: ['SALE'] },
      ],
    });
    await chart(page, new RegExp(`^Clicks by day: ${count(both.clicks)} in`));
    await page.getByRole('button', { name: 'Remove the filter UTM campaign contains SALE' }).press('Enter');
    await page.getByRole('button', { name: 'Remove the filter Country is not Japan, France' }).press('Enter');
    expect(address(page).getAll('f')).toEqual([]);
    await page.goto(`${site.app}/console?f=city:contains:Atlantis`);
    await page.getByText('No clicks match the filters').waitFor();
    await expectGood(page, 'dashboard-nothing');
    await page.getByRole('button', { name: 'Clear all filters' }).press('Enter');
    await bar(page, 'Channels', 'Instagram').waitFor();
    await page.close();
  });

  test('the period, the comparison, the metric and the steps are chosen, and are in the address', async () => {
    const page = await site.open('/');
    await chart(page, /^Clicks by day: /);
    const period = page.getByRole('combobox', { name: 'Time range' });
    await period.selectOption('90');
    await page.getByRole('combobox', { name: "Size of the chart's steps" }).selectOption('week');
    await totals(page, 'Revenue').click();
    await chart(page, /^Revenue by week: US\$[\d,.]+ in 1\d weeks, most on Week of /);
    expect(Object.fromEntries(address(page))).toEqual({ days: '90', by: 'week', metric: 'revenue' });
    await totals(page, 'Conversion rate').click();
    await chart(page, /^Conversion rate by week: [\d.]+% in/);
    await page.getByRole('combobox', { name: 'Compare with' }).selectOption('none');
    await expect.poll(() => totals(page, 'Clicks').textContent(), PATIENCE).toMatch(/^Clicks[\d,]+$/);
    await page.getByRole('combobox', { name: 'Compare with' }).selectOption('range');
    const form = page.getByRole('form', { name: 'Compared range' });
    await form.getByLabel('From').fill('2020-01-01');
    await form.getByLabel('To').fill('2020-03-30');
    await form.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => totals(page, 'Clicks').textContent(), PATIENCE).toMatch(/No previous data$/);
    expect(address(page).get('compare')).toBe('2020-01-01_2020-03-30');
    await period.selectOption('1');
    await chart(page, /^Conversion rate by hour: /);
    await period.selectOption('range');
    const range = page.getByRole('form', { name: 'Custom range' });
    // Future days have no report: the browser says so at the field.
    await range.getByLabel('From').fill('2090-01-01');
    await range.getByLabel('To').fill('2090-01-07');
    await range.getByRole('button', { name: 'Show' }).click();
    expect(await page.locator('input[type=date]:invalid').count()).toBe(2);
    await range.getByLabel('From').fill('2025-01-01');
    await range.getByLabel('To').fill('2025-01-07');
    await range.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No clicks in this period').waitFor();
    await expectGood(page, 'dashboard-quiet');
    expectClean(page);
    await page.close();
  });

  test('the exports hold exactly what is shown', async () => {
    const page = await site.open('/?f=device:is:mobile&place=country');
    const shown = bar(page, 'Countries', 'Germany');
    await shown.waitFor();
    await page.waitForLoadState('networkidle');
    const save = async (press: () => Promise<void>) => {
      const [download] = await Promise.all([page.waitForEvent('download'), press()]);
      const [header = [], ...rows] = cellsOf(readFileSync(await download.path(), 'utf8'));
      return { name: download.suggestedFilename(), header, rows };
    };
    const file = await save(() => page.getByRole('button', { name: 'Export', exact: true }).click());
    expect([file.name, file.header.slice(0, 5)]).toEqual([
      'dashboard-last-30-days.csv',
      ['Report', 'Value', 'Name', 'Clicks', 'Clicks, compared'],
    ]);
    const reports = Object.groupBy(file.rows, ([report = '']) => report);
    expect(Object.fromEntries(Object.entries(reports).map(([name, rows]) => [name, rows?.length]))).toEqual({
      Total: 1,
      Day: 31,
      Channel: 8,
      Country: 8,
      Link: 8,
      Device: 1,
    });
    const germany = reports.Country?.find(([, value]) => value === 'DE');
    expect(await shown.textContent()).toContain(count(Number(germany?.[3])));
    expect(germany?.[2]).toBe('Germany');
    const total = reports.Total?.[0]?.[3];
    expect(await totals(page, 'Clicks').textContent()).toContain(count(Number(total)));
    await page.getByRole('button', { name: 'Show all countries' }).click();
    const dialog = page.getByRole('dialog', { name: 'Countries' });
    await dialog.getByRole('button', { name: 'South Africa' }).waitFor();
    await expectGood(page, 'dashboard-all');
    const all = await save(() => dialog.getByRole('button', { name: 'Export as CSV' }).click());
    expect([all.name, all.rows.length]).toEqual(['country-last-30-days.csv', 10]);
    await dialog.getByRole('button', { name: 'South Africa' }).click();
    await page.getByRole('button', { name: 'Remove the filter Country is South Africa' }).waitFor();
    expectClean(page);
    await page.close();
  });

  test('a view is saved, opened by an analyst who can not change it, and deleted', async () => {
    const page = await site.open('/?f=country:is:DE&days=7&tech=os');
    await totals(page, 'Clicks').waitFor();
    await page.getByRole('button', { name: 'Saved views' }).click();
    const dialog = page.getByRole('dialog', { name: 'Saved views' });
    await dialog.getByText('No saved views yet').waitFor();
    await dialog.getByRole('textbox', { name: 'Save this view as' }).fill('Germany this week');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Germany this week', exact: true }).waitFor();
    await expectGood(page, 'dashboard-views');
    const [saved] = (await site.api<{ saved_views: { query: object }[] }>('/saved-views')).saved_views;
    expect(saved?.query).toMatchObject({
      filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }],
      window: { days: 7 },
      dimensions: ['time:day'],
    });
    const analyst = await site.open('/', { role: 'analyst' });
    await analyst.getByRole('button', { name: 'Saved views' }).click();
    const views = analyst.getByRole('dialog', { name: 'Saved views' });
    await views.getByRole('button', { name: 'Germany this week', exact: true }).waitFor();
    expect(await views.getByRole('textbox').count()).toBe(0);
    expect(await views.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
    await views.getByRole('button', { name: 'Germany this week', exact: true }).click();
    await bar(analyst, 'Systems', 'iOS').waitFor();
    expect(address(analyst).toString()).toBe(address(page).toString());
    await analyst.close();
    await dialog.getByRole('button', { name: 'Delete the view Germany this week' }).click();
    await dialog.getByText('No saved views yet').waitFor();
    await page.close();
  });

  test('a phone has one button for filters, with their count', async () => {
    const page = await site.open('/?f=country:is:DE&f=device:is:mobile', { width: 390 });
    const filters = page.getByRole('button', { name: 'Filters (2)' });
    await filters.waitFor();
    const add = page.getByRole('button', { name: 'Add filter' });
    expect(await add.isVisible()).toBe(false);
    await screenshot(page, 'dashboard-phone');
    await filters.click();
    expect(await filters.getAttribute('aria-expanded')).toBe('true');
    await page.getByRole('button', { name: 'Remove the filter Device is Mobile' }).click();
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    await expectGood(page, 'dashboard-phone-filters');
    await page.close();
  });

  test('figures of the previous choice are dimmed and labeled until those of the chosen period arrive', async () => {
    const page = await site.open('/');
    await chart(page, /^Clicks by day: /);
    await page.waitForLoadState('networkidle');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/v1/analytics/query', async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('combobox', { name: 'Time range' }).selectOption('1');
    const loading = page.getByRole('status').filter({ hasText: 'Loading…' });
    await loading.first().waitFor();
    const dimmed = 'document.querySelector(".answer > :not(.answer-loading)")';
    const opacity = () => page.evaluate(`getComputedStyle(${dimmed}).opacity`);
    await expect.poll(opacity, PATIENCE).toBe('0.4');
    await screenshot(page, 'dashboard-loading');
    release();
    await chart(page, /^Clicks by hour: /);
    await expect.poll(() => loading.count(), PATIENCE).toBe(0);
    expect(await opacity()).toBe('1');
    expectClean(page);
    await page.close();
  });

  test('a shared dashboard shows its scope and nothing else, without a sign-in', async () => {
    const owner = await site.open('/');
    await owner.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = owner.getByRole('dialog', { name: 'Shared dashboards' });
    await dialog.getByText('No shared dashboards yet').waitFor();
    await dialog.getByRole('button', { name: 'Share a dashboard' }).click();
    const form = owner.getByRole('dialog', { name: 'Share a dashboard' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Autumn for the agency');
    await form.getByRole('combobox', { name: 'What it shows' }).selectOption('tag');
    await form.getByRole('combobox', { name: 'Tags' }).click();
    await owner.getByRole('option', { name: 'autumn' }).click();
    await owner.keyboard.press('Escape');
    await form.getByLabel('Password', { exact: true }).fill('autumn-2026');
    await expectGood(owner, 'dashboard-share');
    await form.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByText('One tag, with a password').waitFor();
    await expectGood(owner, 'dashboard-shared-list');
    type Shared = { shared_dashboards: { id: string; url: string }[] };
    const [shared] = (await site.api<Shared>('/shared-dashboards')).shared_dashboards;
    const url = (shared?.url ?? '').replace(/^https?:\/\/[^/]+/, site.app);

    const page = await site.open('/', { role: null });
    const response = await page.goto(url);
    expect([
      response?.status(),
      response?.headers()['x-robots-tag'],
      response?.headers()['referrer-policy'],
    ]).toEqual([200, 'noindex, nofollow', 'no-referrer']);
    expect(await page.locator('meta[name=robots]').getAttribute('content')).toBe('noindex');
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText(/password is wrong/i).waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill('autumn-2026');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Autumn for the agency' }).waitFor();
    const { totals: autumn } = await ask({
      filters: [{ dimension: 'tag', operator: 'is', values: ['autumn'] }],
    });
    await chart(page, new RegExp(`^Clicks by day: ${count(autumn.clicks)} in`));
    await page.waitForLoadState('networkidle');
    await expectGood(page, 'shared-dashboard');
    expect(await page.getByRole('list', { name: 'Links' }).getByRole('listitem').count()).toBe(3);
    expect(await page.getByRole('region', { name: 'Totals' }).textContent()).not.toContain('Revenue');
    expect(await page.getByRole('link', { name: /Open the link/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Saved views' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Tags' }).click();
    // The links of the tag have others, which are outside the scope.
    await bar(page, 'Tags', 'autumn').waitFor();
    expect(await page.getByRole('list', { name: 'Tags' }).getByRole('listitem').count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text).toContain('Tag,autumn,autumn,');
    for (const outside of ['sale', 'print', 'lamp', 'Revenue']) expect(text).not.toContain(outside);
    // After a reload the password is still known, and the end of the sharing ends the page.
    await page.reload();
    await bar(page, 'Channels', 'Instagram').waitFor();
    expectClean(page);
    await site.api(`/shared-dashboards/${shared?.id}`, undefined, 'DELETE');
    expect((await page.goto(url))?.status()).toBe(404);
    await page.getByText('This dashboard does not exist, or is no longer shared').waitFor();
    await screenshot(page, 'shared-dashboard-ended');
    await page.close();
    await owner.close();
  });

  test('a plan without analytics says so, and shows nothing else', async () => {
    const id = site.service.demo?.workspace_id ?? '';
    await site.hoplog('workspace', 'set', '--workspace', id, '--plan', 'free');
    try {
      const page = await site.open('/');
      await page.getByText('Your plan does not include this').waitFor();
      await expectGood(page, 'dashboard-free');
      await page.close();
    } finally {
      await site.hoplog('workspace', 'set', '--workspace', id, '--plan', 'unlimited');
    }
  });
});
