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

const PATIENCE = { timeout: 60_000 };
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const DESKTOP =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';

type Link = { id: string; slug: string; short_url: string };
type Stats = { totals: { clicks: number; visitors: number; conversions: number; revenue: number } };

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

async function makeLink(name: string, channel: string): Promise<Link> {
  const { links } = await site.api<{ links: Link[] }>('/links', {
    destination_url: 'https://shop.example/landing',
    name,
    channel,
  });
  const [link] = links;
  if (!link) throw new Error('no link was created');
  return link;
}

/** Follows a link as a new visitor. @returns the visitor's id */
async function click(link: Link, userAgent: string): Promise<string> {
  const response = await fetch(link.short_url, { redirect: 'manual', headers: { 'user-agent': userAgent } });
  const location = new URL(response.headers.get('location') ?? '');
  return location.searchParams.get('_vid') ?? '';
}

const figure = (page: ConsolePage, label: string) =>
  page.locator('.mantine-Paper-root', { hasText: label }).locator('.figure').first();

test('an empty workspace shows how to begin, by role', async () => {
  const page = await site.open('/');
  await page.getByText('Create your first link').waitFor();
  expect(await page.getByRole('link', { name: 'New link' }).getAttribute('href')).toBe('/console/links/new');
  expect(await page.getByRole('link', { name: 'the pixel' }).getAttribute('href')).toBe(
    '/console/settings/developers',
  );
  await expectGood(page, 'overview-empty');
  await page.close();
  const analyst = await site.open('/', { role: 'analyst' });
  await analyst.getByText('Ask an operator of the workspace to create one.').waitFor();
  expect(await analyst.getByRole('link', { name: 'New link' }).count()).toBe(0);
  await analyst.close();
});

