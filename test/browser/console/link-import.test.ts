import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

/** Each test looks at several states, on a machine that may have other things to do. */
const LONG = { timeout: 400_000 };
/** Rows of one call of the page. */
const PIECE = 200;

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await site.api('/links', {
    destination_url: 'https://shop.example/',
    name: 'First',
    channel: 'other',
    slug: 'first',
  });
  return site.close;
});

const slugs = async (part: string) =>
  (await site.api<{ links: LinkRecord[] }>(`/links?view=records&limit=500&slug=${part}`)).links.map(
    ({ slug }) => slug,
  );

const row = (slug: string, destination = `https://shop.example/${slug}`) =>
  `${destination},About ${slug},${slug}`;

const csv = (rows: string[]) => ['destination_url,name,slug', ...rows].join('\n');

async function choose(page: ConsolePage, name: string, content: string | Buffer): Promise<void> {
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
}

/** Presses the button that says what an import will do, and waits for it. */
async function check(page: ConsolePage, rows: string): Promise<void> {
  await page.getByRole('button', { name: `Check ${rows}`, exact: true }).click();
  await page.getByRole('region', { name: 'What the import will do' }).waitFor();
}

/** Holds the page's import at its second call until it is released. Checks before it are not held. */
async function holdSecondPiece(page: ConsolePage) {
  const held = Promise.withResolvers<void>();
  let calls = 0;
  await page.route('**/api/v1/links/import', async (route) => {
    if (route.request().postDataJSON().dry_run === true) return route.continue();
    calls += 1;
    if (calls === 2) await held.promise;
    await route.continue();
  });
  return { letGo: () => held.resolve(), calls: () => calls };
}

const figure = (page: ConsolePage, label: string) =>
  page.locator('.mantine-Paper-root', { hasText: label }).locator('.figure-value').textContent();

test(
  'a file is imported with its progress; rejected rows are listed with the reason, saved, corrected and imported',
  LONG,
  async () => {
    const good = Array.from({ length: 2 * PIECE }, (_, n) => row(`leaf-${n}`));
    const rows = [...good];
    rows.splice(3, 0, row('insecure', 'ftp://shop.example/a'));
    rows.splice(PIECE + 50, 0, row('FIRST'));
    // This row is in the next piece of the file, and the check must see it.
    rows.push(row('LEAF-7', 'https://shop.example/other'));
    const page = await site.open('/links');
    await page.getByRole('link', { name: 'Import' }).click();
    await page.getByRole('heading', { level: 1, name: 'Import links' }).waitFor();
    await expectGood(page, 'import-choose');
    const hold = await holdSecondPiece(page);
    await choose(page, 'leaves.csv', csv(rows));
    const earlier: number[] = [];
    page.on('request', (sent) => {
      const body = sent.url().endsWith('/links/import') ? sent.postDataJSON() : null;
      if (body?.dry_run === true) earlier.push(body.earlier_links);
    });
    await check(page, '403 rows');
    // The plan's limit is checked for the file as a whole.
    expect(earlier).toEqual([0, 199, 398]);
    await page.getByText('403 rows were looked at. Nothing was made yet.').waitFor();
    expect([await figure(page, 'Links to create'), await figure(page, 'Rows refused')]).toEqual(['400', '3']);
    expect(await slugs('leaf-')).toEqual([]);
    await expectGood(page, 'import-checked');
    await page.getByRole('button', { name: 'Import 403 rows' }).click();
    await page.getByText('201 of 403 rows: 199 made, 0 there already, 2 refused', { exact: true }).waitFor();
    const bar = page.getByRole('progressbar', { name: 'Rows done' });
    expect(await bar.getAttribute('aria-valuenow')).toBe('49');
    await expectGood(page, 'import-running');
    hold.letGo();

    await page.getByText('403 rows were looked at.').waitFor();
    expect(
      await Promise.all(
        ['Links created', 'Already present', 'Rows refused'].map((name) => figure(page, name)),
      ),
    ).toEqual(['400', '0', '3']);
    const refused = page.getByRole('region', { name: 'Refused rows' });
    await refused.getByRole('row', { name: /^5 insecure destination_url: must be a full URL/ }).waitFor();
    await refused.getByRole('row', { name: /^252 FIRST slug: "FIRST" is taken/ }).waitFor();
    await refused.getByRole('row', { name: /^404 LEAF-7 slug: "LEAF-7" is taken/ }).waitFor();
    expect(await refused.locator('tbody tr').count()).toBe(3);
    await expectGood(page, 'import-result');
    expect(await slugs('leaf-')).toHaveLength(400);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Refused rows as CSV' }).click();
    const saved = readFileSync(await (await download).path(), 'utf8');
    const lines = parse(saved, { columns: true, bom: true }) as Record<string, string>[];
    expect(lines.map(({ line, slug }) => [line, slug])).toEqual([
      ['5', 'insecure'],
      ['252', 'FIRST'],
      ['404', 'LEAF-7'],
    ]);
    const mended = saved.replaceAll('ftp://', 'https://').replace(',FIRST', ',first-2');
    await choose(page, 'mended.csv', mended.replace(',LEAF-7', ',other-leaf'));
    await check(page, '3 rows');
    await page.getByRole('button', { name: 'Import 3 rows' }).click();
    await page.getByText('because a link here has no such field: line, reason.').waitFor();
    expect(await figure(page, 'Links created')).toBe('3');
    expect(await slugs('insecure')).toEqual(['insecure']);
    expectClean(page);
    await page.close();
  },
);

