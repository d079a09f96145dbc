import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { NO_CHROMIUM } from '../chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

type CreatedLinks = { links: LinkRecord[] };

const PATIENCE = { timeout: 60_000 };
const SHOP = { destination_url: 'https://shop.example/' };

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

let site: ConsoleSite;

beforeAll(async () => {
  if (NO_CHROMIUM) return;
  site = await consoleSite();
  // The first own-site link sets the domain of the workspace; the list is empty again after it.
  const { links } = await site.api<CreatedLinks>('/links', { ...SHOP, name: 'First', channel: 'other' });
  await site.api(`/links/${links[0]?.id}`, undefined, 'DELETE');
});
afterAll(async () => {
  if (!NO_CHROMIUM) await site.close();
});
beforeEach((context) => context.skip(Boolean(NO_CHROMIUM), String(NO_CHROMIUM)));

const records = async (query = '') =>
  (await site.api<{ links: LinkRecord[] }>(`/links?view=records&limit=500${query}`)).links;

const linkOf = (page: ConsolePage) => page.url().split('/').at(-1) ?? '';

async function choose(page: ConsolePage, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

const press = (page: ConsolePage, name: string) => page.getByRole('button', { name, exact: true }).click();

const field = (page: ConsolePage, name: string) => page.getByRole('textbox', { name, exact: true });

/** The slugs of the table, from top to bottom. */
const slugs = (page: ConsolePage) => page.locator('tbody tr td:first-child a').allTextContents();

async function expectSlugs(page: ConsolePage, expected: string[]): Promise<void> {
  await expect.poll(() => slugs(page), PATIENCE).toEqual(expected);
}

test('a link on one channel is made with every setting, once for a double press, its refusals at their fields', async () => {
  const page = await site.open('/links');
  await page.getByText('There is no link yet').waitFor();
  await expectGood(page, 'links-empty');
  await page.getByRole('link', { name: 'New link' }).click();
  await field(page, 'Destination URL').fill('http://shop.example/summer');
  await field(page, 'Name').fill('Summer sale');
  await choose(page, 'Channel', 'Instagram');
  await press(page, 'Create');
  const destination = field(page, 'Destination URL');
  await expect.poll(() => destination.getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await expect.poll(() => destination.and(page.locator(':focus')).count(), PATIENCE).toBe(1);
  await page.getByText('must begin with https://').waitFor();
  await expectGood(page, 'links-new-refused');

  await destination.fill('https://shop.example/summer');
  await field(page, 'Slug').fill('summer-24');
  await page.getByRole('combobox', { name: 'Tags' }).fill('hot');
  await page.keyboard.press('Enter');
  await press(page, 'New folder');
  await page.getByRole('dialog').getByLabel('Name').fill('Ads');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await field(page, 'UTM campaign').fill('summer');
  await field(page, 'Phones and tablets').fill('https://m.shop.example/summer');
  await field(page, 'Computers').fill('https://shop.example/desktop');
  await page.getByLabel('Expires').fill('2090-05-06T07:08');
  await field(page, 'Most visits').fill('500');
  await field(page, 'Destination afterwards').fill('https://shop.example/over');
  await page.getByLabel('Password', { exact: true }).fill('open sesame');
  await field(page, 'Facebook pixel id').fill('123');
  await field(page, 'External id').fill('post-7');
  await field(page, 'Metadata').fill('{"team": ');
  await press(page, 'Create');
  await page.getByText('is no JSON').waitFor();
  await field(page, 'Metadata').fill('[1]');
  await press(page, 'Create');
  await page.getByText('must be a JSON object').waitFor();
  await field(page, 'Most visits').fill('99999999999');
  await press(page, 'Create');
  await page.getByText('must be at most 2,147,483,647').waitFor();
  await field(page, 'Most visits').fill('500');
  await field(page, 'Metadata').fill('{"team": "ads"}');
  await press(page, 'Create');
  await page.getByText('must be a pixel id of facebook').waitFor();
  await field(page, 'Facebook pixel id').fill('123456789012');
  await page.getByRole('button', { name: 'Create', exact: true }).dblclick();
  await page.getByRole('heading', { name: 'summer-24' }).waitFor();

  const [made, ...others] = await records('&slug=summer');
  expect(others).toEqual([]);
  const { folders } = await site.api<{ folders: { id: string; name: string }[] }>('/folders');
  expect(folders.map(({ name }) => name)).toEqual(['Ads']);
  expect(made).toMatchObject({
    id: linkOf(page),
    name: 'Summer sale',
    slug: 'summer-24',
    destination: 'https://shop.example/summer',
    channel: 'instagram',
    external: false,
    external_id: 'post-7',
    metadata: { team: 'ads' },
    utm_campaign: 'summer',
    tags: ['hot'],
    folder_id: folders[0]?.id,
    targeting: { mobile: 'https://m.shop.example/summer', desktop: 'https://shop.example/desktop' },
    expires_at: new Date('2090-05-06T07:08').toISOString(),
    max_clicks: 500,
    expired_redirect_url: 'https://shop.example/over',
    password_protected: true,
    retargeting: { facebook: '123456789012' },
  });
  expectClean(page);
  await page.close();
});

test('links on several channels are made at once, and a Smart Link; a taken slug is told at its field', async () => {
  const page = await site.open('/links/new');
  await field(page, 'Destination URL').fill('https://else.example/');
  await field(page, 'Name').fill('Everywhere');
  // Of one link; the field goes when several are chosen.
  await field(page, 'External id').fill('every-1');
  await page.getByText('Several channels', { exact: true }).click();
  const channels = page.getByRole('combobox', { name: 'Channels' });
  await channels.click();
  await page.getByRole('option', { name: 'LinkedIn' }).click();
  await page.getByRole('option', { name: 'TikTok' }).click();
  await page.keyboard.press('Escape');
  await field(page, 'Slug').fill('every');
  await press(page, 'Create');
  await page
    .getByText('must be on shop.example, unless “The destination is not on our own site” is ticked')
    .waitFor();
  await page.getByLabel('The destination is not on our own site').check();
  await press(page, 'Create');
  await page.getByRole('heading', { name: '2 links made' }).waitFor();
  await expectGood(page, 'links-made');
  expect(
    (await records('&slug=every')).map(({ slug, external, external_id }) => [slug, external, external_id]),
  ).toEqual([
    ['every-tiktok', true, null],
    ['every-linkedin', true, null],
  ]);

  await press(page, 'Make another');
  await field(page, 'Destination URL').fill('https://shop.example/smart');
  await field(page, 'Name').fill('Smart one');
  await page.getByText('Smart Link', { exact: true }).click();
  await field(page, 'Slug').fill('Every-TikTok');
  await press(page, 'Create');
  await page.getByText('"Every-TikTok" is taken').waitFor();
  await expect.poll(() => field(page, 'Slug').getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await field(page, 'Slug').fill('');
  await press(page, 'Create');
  await page
    .getByText('Settings of the link')
    .or(page.getByRole('heading', { name: 'Statistics' }))
    .waitFor();
  expect(await site.api<LinkRecord>(`/links/${linkOf(page)}`)).toMatchObject({
    smart: true,
    name: 'Smart one',
  });
  await page.close();
});

test('a link that is being made or changed is not left without a question', async () => {
  const page = await site.open('/links');
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const stay = async () => {
    await question.getByRole('button', { name: 'Stay' }).click();
    await question.waitFor({ state: 'detached' });
  };
  await page.getByRole('link', { name: 'New link' }).click();
  await field(page, 'Name').fill('Typed for long');
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await stay();
  await page.evaluate('history.back()');
  await stay();
  await page.getByRole('button', { name: /^Sign out/ }).click();
  await stay();
  expect(await field(page, 'Name').inputValue()).toBe('Typed for long');
  // What was taken back is nothing to lose.
  await field(page, 'Name').fill('');
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();

  const { links } = await site.api<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Kept',
    channel: 'other',
  });
  const edit = `${site.app}/console/links/${links[0]?.id}/edit`;
  await page.goto(edit);
  await field(page, 'Name').fill('Changed');
  await page.getByRole('link', { name: 'Cancel', exact: true }).click();
  await stay();
  expect([page.url(), await field(page, 'Name').inputValue()]).toEqual([edit, 'Changed']);
  await page.getByRole('button', { name: /^Sign out/ }).click();
  await page.route('**/api/v1/session', (route) => route.fulfill({ status: 204 }));
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in', exact: true }).waitFor();
  expect(await field(page, 'Name').count()).toBe(0);
  expectClean(page);
  await page.close();
});

test('folders are renamed and deleted; the links of a deleted one stay', async () => {
  const { id } = await site.api<{ id: string }>('/folders', { name: 'Sprnig' });
  const { links } = await site.api<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Foldered',
    channel: 'other',
    folder_id: id,
  });
  const page = await site.open('/links', { role: 'operator' });
  await press(page, 'Folders');
  const dialog = page.getByRole('dialog', { name: 'Folders' });
  await dialog.getByRole('button', { name: 'Rename Sprnig' }).click();
  const name = dialog.getByRole('textbox', { name: 'New name of Sprnig' });
  await name.fill(' ');
  await press(page, 'Save');
  await expect.poll(() => name.getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await name.fill('Spring');
  await press(page, 'Save');
  await dialog.getByText('Spring', { exact: true }).waitFor();
  await expectGood(page, 'links-folders');
  await press(page, 'Delete Spring');
  const question = page.getByRole('dialog', { name: 'Delete the folder Spring?' });
  await question.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Folder deleted').waitFor();
  expect(await dialog.getByText('Spring', { exact: true }).count()).toBe(0);
  const { links: kept } = await site.api<{ links: LinkRecord[] }>(`/links?view=records&ids=${links[0]?.id}`);
  expect(kept).toMatchObject([{ name: 'Foldered', folder_id: null }]);
  await page.close();

  const analyst = await site.open('/links', { role: 'analyst' });
  await analyst
    .getByRole('link', { name: links[0]?.slug ?? '' })
    .first()
    .waitFor();
  expect(await analyst.getByRole('button', { name: 'Folders', exact: true }).count()).toBe(0);
  await analyst.close();
});

