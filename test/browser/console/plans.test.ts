import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { bioDesk } from './bio-desk.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';
import { chooseChannel } from './link-desk.ts';

/** Timeout of a test of several page states on a loaded machine. */
const LONG = { timeout: 240_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const setPlan = (...changes: string[]) =>
  site.hoplog('workspace', 'set', '--workspace', site.service.demo?.workspace_id ?? '', ...changes);

const refusals = (page: ConsolePage) => page.getByRole('alert').count();

test('when the plan has lapsed, lists and editors show everything but figures', LONG, async () => {
  const { links } = await site.api<{ links: { slug: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Summer',
    channel: 'other',
  });
  const desk = await bioDesk(site);
  const bioPage = await desk.make('lapsed', {
    title: 'Lapsed',
    links: [{ label: 'Shop', url: 'https://shop.example/' }],
  });
  await desk.close();
  await setPlan('--status', 'past_due');

  const page = await site.open('/links?sort=clicks');
  await page.getByRole('link', { name: links[0]?.slug ?? '' }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'Clicks' }).count()).toBe(0);
  expect(await refusals(page)).toBe(0);
  await expectGood(page, 'links-lapsed');

  await page.goto(`${site.app}/console/bio-pages`);
  await page.getByRole('link', { name: 'Lapsed' }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'Clicks' }).count()).toBe(0);
  await page.goto(`${site.app}/console/bio-pages/${bioPage.id}`);
  await page.getByText('Button statistics need a paid plan.').waitFor();
  expect(await refusals(page)).toBe(0);
  expectClean(page);
  await page.close();
});

test('on the free plan a link is created, found again with its QR code, and deleted', LONG, async () => {
  await setPlan('--plan', 'free', '--status', 'active');
  const page = await site.open('/links/new');
  await page.getByRole('textbox', { name: 'Destination URL', exact: true }).fill('https://shop.example/free');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Free');
  await chooseChannel(page, 'Instagram');
  await page.getByRole('textbox', { name: 'Slug', exact: true }).fill('free-1');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'free-1' }).waitFor();
  const id = page.url().split('/').at(-1);

  await page.goto(`${site.app}/console/links`);
  await page.getByRole('link', { name: 'free-1' }).click();
  await page.getByText('Statistics require an active paid plan').waitFor();
  await page.getByRole('img', { name: /^QR code that leads to .*\/free-1$/ }).waitFor();
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  expect(await refusals(page)).toBe(0);
  await expectGood(page, 'link-free');

  await page.goto(`${site.app}/console/links/${id}/edit`);
  await page.getByText('Editing links requires an active paid plan').waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Links' }).waitFor();
  await page.goto(`${site.app}/console/links/${id}`);
  await page.getByText('Not found').waitFor();
  expectClean(page);
  await page.close();
});
