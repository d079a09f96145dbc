import { expect, test, vi } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type BioDesk, bioDesk, LONG, PATIENT, press, preview, save } from './bio-desk.ts';
import {
  axeViolations,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNotice,
} from './console-site.ts';

vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;
let desk: BioDesk;

inChromium(async () => {
  site = await consoleSite();
  desk = await bioDesk(site);
  return site.close;
});

test('an empty list says what a bio page is, also to a workspace whose pages were all made by the API', async () => {
  const { id } = await site.api<{ id: string }>('/bio-pages', { slug: 'of-the-api', title: 'Of the API' });
  const page = await site.open('/bio-pages');
  await page.getByText('No bio pages yet').waitFor();
  expect(await page.getByText('Of the API').count()).toBe(0);
  expect(await page.getByRole('searchbox', { name: 'Search' }).count()).toBe(0);
  await expectGood(page, 'bio-pages-none');
  await page.goto(`${site.app}/console/bio-pages/${id}`);
  await page.getByText('Not found').waitFor();
  await page.close();
});

test('an unavailable address is reported before the page is created; an available one opens the editor', async () => {
  const taken = await desk.make('taken');
  const page = await site.open('/bio-pages');
  await page.getByRole('button', { name: 'New page' }).click();
  const address = page.getByLabel('Address');
  // The title proposes it, until it is changed.
  await page.getByLabel('Title').fill('Über Grace & tea');
  expect(await address.inputValue()).toBe('uber-grace-tea');
  await page.getByLabel('Title').fill('Ü');
  expect(await address.inputValue()).toBe('');
  await address.fill('api');
  await page.getByText('This address is reserved').waitFor();
  await address.fill('x');
  await page.getByText('3 to 40 letters, digits and hyphens').waitFor();
  await address.fill(taken.slug);
  await page.getByText('This address is taken').waitFor();
  expect(await page.getByRole('button', { name: 'Create', exact: true }).isDisabled()).toBe(true);
  await expectGood(page, 'bio-page-new');

  await address.fill(`Grace H ${taken.slug}`);
  await page.getByText(`/grace-h-${taken.slug} is free.`).waitFor();
  await page.getByLabel('Title').fill('Grace Hopper');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Grace Hopper' }).waitFor();
  await preview(page).getByRole('heading', { name: 'Grace Hopper' }).waitFor();
  // The page is a draft until it is published, and says so beside the address that can be copied.
  await page.getByText('Not published', { exact: true }).waitFor();
  const draft = `${site.service.short_url}/grace-h-${taken.slug}`;
  await expect.poll(async () => (await fetch(draft)).status, PATIENT).toBe(404);
  expectClean(page);
  await page.close();
});

test('an external id that a page has leads to that page, and one of a page of the API is rejected at its field', async () => {
  const known = await desk.make('known', { title: 'Known', external_id: 'shop-1' });
  await site.api('/bio-pages', { slug: `by-key-${known.slug}`, external_id: 'shop-2' });
  const page = await site.open('/bio-pages');
  await page.getByRole('button', { name: 'New page' }).click();
  await page.getByLabel('Address').fill(`other-${known.slug}`);
  await page.getByText('is free.').waitFor();
  await page.getByRole('dialog').getByText('For developers').click();
  const field = page.getByLabel('External ID');
  await field.fill('shop-2');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect.poll(() => field.getAttribute('aria-invalid'), PATIENT).toBe('true');
  await field.fill('shop-1');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Known' }).waitFor();
  await expectNotice(page, 'A page with this external ID already exists. Here it is.');
  await page.close();
});

