import { expect, test, vi } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood, expectNotice } from './console-site.ts';
import {
  type CreatedLinks,
  field,
  LONG,
  openSection,
  PATIENCE,
  press,
  records,
  SHOP,
  setDomain,
} from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await setDomain(site);
  return site.close;
});

test('folders are in the navigation, with the number of their links', async () => {
  const { id } = await site.api<{ id: string }>('/folders', { name: 'Launch' });
  const { links } = await site.api<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'In the folder',
    channels: ['reddit', 'slack'],
    folder_id: id,
  });
  const page = await site.open('/', { role: 'operator' });
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Links', exact: true }).click();
  const folders = page.getByRole('list', { name: 'Folders' });
  await folders.getByRole('link', { name: 'Launch 2 links' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('2 links', { exact: true }).first().waitFor();
  expect(new URL(page.url()).search).toBe(`?folder_id=${id}`);
  expect(await pages.locator('[aria-current="page"]').allTextContents()).toEqual(['Launch2 links']);
  await expectGood(page, 'links-in-folder');

  await folders.getByRole('button', { name: 'Add a folder' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New folder' });
  const name = dialog.getByRole('textbox', { name: 'Name' });
  await expect
    .poll(() => name.evaluate('document.activeElement?.getAttribute("maxlength")'), PATIENCE)
    .toBe('100');
  await page.keyboard.type('Retired');
  await page.keyboard.press('Enter');
  await folders.getByRole('link', { name: 'Retired 0 links' }).waitFor();
  await page.getByText('No links match these filters').waitFor();
  // A link that moves is counted at once.
  await page.goto(`${site.app}/console/links/${links[0]?.id}`);
  await press(page, 'Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await folders.getByRole('link', { name: 'Launch 1 link' }).waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await folders.getByRole('link', { name: 'Launch 1 link' }).click();
  await folders.waitFor({ state: 'hidden' });
  expectClean(page);
  await page.close();

  const analyst = await site.open('/links', { role: 'analyst' });
  await analyst.getByRole('list', { name: 'Folders' }).getByText('Retired').waitFor();
  expect(await analyst.getByRole('button', { name: 'Add a folder' }).count()).toBe(0);
  await analyst.close();
});

test("members comment on a link's page, and delete what they wrote", async () => {
  const { links } = await site.api<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Flyer',
    channel: 'other',
  });
  const path = `/links/${links[0]?.id}`;
  await site.api(`${path}/comments`, { text: 'Printed on 500 flyers.' });
  const page = await site.open(path, { role: 'operator', keepsUndo: true });
  const comments = page.getByRole('region', { name: 'Comments' });
  await comments.getByText('Printed on 500 flyers.').waitFor();
  // It is a key's: this member may not delete it.
  expect(await comments.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
  await comments
    .getByRole('textbox', { name: 'Add a comment' })
    .fill('Ends in May.\nAsk Ada about a new one.');
  await comments.getByRole('button', { name: 'Comment', exact: true }).click();
  await expectNotice(page, 'Comment added');
  const list = comments.getByRole('list', { name: 'All comments' });
  await expect.poll(() => list.getByRole('listitem').count(), PATIENCE).toBe(2);
  await list.getByText('Ends in May.').waitFor();
  await expectGood(page, 'link-comments');
  await list.getByRole('button', { name: /^Delete the comment of operator@/ }).click();
  await list.getByText('Ends in May.').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+z');
  await list.getByText('Ends in May.').waitFor();
  await page.close();

  const analyst = await site.open(path, { role: 'analyst' });
  const read = analyst.getByRole('region', { name: 'Comments' });
  await read.getByText('Printed on 500 flyers.').waitFor();
  expect(await read.getByRole('textbox').count()).toBe(0);
  await analyst.close();
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
  await expectNotice(page, 'Folder deleted');
  await dialog.getByText('Spring', { exact: true }).waitFor({ state: 'detached' });
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

test('a link shows whether it is active, with any number of similar slugs, and its folder, or why that is unknown', async () => {
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
  const unknown = settings.getByText('Unavailable: the server returned 400');
  await expect.poll(() => unknown.count(), PATIENCE).toBe(2);
  await page.close();
});

test('moving a link to a folder is undone; a change of a field that cannot be set back is not offered', async () => {
  const folder = await site.api<{ id: string }>('/folders', { name: 'Autumn' });
  const made = await site.api<CreatedLinks>('/links', { ...SHOP, name: 'Moved', smart: true, slug: 'moved' });
  const id = made.links[0]?.id;
  const link = () => site.api<LinkRecord>(`/links/${id}`);
  const page = await site.open(`/links/${id}/edit`, { keepsUndo: true });
  await openSection(page, 'Campaign and UTM');
  await page.getByRole('combobox', { name: 'Folder' }).click();
  await page.getByRole('option', { name: 'Autumn' }).click();
  await press(page, 'Save');
  const settings = page.getByRole('region', { name: 'Settings of the link' });
  await settings.getByText('Autumn', { exact: true }).waitFor();
  expect((await link()).folder_id).toBe(folder.id);
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expectNotice(page, 'Undone');
  expect(await link()).toEqual({ ...made.links[0], updated_at: expect.any(String) });
  await settings.getByText('Autumn', { exact: true }).waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Edit' }).click();
  await openSection(page, 'Limits and password');
  await page.getByLabel('Password', { exact: true }).fill('open sesame');
  await press(page, 'Save');
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  expectClean(page);
  await page.close();
});

test('a link changes only in the edited fields, and is deleted after a question', async () => {
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
  if (!before) throw new Error('no link was created');
  const page = await site.open(`/links/${before.id}`);
  await page.getByRole('link', { name: 'Edit' }).click();
  await expect.poll(() => field(page, 'Slug').inputValue(), PATIENCE).toBe('winter-24');
  await expectGood(page, 'links-edit');
  await field(page, 'Slug').fill('other-24');
  await press(page, 'Save');
  await page.getByText('"other-24" is taken').waitFor();
  await field(page, 'Slug').fill('winter-25');
  await openSection(page, 'Limits and password');
  await field(page, 'Click limit').fill('');
  await openSection(page, 'For developers');
  await field(page, 'Metadata').fill('');
  await openSection(page, 'Devices and apps');
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
  expect(await records(site, '&slug=winter-25')).toHaveLength(1);
  await press(page, 'Delete');
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Links' }).waitFor();
  expect(await records(site, '&slug=winter-25')).toEqual([]);
  expectClean(page);
  await page.close();
});

test("fields that were not edited do not undo another person's changes to targets and pixels", async () => {
  const made = await site.api<CreatedLinks>('/links', {
    ...SHOP,
    name: 'Two editors',
    smart: true,
    targeting: { mobile: 'https://m.shop.example/', desktop: 'https://shop.example/desktop' },
    retargeting: { facebook: '123456789012' },
  });
  const [link] = made.links;
  if (!link) throw new Error('no link was created');
  const page = await site.open(`/links/${link.id}/edit`);
  await openSection(page, 'Devices and apps');
  await field(page, 'Phones and tablets').fill('https://m.shop.example/new');
  await openSection(page, 'Retargeting pixels');
  await field(page, 'Facebook pixel ID').fill('');
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

test('an analyst sees links, and no controls that change them', async () => {
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
    await page.getByText(/Your role cannot/).waitFor();
  }
  await expectGood(page, 'links-analyst');
  await page.close();
});
