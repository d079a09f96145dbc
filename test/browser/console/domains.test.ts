import { expect, test, vi } from 'vitest';
import type { DomainRecord } from '../../../api/domains/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNotice,
} from './console-site.ts';
import { LONG, PATIENCE, press, records, SHOP, setDomain } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await setDomain(site);
  return site.close;
});

const workspace = () => site.service.demo?.workspace_id ?? '';
const force = (domain: string) =>
  site.hoplog('domain', 'verify', '--force', '--workspace', workspace(), domain);
const domains = async () => (await site.api<{ domains: DomainRecord[] }>('/domains')).domains;
const card = (page: ConsolePage, name: string) => page.getByRole('article', { name, exact: true });

test('a domain is added, shows the records to set and what is wrong, and is the default once it is verified', async () => {
  const page = await site.open('/');
  await page.getByRole('navigation').getByRole('link', { name: 'Domains' }).click();
  await page.getByText('No domains yet').waitFor();
  await expectGood(page, 'domains-empty');
  await press(page, 'Add a domain');
  const dialog = page.getByRole('dialog', { name: 'Add a domain' });
  await dialog.getByLabel('Domain').fill('localhost');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText('Must not end with .localhost: such names are not public.').waitFor();
  await expectGood(page, 'domains-add-refused');
  await dialog.getByLabel('Domain').fill('https://Go.Brand.example/sale');
  await page.keyboard.press('Enter');
  const added = card(page, 'go.brand.example');
  await added.getByText('Waiting for DNS').waitFor();
  const [made] = await domains();
  for (const text of [made?.verification.name ?? '', made?.verification.value ?? '']) {
    await added.getByText(text, { exact: true }).waitFor();
  }
  // The service is at a loopback address, which no record leads a visitor to.
  await added.getByText('Set SHORT_URL first').waitFor();
  expect(await added.getByRole('button', { name: /^Copy the value of/ }).count()).toBe(1);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await added.getByRole('button', { name: 'Copy the value of the TXT record' }).click();
  await expect
    .poll(() => page.evaluate('navigator.clipboard.readText()'), PATIENCE)
    .toBe(made?.verification.value);
  await press(page, 'Check now: go.brand.example');
  await added.getByText(/Checked .*(missing|No answer from DNS)/).waitFor();
  await expectGood(page, 'domains-pending');

  await force('go.brand.example');
  await page.reload();
  await added.getByText('Verified', { exact: true }).waitFor();
  expect(await added.getByText(made?.verification.value ?? '').count()).toBe(0);
  await press(page, 'Settings of go.brand.example');
  const settings = page.getByRole('dialog', { name: 'Settings of go.brand.example' });
  await settings.getByRole('checkbox', { name: 'Default domain' }).check();
  await settings.getByLabel('Root address').fill('brand.example/home');
  await settings.getByLabel('Not found address').fill('https://go.brand.example/x');
  await settings.getByText('App files').click();
  await settings.getByLabel('assetlinks.json').fill('[{"relation": }]');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText(/is not valid JSON/).waitFor();
  await expectGood(page, 'domains-settings');
  await settings.getByLabel('assetlinks.json').fill('[{"relation": []}]');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText(/must not lead back to/).waitFor();
  await settings.getByLabel('Not found address').fill('');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'detached' });
  await added.getByText('Default', { exact: true }).waitFor();
  expect(await domains()).toMatchObject([
    {
      is_default: true,
      root_url: 'https://brand.example/home',
      not_found_url: null,
      assetlinks: [{ relation: [] }],
      apple_app_site_association: null,
    },
  ]);
  expectClean(page);
  await page.close();
});