test('the list counts the clicks of a page, is searched by title and address, and leads to older pages', async () => {
  const shop = await desk.make('glazes', {
    title: 'Clara Ceramics',
    is_published: true,
    links: [{ label: 'Shop', url: 'https://example.com/shop' }],
  });
  await press(shop.links[0]?.short_url ?? '');
  for (let n = 1; n <= 10; n++) await desk.make('later', { title: `Later ${n}` });

  const page = await site.open('/bio-pages');
  await page.getByRole('link', { name: 'Later 10' }).waitFor();
  expect(await page.getByRole('row').count()).toBe(1 + 10);
  expect(await page.getByRole('link', { name: 'Clara Ceramics' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('link', { name: 'Clara Ceramics' }).waitFor();
  expect(new URL(page.url()).searchParams.has('cursor')).toBe(true);

  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.fill('later');
  await page.getByRole('link', { name: 'Later 10' }).waitFor();
  await search.fill('nowhere');
  await page.getByText('No page matches this title or address').waitFor();
  await search.fill('GLAZES');
  const row = page.getByRole('row', { name: /Clara Ceramics.*\/glazes-.*Published/ });
  await row.waitFor();
  expect(await page.getByRole('row').count()).toBe(1 + 1);
  expect(new URL(page.url()).search).toBe('?q=GLAZES');
  await expect
    .poll(async () => {
      await page.reload();
      await row.getByRole('cell', { name: /^\d+$/ }).waitFor();
      return row.getByRole('cell').nth(2).textContent();
    }, PATIENT)
    .toBe('1');
  await search.fill('');
  await page.getByRole('link', { name: 'Later 10' }).waitFor();
  await expectGood(page, 'bio-pages');
  await page.close();
});

test('a button that leads to the short-link origin shows its earlier clicks, in the list too, and is removed only after a question', async () => {
  const shop = { id: 'shop', label: 'Shop', url: 'https://example.com/shop' };
  const { id, slug, links } = await desk.make('before', { title: 'Before', links: [shop] });
  await press(links[0]?.short_url ?? '');
  const page = await site.open(`/bio-pages/${id}`);
  await page.getByLabel('Destination URL').fill(`${site.service.short_url}/${slug}`);
  await save(page);
  await expect
    .poll(async () => {
      await page.reload();
      // The figures come after the button itself.
      const figures = page.getByText(/^Links directly to its URL.*Previously: /);
      await figures.waitFor();
      return figures.filter({ hasText: 'are no longer counted. Previously: 1 click · 1 visitor' }).count();
    }, PATIENT)
    .toBe(1);
  await page.getByRole('button', { name: 'Remove Shop' }).click();
  await page.getByRole('dialog', { name: 'Remove Shop?' }).waitFor();
  await page.goto(`${site.app}/console/bio-pages?q=${slug}`);
  await page
    .getByRole('row', { name: /Before/ })
    .getByRole('cell', { name: '1', exact: true })
    .waitFor();
  await page.close();
});

test('an analyst sees a page and its figures and can change nothing', async () => {
  const made = await desk.make('read-only', {
    title: 'Read only',
    links: [{ label: 'Shop', url: 'https://example.com/shop' }],
  });
  const page = await site.open(`/bio-pages/${made.id}`, { role: 'analyst' });
  await page.getByText('0 clicks · 0 visitors').waitFor();
  await preview(page).getByRole('heading', { name: 'Read only' }).waitFor();
  await press(made.links[0]?.short_url ?? '');
  await page.getByText('7 days', { exact: true }).click();
  await expect.poll(() => new URL(page.url()).search, PATIENT).toBe('?days=7');
  await expect
    .poll(async () => {
      await page.reload();
      await page.getByText(/^\d clicks? · /).waitFor();
      return page.getByText('1 click · 1 visitor').count();
    }, PATIENT)
    .toBe(1);
  expect(await page.getByLabel('Title').isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Remove Shop' }).isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Publish' }).click();
  expect(await page.getByLabel('Published').isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Delete this page' }).count()).toBe(0);
  await page.getByRole('link', { name: 'All bio pages' }).click();
  await page.getByRole('link', { name: 'Read only' }).waitFor();
  expect(await page.getByRole('button', { name: 'New page' }).count()).toBe(0);
  expectClean(page);
  await page.close();
});

test('publishing a page and taking it back are undone without a loss of what is typed meanwhile', async () => {
  const made = await desk.make('taken-back', { title: 'Taken back', is_published: false });
  const page = await site.open(`/bio-pages/${made.id}?tab=publish`, { keepsUndo: true });
  const published = page.getByLabel('Published');
  const status = async () => (await fetch(`${site.service.short_url}/${made.slug}`)).status;
  await published.check();
  await save(page);
  await expectNotice(page, 'Page published');
  await expect.poll(status, PATIENT).toBe(200);
  await page.getByLabel('Made with Hoplog').uncheck();
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expectNotice(page, 'Undone');
  expect(await desk.get(made.id)).toMatchObject({ is_published: false, show_branding: true });
  await expect.poll(() => published.isChecked(), PATIENT).toBe(false);
  expect(await page.getByLabel('Made with Hoplog').isChecked()).toBe(false);
  await expect.poll(status, PATIENT).toBe(404);
  await save(page);
  expect(await desk.get(made.id)).toMatchObject({ is_published: false, show_branding: false });
  expectClean(page);
  await page.close();
});

test('a deleted page is gone from the list and for visitors, even while it has unsaved changes', async () => {
  const made = await desk.make('short-lived', { title: 'Short-lived' });
  const page = await site.open(`/bio-pages/${made.id}?tab=publish`);
  const address = `${site.service.short_url}/${made.slug}`;
  await expect.poll(async () => (await fetch(address)).status, PATIENT).toBe(200);
  await page.getByLabel('Made with Hoplog').uncheck();
  await page.getByRole('button', { name: 'Delete this page' }).click();
  const question = page.getByRole('dialog', { name: 'Delete the page “Short-lived”?' });
  await question.getByText(/cannot be undone/).waitFor();
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Bio pages' }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Short-lived' }).count(), PATIENT).toBe(0);
  await expect.poll(async () => (await fetch(address)).status, PATIENT).toBe(404);
  expectClean(page);
  await page.close();
});