test('a canceled import ends after what was sent, and resumes where it ended', LONG, async () => {
  const page = await site.open('/links/import');
  const file = csv(Array.from({ length: 2 * PIECE + 50 }, (_, n) => row(`frost-${n}`)));
  const hold = await holdSecondPiece(page);
  await choose(page, 'frost.csv', file);
  await check(page, '450 rows');
  await page.getByRole('button', { name: 'Import 450 rows' }).click();
  await page.getByText('200 of 450 rows').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Ending' }).waitFor();
  hold.letGo();
  await page.getByText('The import was canceled').waitFor();
  await page.getByText('400 of 450 rows were done.').waitFor();
  expect(hold.calls()).toBe(2);
  await expectGood(page, 'import-canceled');
  expect(await slugs('frost-')).toHaveLength(400);

  await choose(page, 'frost.csv', file);
  await check(page, '450 rows');
  await page.getByRole('button', { name: 'Import 450 rows' }).click();
  await page.getByText('450 rows were looked at.').waitFor();
  expect([await figure(page, 'Links created'), await figure(page, 'Already present')]).toEqual(['50', '400']);
  await page.close();
});

test('leaving the page during an import asks first', LONG, async () => {
  const page = await site.open('/links/import');
  const hold = await holdSecondPiece(page);
  await choose(page, 'thaw.csv', csv(Array.from({ length: 2 * PIECE }, (_, n) => row(`thaw-${n}`))));
  await check(page, '400 rows');
  await page.getByRole('button', { name: 'Import 400 rows' }).click();
  await page.getByText('200 of 400 rows').waitFor();
  const question = page.getByRole('dialog', { name: 'Stop the import?' });
  for (const link of ['All links', 'Webhooks']) {
    await page.getByRole('link', { name: link, exact: true }).click();
    await question.getByRole('button', { name: 'Stay' }).click();
    await question.waitFor({ state: 'detached' });
  }
  // The question disappears once there is nothing to lose.
  await page.getByRole('link', { name: 'All links' }).click();
  await question.waitFor();
  hold.letGo();
  await page.getByText('400 rows were looked at.').waitFor();
  await question.waitFor({ state: 'detached' });
  expect(await slugs('thaw-')).toHaveLength(400);
  await page.getByRole('link', { name: 'All links' }).click();
  await page.getByRole('heading', { level: 1, name: 'Links', exact: true }).waitFor();
  expectClean(page);
  await page.close();
});

test('a file that is not a list of links creates nothing and says why', LONG, async () => {
  const links = () => site.api<{ total: number }>('/links/search?limit=1');
  const { total } = await links();
  const page = await site.open('/links/import');
  await choose(page, 'picture.csv', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13, 0x0a, 0]));
  await page.getByText('The file is not text. Export it as CSV.').waitFor();
  await expectGood(page, 'import-no-text');
  expect(await page.getByRole('button', { name: /^Check/ }).count()).toBe(0);
  await choose(page, 'empty.csv', ' \n');
  await page.getByText('The file is empty.').waitFor();
  await choose(page, 'letter.csv', 'Dear friends,\nthe summer was warm,\nand long.\n');
  await page.getByRole('button', { name: 'Check 2 rows' }).click();
  await page.getByText('The file cannot be imported').waitFor();
  await expectGood(page, 'import-no-list');
  expect(await page.getByRole('alert').textContent()).toContain('destination_url');
  expect((await links()).total).toBe(total);
  await choose(page, 'columns.csv', csv([',,', '"",,""']));
  await page.getByText('The file has no rows.').waitFor();
  // The page stays usable: a good file after a wrong one. Rows without a value, as spreadsheets leave them, are
  // skipped.
  await choose(page, 'good.csv', csv([row('after-all'), ',,', '"",,""', '']));
  await check(page, '1 row');
  await page.getByRole('button', { name: 'Import 1 row', exact: true }).click();
  await page.getByText('1 row was looked at.').waitFor();
  expect(await slugs('after-all')).toEqual(['after-all']);
  expectClean(page);
  await page.close();
});
