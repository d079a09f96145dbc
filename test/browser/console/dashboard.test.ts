import { beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_CHROMIUM } from '../chromium.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood, screenshot } from './console-site.ts';
import { fillShop, type Shop } from './dashboard-desk.ts';
import { address, ask, bar, card, chart, count, totals } from './dashboard-page.ts';

const PATIENCE = { timeout: 60_000 };
// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

type Painted = {
  dataset: { country?: string };
  computedStyleMap(): { get(name: string): { value: number } };
};
/** Runs in the browser: how each country of the map is painted. */
const PAINTED = (paths: unknown[]) =>
  (paths as Painted[]).map((path) => ({
    country: path.dataset.country ?? '',
    opacity: Number(path.computedStyleMap().get('fill-opacity').value.toFixed(3)),
  }));

/** Runs in the browser: the sizes of the totals' figures. */
const SIZES =
  '[...new Set([...document.querySelectorAll(".totals-value")].map((one) => getComputedStyle(one).fontSize))]';
/** Runs in the browser: the most lines of a total's figure. */
const LINES =
  'Math.max(...[...document.querySelectorAll(".totals-value")].map((one) => Math.round(one.getBoundingClientRect().height / 30)))';
/** Runs in the browser: the most room below the content of a card with a list. Pixels. */
const SLACKS = `Math.max(...[...document.querySelectorAll('.breakdown-panel')].map((panel) => {
  const last = panel.lastElementChild ?? panel;
  return panel.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom;
}))`;

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('an empty workspace shows how to begin, by role', async () => {
  const page = await site.open('/');
  await page.getByText('Create your first link').waitFor();
  expect(await page.getByRole('link', { name: 'New link' }).getAttribute('href')).toBe('/console/links/new');
  expect(await page.getByRole('link', { name: 'the pixel', exact: true }).getAttribute('href')).toBe(
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
    const { totals: all } = await ask(site, { metrics: ['clicks', 'visitors', 'leads', 'conversions'] });
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
    expect(await totals(page, 'Clicks').locator('[title]').getAttribute('title')).toMatch(
      /^Compared with \d+ \w+ \d{4}, \d\d:\d\d to \d+ \w+ \d{4}, \d\d:\d\d$/,
    );
    await chart(page, new RegExp(`^Clicks by day: ${count(all.clicks)} in 31 days, most on `));
    const { rows } = await ask(site, { dimensions: ['channel'] });
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
      .toMatch(/^\d+ \w+ \d{4}Clicks\d+Previous period \(\d+ \w+ \d{4}\)\d+$/);
    await page.waitForLoadState('networkidle');
    await expectGood(page, 'dashboard');
    // Data begins above 200 pixels, totals have one size, and cards are as high as their lists.
    for (const width of [1_440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect((await card(page, 'Totals').boundingBox())?.y).toBeLessThan(200);
    }
    await page.setViewportSize({ width: 1_280, height: 900 });
    const channels = page.getByRole('list', { name: 'Channels', exact: true });
    expect(await channels.locator('.bar-fill').count()).toBe(await channels.getByRole('listitem').count());
    expect(await page.evaluate(SIZES)).toHaveLength(1);
    expect(await page.evaluate(LINES)).toBe(1);
    expect(await page.evaluate(SLACKS)).toBeLessThan(8);
    await page.getByRole('button', { name: 'Show as table' }).click();
    const days = page.getByRole('region', { name: 'Figures over time' }).getByRole('row');
    await expect.poll(() => days.count(), PATIENCE).toBe(32);
    expectClean(page);
    await page.close();
  });

  test('a press on a row or a country filters by it, and back undoes that', async () => {
    const page = await site.open('/');
    const filter = (dimension: string, value: string) => ({
      filters: [{ dimension, operator: 'is', values: [value] }],
    });
    await bar(page, 'Channels', 'YouTube').click();
    const youtube = (await ask(site, filter('channel', 'youtube'))).totals.clicks;
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
      new RegExp(`^Clicks by day: ${count((await ask(site, filter('country', 'DE'))).totals.clicks)} in`),
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

  test('the map paints countries without revenue palest, and its scale has figures', async () => {
    const page = await site.open('/?days=1&metric=revenue');
    const { rows } = await ask(site, {
      dimensions: ['country'],
      metrics: ['clicks', 'revenue'],
      window: { days: 1 },
    });
    const revenue = new Map(
      rows.map(({ dimensions, metrics }) => [dimensions.country, metrics.revenue ?? 0]),
    );
    const map = page.getByRole('img', { name: /^Map of revenue by country\./ });
    await map.waitFor();
    const painted = await map.locator('[data-any]').evaluateAll(PAINTED);
    const without = painted.filter(({ country }) => revenue.get(country) === 0);
    expect(without.length).toBeGreaterThan(0);
    expect(new Set(without.map(({ opacity }) => opacity))).toEqual(new Set([0.18]));
    const byRevenue = (a: { country: string }, b: { country: string }) =>
      (revenue.get(b.country) ?? 0) - (revenue.get(a.country) ?? 0);
    expect(painted.toSorted(byRevenue).map(({ country }) => country)).toEqual(
      painted.toSorted((a, b) => b.opacity - a.opacity || byRevenue(a, b)).map(({ country }) => country),
    );
    const most = Math.max(...revenue.values());
    const money = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'USD' });
    expect(await page.locator('.world-scale-figures > span').allTextContents()).toEqual(
      [0, most / 4, most].map((value) => money.format(value)),
    );
    await expectGood(page, 'dashboard-map-revenue');
    await page.close();
  });

  test('each list has the rows of its dimension', async () => {
    const page = await site.open('/');
    for (const [tab, list, row] of [
      ['Sources', 'Sources', 'Instagram'],
      ['Referrers', 'Referrers', 'l.instagram.com'],
      ['Campaigns', 'Campaigns', 'Autumn sale'],
      ['Ads', 'Ads', 'Meta Ads'],
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
    await page.getByRole('button', { name: 'Add filter' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a filter' });
    await dialog.getByRole('checkbox', { name: /Germany/ }).waitFor();
    await expectGood(page, 'dashboard-filter');
    await dialog.getByRole('textbox', { name: 'Values' }).pressSequentially('jap');
    await dialog.getByRole('checkbox', { name: /Germany/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(address(page).getAll('f')).toEqual(['country:is:JP']);
    // While a filter is changed, its own values stay offered.
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
    const { totals: both } = await ask(site, {
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
    await expect.poll(opacity, PATIENCE).toBe('1');
    expectClean(page);
    // Placeholders, which stay without a response, do not pulse where reduced motion is preferred.
    await page.route('**/api/v1/analytics/query', () => undefined);
    await page.reload();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor();
    const moves = 'document.getAnimations().filter((one) => one.playState === "running").length';
    expect(await page.evaluate(moves)).toBe(0);
    await page.close();
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