test('a refusal of a field that is not on the page stands above the form', async () => {
  const page = await site.open('/links/new');
  await field(page, 'Destination URL').fill('https://shop.example/');
  await field(page, 'Name').fill('Refused');
  await page.getByText('Several channels', { exact: true }).click();
  await page.getByRole('combobox', { name: 'Channels' }).click();
  await page.getByRole('option', { name: 'LinkedIn' }).click();
  await page.keyboard.press('Escape');
  const details = [{ path: 'external_id', message: 'is not for several' }];
  await page.route('**/api/v1/links', (route) =>
    route.fulfill({ status: 400, json: { error: { code: 'bad_request', message: 'refused', details } } }),
  );
  await press(page, 'Create');
  await page.getByRole('alert').getByText('external_id: is not for several').waitFor();
  // Where the field is on the page, it says so itself.
  await page.getByText('One channel', { exact: true }).click();
  await expect.poll(() => field(page, 'External id').getAttribute('aria-invalid'), PATIENCE).toBe('true');
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.close();
});

test('a link says whether it is active, however many others have its slug in theirs, and its folder, or why that is not known', async () => {
  const folder = await site.api<{ id: string }>('/folders', { name: 'Shorts' });
  const made = await site.api<CreatedLinks>('/links', {
    ...SHOP,
    name: 'Short',
    smart: true,
    slug: 'go',
    folder_id: folder.id,
  });
  const others = Array.from({ length: 60 }, (_, n) => ({
    ...SHOP,
    name: `Go ${n}`,
    channel: 'other',
    slug: `go-${n}`,
  }));
  await site.api('/links/bulk', { links: others });
  const page = await site.open(`/links/${made.links[0]?.id}`);
  const settings = page.getByRole('region', { name: 'Settings of the link' });
  await settings.getByText('Active', { exact: true }).waitFor();
  await settings.getByText('Shorts', { exact: true }).waitFor();
  for (const path of ['links/search', 'folders']) {
    await page.route(`**/${path}?*`, (route) => route.fulfill({ status: 400, json: {} }));
  }
  await page.reload();
  const unknown = settings.getByText('It can’t be told: the server answered 400');
  await expect.poll(() => unknown.count(), PATIENCE).toBe(2);
  await page.close();
});