test('a domain with links is deleted once it is said what becomes of them', async () => {
  for (const domain of ['old.brand.example', 'older.brand.example']) {
    await site.api('/domains', { domain });
    await force(domain);
  }
  const one = { ...SHOP, name: 'Branded', channel: 'other' };
  await site.api('/links', { ...one, slug: 'kept', domain: 'old.brand.example' });
  await site.api('/links', { ...one, slug: 'taken', domain: 'old.brand.example' });
  await site.api('/links', { ...one, slug: 'taken' });
  const page = await site.open('/domains');
  await card(page, 'old.brand.example').getByRole('link', { name: '2 links' }).waitFor();
  await expectGood(page, 'domains-several');
  await press(page, 'Delete old.brand.example');
  const dialog = page.getByRole('dialog', { name: 'Delete old.brand.example?' });
  await dialog.getByLabel('Move to go.brand.example').waitFor();
  await expectGood(page, 'domains-delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText(/"taken" are taken where the links would move to/).waitFor();
  await dialog.getByLabel('Delete the links too').check();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.waitFor({ state: 'detached' });
  await card(page, 'old.brand.example').waitFor({ state: 'detached' });
  expect((await records(site)).map(({ slug, domain }) => [slug, domain])).toEqual([
    ['taken', 'go.brand.example'],
  ]);
  await press(page, 'Delete older.brand.example');
  const question = page.getByRole('dialog', { name: 'Delete older.brand.example?' });
  await question.getByText('Its addresses stop redirecting at once').waitFor();
  expect(await question.getByRole('radio').count()).toBe(0);
  await question.getByRole('button', { name: 'Delete' }).click();
  await card(page, 'older.brand.example').waitFor({ state: 'detached' });
  await page.close();
});

test('the former default domain comes back by Undo, with the other fields of the form', async () => {
  await site.api('/domains', { domain: 'next.brand.example' });
  await force('next.brand.example');
  const page = await site.open('/domains', { keepsUndo: true });
  await press(page, 'Settings of next.brand.example');
  const settings = page.getByRole('dialog', { name: 'Settings of next.brand.example' });
  await settings.getByRole('checkbox', { name: 'Default domain' }).check();
  await settings.getByLabel('Root address').fill('brand.example/next');
  await settings.getByRole('button', { name: 'Save' }).click();
  await expectNotice(page, 'New links are made on next.brand.example by default');
  const now = async () =>
    (await domains())
      .map(({ domain, is_default, root_url }) => ({ domain, is_default, root_url }))
      .toSorted((one, other) => one.domain.localeCompare(other.domain));
  const others = { domain: 'go.brand.example', root_url: 'https://brand.example/home' };
  expect(await now()).toEqual([
    { ...others, is_default: false },
    { domain: 'next.brand.example', is_default: true, root_url: 'https://brand.example/next' },
  ]);
  await expectGood(page, 'domains-undo', 'each once');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expectNotice(page, 'Undone');
  await card(page, 'go.brand.example').getByText('Default', { exact: true }).waitFor();
  expect(await now()).toEqual([
    { ...others, is_default: true },
    { domain: 'next.brand.example', is_default: false, root_url: null },
  ]);
  expectClean(page);
  await page.close();
});

test('the table of links names their domains and filters by one', async () => {
  await site.api('/links', { ...SHOP, name: 'Ours', channel: 'other', slug: 'ours', domain: null });
  const page = await site.open('/domains');
  await card(page, 'go.brand.example').getByRole('link', { name: '1 link' }).click();
  await page.getByRole('heading', { level: 1, name: 'Links' }).waitFor();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'taken' }) });
  await row.getByText('go.brand.example/').waitFor();
  await page.getByText('1 link', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Domain', exact: true }).click();
  await page.getByRole('option', { name: /^127\.0\.0\.1/ }).click();
  await page.getByRole('link', { name: 'ours', exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?domain=none');
  await page.close();
});

test.each([
  ['http://203.0.113.7:8080', 'A', '203.0.113.7'],
  ['http://[2001:db8::7]:8080', 'AAAA', '2001:db8::7'],
  ['https://hop.example', 'CNAME', 'hop.example'],
])('where short links are at %s, an %s record leads visitors there', async (shortUrl, type, value) => {
  const domain = `${type.toLowerCase()}.records.example`;
  const { id } = await site.api<DomainRecord>('/domains', { domain });
  const opened = await site.open('/live');
  await opened.route('**/api/v1/session', async (route) => {
    const response = await route.fetch();
    const session = (await response.json()) as { urls: object };
    await route.fulfill({ response, json: { ...session, urls: { ...session.urls, short_url: shortUrl } } });
  });
  await opened.goto(`${site.app}/console/domains`);
  const record = card(opened, domain).getByRole('row', { name: new RegExp(`^${type} `) });
  await expect.poll(() => record.locator('code').allTextContents(), PATIENCE).toEqual([domain, value]);
  if (type === 'A') await expectGood(opened, 'domains-address');
  await opened.close();
  await site.api(`/domains/${id}`, undefined, 'DELETE');
});

test('an analyst sees domains without a way to change them, and the free plan has none', async () => {
  const page = await site.open('/domains', { role: 'analyst' });
  await card(page, 'go.brand.example').waitFor();
  expect(await page.getByRole('button', { name: /Add|Delete|Settings|Check/ }).count()).toBe(0);
  await expectGood(page, 'domains-analyst');
  await site.hoplog('workspace', 'set', '--workspace', workspace(), '--plan', 'free');
  await page.reload();
  await page.getByText('Domains require an active paid plan').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await expectGood(page, 'domains-free');
  await page.close();
});
