import { expect, test, vi } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';
import { chooseChannel, field, LONG, openSection, PATIENCE, press, records, setDomain } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await setDomain(site);
  return site.close;
});

const linkOf = (page: ConsolePage) => page.url().split('/').at(-1) ?? '';

test('a link on one channel is created with every setting, its errors at their fields', async () => {
  const page = await site.open('/links');
  await page.getByText('No links yet').waitFor();
  await expectGood(page, 'links-empty');
  await page.getByRole('link', { name: 'New link' }).click();
  await field(page, 'Destination URL').and(page.locator(':focus')).waitFor();
  await field(page, 'Destination URL').fill('http://shop.example/summer');
  await field(page, 'Name').fill('Summer sale');
  await chooseChannel(page, 'Instagram');
  await press(page, 'Create');
  const destination = field(page, 'Destination URL');
  await expect.poll(() => destination.getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await expect.poll(() => destination.and(page.locator(':focus')).count(), PATIENCE).toBe(1);
  await page.getByText('must begin with https://').waitFor();
  await expectGood(page, 'links-new-refused');

  await destination.fill('https://shop.example/summer');
  await field(page, 'Slug').fill('summer-24');
  await openSection(page, 'Campaign and UTM');
  await page.getByRole('combobox', { name: 'Tags' }).fill('hot');
  await page.keyboard.press('Enter');
  await press(page, 'New folder');
  await page.getByRole('dialog').getByLabel('Name').fill('Ads');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await field(page, 'UTM campaign').fill('summer');
  await openSection(page, 'Devices and apps');
  await field(page, 'Phones and tablets').fill('https://m.shop.example/summer');
  await field(page, 'Computers').fill('https://shop.example/desktop');
  await openSection(page, 'Start and expiry');
  await page.getByLabel('Expires').fill('2090-05-06T07:08');
  await field(page, 'Destination after expiry').fill('https://shop.example/over');
  await openSection(page, 'Limits and password');
  await field(page, 'Click limit').fill('500');
  await page.getByLabel('Password', { exact: true }).fill('open sesame');
  await openSection(page, 'Retargeting pixels');
  await field(page, 'Facebook pixel ID').fill('123');
  await openSection(page, 'For developers');
  await field(page, 'External ID').fill('post-7');
  await field(page, 'Metadata').fill('{"team": ');
  await press(page, 'Create');
  await page.getByText('is not valid JSON').waitFor();
  await field(page, 'Metadata').fill('[1]');
  await press(page, 'Create');
  await page.getByText('must be a JSON object').waitFor();
  await field(page, 'Click limit').fill('99999999999');
  await press(page, 'Create');
  await page.getByText('must be at most 2,147,483,647').waitFor();
  await field(page, 'Click limit').fill('500');
  await field(page, 'Metadata').fill('{"team": "ads"}');
  await press(page, 'Create');
  await page.getByText('must be a pixel id of facebook').waitFor();
  await field(page, 'Facebook pixel ID').fill('123456789012');
  await press(page, 'Create');
  await page.getByRole('heading', { name: 'summer-24' }).waitFor();
  // The navigation counts it too.
  await page.getByRole('list', { name: 'Folders' }).getByRole('link', { name: 'Ads 1 link' }).waitFor();

  const [made, ...others] = await records(site, '&slug=summer');
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

test('links on several channels are created at once, and a Smart Link; a taken slug is reported at its field', async () => {
  const page = await site.open('/links/new');
  await field(page, 'Destination URL').fill('https://else.example/');
  await field(page, 'Name').fill('Everywhere');
  // For one link; the field disappears when several are chosen.
  await openSection(page, 'For developers');
  await field(page, 'External ID').fill('every-1');
  await chooseChannel(page, 'LinkedIn');
  await chooseChannel(page, 'TikTok');
  await field(page, 'Slug').fill('every');
  await press(page, 'Create');
  await page
    .getByText('must be on shop.example, unless “The destination is an external site” is ticked')
    .waitFor();
  await page.getByLabel('The destination is an external site').check();
  await press(page, 'Create');
  await page.getByRole('heading', { name: '2 links made' }).waitFor();
  await expectGood(page, 'links-made');
  expect(
    (await records(site, '&slug=every')).map(({ slug, external, external_id }) => [
      slug,
      external,
      external_id,
    ]),
  ).toEqual([
    ['every-tiktok', true, null],
    ['every-linkedin', true, null],
  ]);

  await press(page, 'Make another');
  await field(page, 'Destination URL').fill('https://shop.example/smart');
  await field(page, 'Name').fill('Smart one');
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

test('an error of a field that is not on the page is shown above the form', async () => {
  const page = await site.open('/links/new');
  await field(page, 'Destination URL').fill('https://shop.example/');
  await field(page, 'Name').fill('Refused');
  await chooseChannel(page, 'LinkedIn');
  await chooseChannel(page, 'Reddit');
  const details = [{ path: 'external_id', message: 'is not for several' }];
  await page.route('**/api/v1/links', (route) =>
    route.fulfill({ status: 400, json: { error: { code: 'bad_request', message: 'refused', details } } }),
  );
  await press(page, 'Create');
  await page.getByRole('alert').getByText('external_id: is not for several').waitFor();
  // A field that is on the page shows its own error.
  await page.getByRole('checkbox', { name: 'Reddit' }).uncheck();
  await expect.poll(() => field(page, 'External ID').getAttribute('aria-invalid'), PATIENCE).toBe('true');
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.close();
});
