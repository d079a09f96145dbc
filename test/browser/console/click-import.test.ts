import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNotice,
} from './console-site.ts';

/** Each test looks at several states, on a machine that may have other things to do. */
const LONG = { timeout: 400_000 };
/** `HISTORY_VISITS=100000` makes the real move; a run of all tests takes a small one. */
const VISITS = Number(process.env.HISTORY_VISITS ?? 2_000);
const COUNT = new Intl.NumberFormat('en-US');

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  for (const slug of ['spring', 'autumn']) {
    await site.api('/links', {
      destination_url: `https://shop.example/${slug}`,
      name: `The ${slug} sale`,
      channel: 'newsletter',
      slug: `${slug}-${suffix()}`,
    });
  }
  return site.close;
});

/** Slugs are shared by all workspaces of the service. */
const suffix = () => site.mail.replaceAll(/[^a-z0-9]/g, '').slice(-12);

/** Visits as Shlink's API has them: every 50th is of a link that is gone. */
function shlinkVisits(): string {
  const newest = Date.now() - 86_400_000;
  const data = Array.from({ length: VISITS }, (_, n) => ({
    referer: n % 3 === 0 ? 'https://news.example/a' : '',
    date: new Date(newest - n * 120_000).toISOString().replace(/\.\d+Z/, '+00:00'),
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
    visitLocation: { cityName: 'Bonn', countryCode: 'DE', countryName: 'Germany', regionName: 'NRW' },
    potentialBot: false,
    visitedUrl: `${new URL(site.app).origin}/${n % 50 === 0 ? 'gone' : n % 2 === 0 ? 'spring' : 'autumn'}-${suffix()}`,
  }));
  return JSON.stringify({ visits: { data } });
}

async function choose(page: ConsolePage, name: string, content: string): Promise<void> {
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
}

const figure = (page: ConsolePage, label: string) =>
  page.locator('.mantine-Paper-root', { hasText: label }).locator('.figure-value').textContent();

test('the history of clicks is checked, imported, seen in the list, and taken back', LONG, async () => {
  const visits = shlinkVisits();
  const page = await site.open('/links/import');
  await page.getByRole('link', { name: 'Import click history' }).click();
  await page.getByRole('heading', { level: 1, name: 'Import click history' }).waitFor();
  await page.getByLabel('Where the file is from').selectOption('Shlink');
  await page.getByLabel('Domain of rows').fill(new URL(site.app).hostname);
  await expectGood(page, 'click-import-choose');

  await choose(page, 'visits.json', visits);
  await page.getByRole('button', { name: 'Check the file' }).click();
  const report = page.getByRole('region', { name: 'What the import will do' });
  await report.waitFor();
  await report.getByText(`${COUNT.format(VISITS)} rows were looked at. Nothing was stored yet.`).waitFor();
  const good = COUNT.format(VISITS * 0.98);
  expect([
    await figure(page, 'Clicks to import'),
    await figure(page, 'Rows already present'),
    await figure(page, 'Rows refused'),
  ]).toEqual([good, '0', COUNT.format(VISITS * 0.02)]);
  expect((await site.api<{ imports: object[] }>('/clicks/imports')).imports).toEqual([]);
  await report
    .getByRole('row', { name: /gone-\S+ names a link that the workspace does not have$/ })
    .waitFor();
  await expectGood(page, 'click-import-checked');

  await report.getByRole('button', { name: `Import ${good} clicks` }).click();
  await page.getByRole('region', { name: 'Result of the import' }).waitFor();
  expect(await figure(page, 'Clicks imported')).toBe(good);
  const past = page.getByRole('region', { name: 'Earlier imports' });
  await past
    .getByRole('row', { name: /Shlink/ })
    .getByText(good)
    .waitFor();
  await expectGood(page, 'click-import-result');

  await choose(page, 'visits.json', visits);
  await page.getByRole('button', { name: 'Check the file' }).click();
  await report.waitFor();
  expect([await figure(page, 'Clicks to import'), await figure(page, 'Rows already present')]).toEqual([
    '0',
    good,
  ]);

  await past.getByRole('button', { name: `Undo the import of ${good} clicks` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo', exact: true }).click();
  await expectNotice(page, 'Import undone');
  await past.getByText('Undone').waitFor();
  expect((await site.api<{ clicks: object[] }>('/clicks')).clicks).toEqual([]);
  await expectGood(page, 'click-import-undone');
  expectClean(page);
  await page.close();
});

test('orders are a kind of file, and a file of another service is refused in words', LONG, async () => {
  const page = await site.open('/links/import/clicks');
  await page.getByLabel('Where the file is from').selectOption('Plausible');
  await choose(page, 'a.csv', 'a,b\n1,2\n');
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page
    .getByRole('alert')
    .getByText(/not an export of Plausible/)
    .waitFor();
  await page.getByLabel('Where the file is from').selectOption('Orders, as CSV');
  await choose(page, 'orders.csv', `ts,order_id,amount,slug\n2024-03-02,o-1,19.99,spring-${suffix()}\n`);
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByRole('button', { name: 'Import 1 order', exact: true }).click();
  await page.getByRole('region', { name: 'Result of the import' }).waitFor();
  expect(await figure(page, 'Orders imported')).toBe('1');
  await page.close();
});

test('an analyst is told who can import clicks', LONG, async () => {
  const page = await site.open('/links/import/clicks', { role: 'analyst' });
  await page.getByText('Your role cannot import clicks').waitFor();
  await page.close();
});