describe('with clicks and an order', () => {
  let summer: Link;
  let winter: Link;

  beforeAll(async () => {
    if (NO_CHROMIUM) return;
    summer = await makeLink('Summer sale', 'facebook');
    winter = await makeLink('Winter sale', 'youtube');
    const visitor = await click(summer, DESKTOP);
    await click(summer, PHONE);
    await click(winter, DESKTOP);
    await click(winter, 'Googlebot/2.1 (+http://www.google.com/bot.html)');
    await site.api('/track/order', { visitor_id: visitor, order_id: 'first', amount: 49.5, currency: 'usd' });
    await vi.waitFor(async () => {
      const { totals } = await site.api<Stats>('/stats');
      expect(totals).toEqual({ clicks: 3, visitors: 3, conversions: 1, revenue: 49.5 });
    }, PATIENCE);
  }, 120_000);

  test('the figures, the chart and the tables are those of the API, and lead to the links', async () => {
    const page = await site.open('/');
    await page.getByRole('img', { name: /^Clicks by day: 3 in 31 days, most on .* with 3\.$/ }).waitFor();
    const shown = await Promise.all(
      ['Clicks', 'Visitors', 'Conversions', 'Revenue'].map((label) => figure(page, label).textContent()),
    );
    expect(shown).toEqual(['3', '3', '1', 'US$49.50']);
    await page.getByText('No previous data').first().waitFor();
    const channels = page.getByRole('region', { name: 'Channels' });
    await channels.getByRole('row', { name: 'Facebook 2 2 1 US$49.50' }).waitFor();
    await channels.getByRole('row', { name: 'YouTube 1 1 0 US$0.00' }).waitFor();
    const link = channels.getByRole('link', { name: 'Facebook' });
    expect(await link.getAttribute('href')).toBe('/console/links?channel=facebook');
    await page.getByRole('tab', { name: 'Links' }).click();
    const links = page.getByRole('region', { name: 'Links' });
    await links.getByRole('row', { name: `${summer.slug} Summer sale 2 2 1 US$49.50` }).waitFor();
    expect(await links.getByRole('link', { name: winter.slug }).getAttribute('href')).toBe(
      `/console/links/${winter.id}`,
    );
    await page
      .getByRole('region', { name: 'Countries' })
      .getByRole('row', { name: 'Unknown 3 100% 3' })
      .waitFor();
    await page.getByRole('tab', { name: 'Devices' }).click();
    await page.getByRole('row', { name: 'Desktop 2 66.7% 2' }).waitFor();
    await page.getByRole('tab', { name: 'Browsers' }).click();
    await page.getByRole('row', { name: /^Chrome 2/ }).waitFor();
    await page.getByRole('tab', { name: 'Systems' }).click();
    await page.getByRole('row', { name: /^iOS 1/ }).waitFor();
    await page.getByRole('link', { name: 'IP Geolocation by DB-IP' }).waitFor();
    // Tabs, chart and period are in the URL: a copied address shows the same.
    expect(new URL(page.url()).search).toBe('?source=link&audience=os');
    await page.close();
  });

  test('is accessible and fits in both themes and widths, with its tables and numbers', async () => {
    const page = await site.open('/?days=7&source=link');
    await page.getByRole('region', { name: 'Links' }).waitFor();
    await page.getByRole('region', { name: 'Countries' }).waitFor();
    await expectGood(page, 'overview');
    await page.getByRole('button', { name: 'Show as table' }).click();
    await page.getByRole('region', { name: 'Figures over time' }).waitFor();
    await expectGood(page, 'overview-numbers');
    await page.close();
  });

  test('the period, the chart and the numbers can be chosen, and are in the URL', async () => {
    const page = await site.open('/');
    const chart = (name: RegExp) => page.getByRole('img', { name }).waitFor();
    await chart(/^Clicks by day: 3 in 31 days/);
    await page.getByText('24 h', { exact: true }).click();
    await chart(/^Clicks by hour: 3 in 25 hours/);
    const choice = page.getByRole('radiogroup', { name: 'Chart metric' });
    await choice.getByText('Revenue', { exact: true }).click();
    await chart(/^Revenue by hour: US\$49\.50 in 25 hours/);
    // The pointer's tooltip shows money too. The pointer moves again where the chart was redrawn under it.
    const readOff = async () => {
      await page.locator('.time-chart .u-over').hover({ position: { x: 50, y: 50 } });
      await page.locator('.time-chart .u-over').hover();
      return page.locator('.time-chart .u-legend').textContent();
    };
    await expect.poll(readOff, PATIENCE).toMatch(/RevenueUS\$\d+\.\d\d$/);
    await page.getByRole('button', { name: 'Show as table' }).click();
    const numbers = page.getByRole('region', { name: 'Figures over time' });
    expect(await numbers.getByRole('row').count()).toBe(26);
    expect(new URL(page.url()).search).toBe('?days=1&chart=revenue&numbers=shown');
    // Other days: a week without data.
    await page.getByRole('button', { name: 'Custom range' }).click();
    // Future days have no report: the browser says so at the field.
    await page.getByRole('textbox', { name: 'From' }).fill('2090-01-01');
    await page.getByRole('textbox', { name: 'To' }).fill('2090-01-07');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    expect(await page.locator('input[type=date]:invalid').count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('from')).toBe(null);
    await page.getByRole('textbox', { name: 'From' }).fill('2026-01-01');
    await page.getByRole('textbox', { name: 'To' }).fill('2026-01-07');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('No clicks in this period').waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-01');
    await expectGood(page, 'overview-quiet');
    await page.goBack();
    await chart(/^Revenue by hour/);
    expectClean(page);
    await page.close();
  });

  test('figures of the previous choice are dimmed and labeled until those of the chosen period arrive', async () => {
    const page = await site.open('/?source=link');
    await page.getByRole('img', { name: /^Clicks by day: 3/ }).waitFor();
    const countries = page.getByRole('region', { name: 'Countries' });
    await countries.getByRole('row', { name: 'Unknown 3 100% 3' }).waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/v1/stats?*', async (route) => {
      await released;
      await route.continue();
    });
    await page.getByText('24 h', { exact: true }).click();
    const loading = page.getByRole('status').filter({ hasText: 'Loading…' });
    await loading.waitFor();
    const dimmed = 'document.querySelector(".answer > :not(.answer-loading)")';
    const opacity = () => page.evaluate(`getComputedStyle(${dimmed}).opacity`);
    await expect.poll(opacity, PATIENCE).toBe('0.4');
    // The rows are of the chosen period, and the totals of the previous one: there is no share yet.
    await countries.getByRole('row', { name: 'Unknown 3 … 3' }).waitFor();
    await screenshot(page, 'overview-loading');
    release();
    await page.getByRole('img', { name: /^Clicks by hour: 3/ }).waitFor();
    await countries.getByRole('row', { name: 'Unknown 3 100% 3' }).waitFor();
    await expect.poll(() => loading.count(), PATIENCE).toBe(0);
    expect(await opacity()).toBe('1');
    expectClean(page);
    await page.close();
  });

  test('a plan without statistics says so, and shows nothing else', async () => {
    const id = site.service.demo?.workspace_id ?? '';
    await site.hoplog('workspace', 'set', '--workspace', id, '--plan', 'free');
    try {
      const page = await site.open('/');
      await page.getByText('Your plan does not include this').waitFor();
      await expectGood(page, 'overview-free');
      await page.close();
    } finally {
      await site.hoplog('workspace', 'set', '--workspace', id, '--plan', 'unlimited');
    }
  });
});