test('a link is changed where the form says so and nowhere else, and deleted after a question', async () => {
  const settings = {
    slug: 'winter-24',
    max_clicks: 500,
    metadata: { team: 'ads' },
    password: 'open sesame',
    targeting: { mobile: 'https://m.shop.example/', desktop: 'https://shop.example/desktop' },
    external_id: 'post-8',
  };
  const made = await site.api<CreatedLinks>('/links', {
    ...SHOP,
    ...settings,
    name: 'Winter',
    smart: true,
  });
  await site.api('/links', { ...SHOP, name: 'Other', channel: 'other', slug: 'other-24' });
  const [before] = made.links;
  if (!before) throw new Error('no link was made');
  const page = await site.open(`/links/${before.id}`);
  await page.getByRole('link', { name: 'Edit' }).click();
  await expect.poll(() => field(page, 'Slug').inputValue(), PATIENCE).toBe('winter-24');
  await expectGood(page, 'links-edit');
  await field(page, 'Slug').fill('other-24');
  await press(page, 'Save');
  await page.getByText('"other-24" is taken').waitFor();
  await field(page, 'Slug').fill('winter-25');
  await field(page, 'Most visits').fill('');
  await field(page, 'Metadata').fill('');
  await field(page, 'Computers').fill('');
  await page.getByLabel('Remove the password').check();
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'winter-25' }).waitFor();
  expect(await site.api<LinkRecord>(`/links/${before.id}`)).toEqual({
    ...before,
    slug: 'winter-25',
    short_url: before.short_url.replace('winter-24', 'winter-25'),
    max_clicks: null,
    metadata: null,
    targeting: { mobile: 'https://m.shop.example/' },
    password_protected: false,
    updated_at: expect.any(String),
  });

  await press(page, 'Delete');
  const question = page.getByRole('dialog', { name: 'Delete the link winter-25?' });
  await question.waitFor();
  await expectGood(page, 'links-delete');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect(await records('&slug=winter-25')).toHaveLength(1);
  await press(page, 'Delete');
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Links' }).waitFor();
  expect(await records('&slug=winter-25')).toEqual([]);
  expectClean(page);
  await page.close();
});

