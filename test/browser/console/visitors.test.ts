import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Download } from 'playwright-core';
import { expect, test } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { BROWSER, PHONE, visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { nextName } from '../next-name.ts';
import {
  attributesOf,
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
} from './console-site.ts';

/** Each test looks at several states, on a machine that may have other things to do. */
const LONG = { timeout: 400_000 };
const PATIENCE = { timeout: 60_000 };
const UNKNOWN_VISITOR = '01900000-0000-7000-8000-000000000000';

type Journey = { journey: { type: string }[] };
type Visitors = { visitors: { id: string; last_click: { ts: string } | null }[] };

let site: ConsoleSite;
let summer: LinkRecord;
let winter: LinkRecord;

inChromium(async () => {
  site = await consoleSite();
  summer = await makeLink('summer', 'instagram');
  winter = await makeLink('winter', 'youtube');
  return site.close;
});

async function makeLink(slug: string, channel: string): Promise<LinkRecord> {
  const { links } = await site.api<{ links: LinkRecord[] }>('/links', {
    destination_url: `https://shop.example/${slug}`,
    name: `The ${slug} sale`,
    channel,
    slug,
  });
  const [link] = links;
  if (!link) throw new Error('no link was created');
  return link;
}

/** A time zone in which it is noon: a journey is grouped by days, and midnight must not be in it. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  // The signs of these names are those of POSIX: `Etc/GMT-3` is three hours ahead.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** Follows a link, with these cookies where given. */
async function click({ short_url }: LinkRecord, headers: Record<string, string> = {}) {
  const { location, cookies } = await visitNew(short_url, { headers });
  const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
  return { visitor: location?.searchParams.get('_vid') ?? '', cookie };
}

/** Presses the control that saves a file. */
async function saved(page: ConsolePage, press: () => Promise<void>): Promise<Download> {
  const download = page.waitForEvent('download');
  await press();
  return download;
}

async function rowsOf(file: Download) {
  const text = readFileSync(await file.path(), 'utf8');
  // Excel reads a file without it as Latin-1.
  expect(text.startsWith('\uFEFF')).toBe(true);
  return parse(text, { columns: true, bom: true }) as Record<string, string>[];
}

test('without clicks the list of visitors and the page of a link say how they fill', LONG, async () => {
  const page = await site.open('/visitors');
  await page.getByText('No visitors yet').waitFor();
  await expectGood(page, 'visitors-empty');
  await page.getByRole('searchbox', { name: 'Email, user ID or visitor ID' }).fill('nonsense');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('No matching visitors').waitFor();
  await page.goto(`${site.app}/console/visitors/${UNKNOWN_VISITOR}`);
  await page.getByText('Not found').waitFor();
  await expectGood(page, 'visitor-unknown');
  await page.goto(`${site.app}/console/links/${summer.id}`);
  await page.getByText('No clicks yet').waitFor();
  await page.getByText('No clicks in this period').first().waitFor();
  await expectGood(page, 'link-empty');
  expectClean(page);
  await page.close();
});

test(
  'a visitor is found by email and by id; the journey shows clicks, lead and sale in order',
  LONG,
  async () => {
    const first = await click(summer, { referer: 'https://www.instagram.com/' });
    await click(winter, { cookie: first.cookie, 'user-agent': PHONE });
    await site.api('/track/identify', {
      visitor_id: first.visitor,
      email: 'ada@mail.example',
      external_user_id: 'Customer-42',
    });
    await site.api('/track/order', {
      visitor_id: first.visitor,
      order_id: 'a-1',
      amount: 120.5,
      currency: 'usd',
    });
    const other = await click(winter);
    await expect
      .poll(async () => {
        const { visitors } = await site.api<Visitors>('/visitors');
        return visitors.filter(({ last_click }) => last_click).map(({ id }) => id);
      }, PATIENCE)
      .toEqual([other.visitor, first.visitor]);
    await expect
      .poll(async () => {
        const { journey } = await site.api<Journey>(`/visitors/${first.visitor}/journey`);
        return journey.map(({ type }) => type);
      }, PATIENCE)
      .toEqual(['click', 'click', 'identify', 'order']);

    const page = await site.open('/visitors', { timeZone: noonZone() });
    const rows = page.getByRole('region', { name: 'Visitors' }).locator('tbody tr');
    await expect.poll(() => rows.count(), PATIENCE).toBe(2);
    expect(await rows.first().textContent()).toContain('winter on YouTube');
    await expectGood(page, 'visitors');
    const find = page.getByRole('searchbox', { name: 'Email, user ID or visitor ID' });
    await find.fill('nobody@mail.example');
    await page.keyboard.press('Enter');
    await page.getByText('No matching visitors').waitFor();
    await expectGood(page, 'visitors-not-found');
    for (const part of ['DA@Mail', 'customer-4', first.visitor.slice(-8)]) {
      await find.fill(part);
      await page.keyboard.press('Enter');
      await expect.poll(() => rows.count(), PATIENCE).toBe(1);
      await rows.getByRole('link', { name: first.visitor.slice(-8) }).waitFor();
      expect(new URL(page.url()).searchParams.get('search')).toBe(part);
    }
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copy = rows.getByRole('button', { name: `Copy the visitor ID ${first.visitor.slice(-8)}` });
    const named = await nextName(copy);
    await copy.click();
    expect(await named()).toBe(`Copied the visitor ID ${first.visitor.slice(-8)}`);
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(first.visitor);
    await page.getByRole('link', { name: first.visitor.slice(-8) }).click();

    const steps = page.locator('.steps > li');
    await expect.poll(() => steps.count(), PATIENCE).toBe(3);
    const stepTexts = await steps.allTextContents();
    expect(stepTexts[0]).toMatch(/summer on Instagram.*First touch.*and 1 more click.*Chrome on Windows/);
    expect(stepTexts[0]).toMatch(/from .*instagram/);
    expect(stepTexts[1]).toMatch(/Identified as ada@mail\.example/);
    expect(stepTexts[2]).toMatch(/Ordered for US\$120\.50/);
    await page.getByRole('button', { name: 'and 1 more click' }).press('Enter');
    await expect.poll(() => steps.count(), PATIENCE).toBe(4);
    expect(await steps.nth(1).textContent()).toMatch(/winter on YouTube.*Last touch.*Safari on iOS, mobile/);
    const times = await attributesOf(steps.locator('time'), 'datetime');
    expect(times).toEqual(times.toSorted());
    await page.getByRole('heading', { level: 1, name: 'ada@mail.example' }).waitFor();
    await page.getByText('ada@mail.example').first().waitFor();
    await expectGood(page, 'visitor');
    await steps.first().getByRole('link', { name: 'summer' }).click();
    await page.getByRole('heading', { level: 1, name: 'summer' }).waitFor();

    await page.goto(`${site.app}/console/visitors`);
    await find.fill(other.visitor.toUpperCase());
    await page.keyboard.press('Enter');
    await expect
      .poll(() => new URL(page.url()).pathname, PATIENCE)
      .toBe(`/console/visitors/${other.visitor}`);
    await expect.poll(() => steps.count(), PATIENCE).toBe(1);
    expectClean(page);
    await page.close();
  },
);

test("a link's page shows its figures and clicks, and saves its QR code and its clicks", LONG, async () => {
  // A second try finds the click of the first.
  const clicksSoFar = async () =>
    (await site.api<{ links: { clicks: number }[] }>(`/links?ids=${summer.id}`)).links[0]?.clicks ?? 0;
  const total = (await clicksSoFar()) + 1;
  const { visitor } = await click(summer, { 'user-agent': BROWSER });
  await expect.poll(clicksSoFar, PATIENCE).toBe(total);
  await expect
    .poll(
      async () => (await site.api<{ channels: { revenue: number }[] }>('/channels')).channels[0]?.revenue,
      PATIENCE,
    )
    .toBeGreaterThan(0);
  const page = await site.open(`/links/${summer.id}`);
  const clicks = page.getByRole('region', { name: 'Newest clicks' });
  await clicks.getByRole('link', { name: visitor.slice(-8) }).waitFor();
  await expect.poll(() => clicks.locator('tbody tr').count(), PATIENCE).toBe(total);
  const figure = page
    .locator('.mantine-Paper-root', { hasText: /^Clicks/ })
    .locator('.figure-value')
    .first();
  await expect.poll(() => figure.textContent(), PATIENCE).toBe(`${total}`);
  await page
    .getByRole('table', { name: 'Clicks by devices' })
    .getByRole('row', { name: `Desktop ${total}` })
    .waitFor();
  await expectGood(page, 'link');

  const svg = await saved(page, () => page.getByRole('button', { name: 'SVG' }).click());
  expect(svg.suggestedFilename()).toBe('qr-summer.svg');
  expect(readFileSync(await svg.path(), 'utf8')).toContain(
    `<title>QR code that leads to ${summer.short_url}`,
  );
  const png = await saved(page, () => page.getByRole('button', { name: 'PNG' }).click());
  expect(png.suggestedFilename()).toBe('qr-summer.png');
  const image = readFileSync(await png.path());
  expect(image.subarray(1, 4).toString()).toBe('PNG');
  expect(image.readUInt32BE(16)).toBeGreaterThanOrEqual(1_024);

  await page.getByRole('button', { name: 'Export' }).click();
  const file = await saved(page, () => page.getByRole('menuitem', { name: 'Clicks as CSV' }).click());
  const exported = await rowsOf(file);
  expect(exported.map(({ link_id }) => link_id)).toEqual(Array(total).fill(summer.id));

  await page.goto(`${site.app}/console/links`);
  await page.getByRole('link', { name: 'summer' }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const list = await saved(page, () => page.getByRole('menuitem', { name: 'These links as CSV' }).click());
  expect((await rowsOf(list)).map(({ slug, clicks }) => [slug, clicks])).toEqual([
    ['summer', `${total}`],
    ['winter', '2'],
  ]);
  expectClean(page);
  await page.close();
});