test('targets and pixels that somebody else changes meanwhile are not undone by fields that were left alone', async () => {
  const made = await site.api<CreatedLinks>('/links', {
    ...SHOP,
    name: 'Two editors',
    smart: true,
    targeting: { mobile: 'https://m.shop.example/', desktop: 'https://shop.example/desktop' },
    retargeting: { facebook: '123456789012' },
  });
  const [link] = made.links;
  if (!link) throw new Error('no link was made');
  const page = await site.open(`/links/${link.id}/edit`);
  await field(page, 'Phones and tablets').fill('https://m.shop.example/new');
  await field(page, 'Facebook pixel id').fill('');
  const targeting = { mobile: 'https://m.shop.example/', desktop: 'https://shop.example/theirs' };
  const retargeting = { facebook: '123456789012', google: 'AW-123456789' };
  await site.api(`/links/${link.id}`, { targeting, retargeting }, 'PATCH');
  await press(page, 'Save');
  await page.getByRole('heading', { name: link.slug }).waitFor();
  expect(await site.api<LinkRecord>(`/links/${link.id}`)).toMatchObject({
    targeting: { mobile: 'https://m.shop.example/new', desktop: 'https://shop.example/theirs' },
    retargeting: { google: 'AW-123456789' },
  });
  await page.close();
});

test('the table searches, filters, sorts and turns pages, and its URL brings all of it back', async () => {
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
  // A page that there is no longer leads to the last one.
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
  await page.getByText('No link passes these filters').waitFor();
  await expectGood(page, 'links-none-found');
  await press(page, 'Show all links');
  await expect.poll(() => slugs(page).then(({ length }) => length), PATIENCE).toBe(25);
  expect(new URL(page.url()).search).toBe('');
  await page.close();
});

test('the exported links are all there when one is deleted meanwhile', async () => {
  const names = Array.from({ length: 510 }, (_, n) => `walk-${n}`);
  const links = names.map((slug) => ({ ...SHOP, name: slug, slug, smart: true, tags: ['walk'] }));
  await site.api('/links/bulk', { links });
  const [first] = await records('&slug=walk-0');
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
  // The deleted one was read before.
  expect(await records('&slug=walk-0')).toEqual([]);
  expect(lines.map(({ slug }) => slug)).toEqual(names);
  expectClean(page);
  await page.close();
});

test('an analyst sees links, and nothing that would change them', async () => {
  const made = await site.api<CreatedLinks>('/links', { ...SHOP, name: 'Seen', channel: 'other' });
  const [link] = made.links;
  const page = await site.open('/links', { role: 'analyst' });
  await page.getByRole('link', { name: link?.slug ?? '' }).waitFor();
  expect(await page.getByRole('link', { name: /New link|Import/ }).count()).toBe(0);
  await page.goto(`${site.app}/console/links/${link?.id}`);
  await page.getByRole('heading', { name: link?.slug ?? '' }).waitFor();
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  for (const path of ['/links/new', '/links/import', `/links/${link?.id}/edit`]) {
    await page.goto(`${site.app}/console${path}`);
    await page.getByText(/Your role does not/).waitFor();
  }
  await expectGood(page, 'links-analyst');
  await page.close();
});
