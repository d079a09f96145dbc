import { expect, test } from 'vitest';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';

const PATIENCE = { timeout: 60_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

test('the shell shows the workspace and leads to every page of the navigation', async () => {
  const page = await site.open('/no-such-page');
  await page.getByText('Page not found').waitFor();
  expect(await page.getByText('demo', { exact: true }).isVisible()).toBe(true);
  const pages = page.getByRole('navigation');
  for (const [group, names] of Object.entries({
    Measure: ['Overview', 'Live', 'Visitors', 'Reports'],
    Links: ['Links', 'Domains', 'Bio pages'],
    Programs: ['Referrals'],
    Connect: ['Connections', 'Webhooks'],
    Settings: ['Settings', 'Developers'],
  })) {
    const entries = pages.getByRole('list', { name: group, exact: true }).getByRole('link');
    expect(await entries.allTextContents()).toEqual(names);
  }
  // At its foot: who is signed in.
  await page.getByText(`owner@${site.mail}`).waitFor();
  await page.getByText('Owner of demo').waitFor();
  await page.getByRole('link', { name: 'Documentation' }).waitFor();
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg\+xml,/);
  await expectGood(page, 'shell', 'all');
  for (const name of [
    'Overview',
    'Live',
    'Links',
    'Visitors',
    'Reports',
    'Webhooks',
    'Settings',
    'Developers',
  ]) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    const entry = page.getByRole('link', { name, exact: true });
    await expect.poll(() => entry.getAttribute('aria-current'), PATIENCE).toBe('page');
    // "?" leads to the part of the guide that is about the page.
    const address = await page.getByRole('link', { name: 'The guide to this page' }).getAttribute('href');
    const [guide = '', anchor] = (address ?? '').split('#');
    const response = await fetch(guide);
    expect([name, response.status]).toEqual([name, 200]);
    if (anchor) expect(await response.text()).toContain(`id="${anchor}"`);
  }
  await page.close();
});

test('the tab key reaches the page right after the skip link, then header and navigation', async () => {
  const page = await site.open('/webhooks');
  const action = page.getByRole('main').getByRole('button', { name: 'New webhook' });
  await action.first().waitFor();
  const focused = () =>
    page.evaluate(`(() => {
      const one = document.activeElement;
      return one.classList.contains('skip-link') ? 'skip' : (one.closest('main, header, nav')?.localName ?? '');
    })()`);
  await page.evaluate('document.activeElement.blur()');
  const places: unknown[] = [];
  // The page's controls are few: no list yet.
  for (let nth = 0; nth < 12; nth++) {
    await page.keyboard.press('Tab');
    places.push(await focused());
  }
  expect([...new Set(places)]).toEqual(['skip', 'main', 'header', 'nav']);
  await page.close();
});

test('a page begins at its top, and by keyboard with its content; the back button keeps the scroll position', async () => {
  const rows = Array.from({ length: 25 }, (_, n) => ({
    destination_url: 'https://shop.example/',
    name: `Row ${n}`,
    channel: 'other',
  }));
  await site.api('/links/bulk', { links: rows });
  const page = await site.open('/settings');
  // So small that every page scrolls.
  await page.setViewportSize({ width: 1_280, height: 200 });
  const open = async (name: string) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).press('Enter');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const place = () => page.evaluate('scrollY');
  await page.getByText('Own site', { exact: true }).waitFor();
  await open('Links');
  await page.getByText('25 links').waitFor();
  await page.evaluate('scrollTo(0, 600)');
  await open('Settings');
  // The page is drawn from a cached response, so its height does not change.
  expect(await page.getByText('Own site', { exact: true }).count()).toBe(1);
  expect(await place()).toBe(0);
  await page.goBack();
  await expect.poll(place, PATIENCE).toBe(600);
  await page.getByRole('link', { name: 'New link' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'New link' }).waitFor();
  const isInContent = 'document.activeElement.closest("#main") !== null';
  await expect.poll(() => page.evaluate(isInContent), PATIENCE).toBe(true);
  await page.close();
});

/** Sum of the layout shifts of a page (CLS); Web Vitals call 0.1 good. */
const MOST_SHIFT = 0.02;

/** Runs in the page: the tops of its headings, tabs and headings of tables, by their text. Pixels. */
const TOPS = `Object.fromEntries(
  [...document.querySelectorAll('#main :is(h1, h2, [role=tab], th, .totals-name)')].map((one) => [
    one.tagName + ' ' + one.textContent.trim(), Math.round(one.getBoundingClientRect().top),
  ]),
)`;

/** Script of a page: records what moves without a press. */
const RECORD_SHIFTS = `{
  const seen = globalThis.shiftsSeen = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources, value } of list.getEntries()) {
      const moved = sources.map(({ node }) => (node?.outerHTML ?? node?.data ?? '').slice(0, 100));
      if (!hadRecentInput) seen.push({ value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });
}`;

/** Runs in the page: waits until what is drawn now was measured. */
const NEXT_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

test('nothing moves when the data of a page comes', async () => {
  const { links } = await site.api<{ links: { id: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Still',
    channel: 'other',
  });
  await site.api('/connections', { provider: 'stripe' });
  await site.api('/domains', { domain: 'still.brand.example' });
  await site.api('/programs', { name: 'Still', destination_url: 'https://shop.example/' });
  await site.api('/referrals/enroll', { external_user_id: 'still', email: 's@mail.example', tier: 'free' });
  const page = await site.open('/settings');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.addInitScript(RECORD_SHIFTS);
  let held: (() => void)[] | null = [];
  await page.route(/\/api\/v1\/(?!session|problems)/, async (route) => {
    if (held) await new Promise<void>((go) => held?.push(go));
    await route.continue().catch(() => undefined); // the page may have been left
  });
  const loading = page.getByRole('status', { name: 'Loading' });
  for (const [path, first] of [
    ['/', 'H1 Overview'],
    ['/links', 'TH Channel'],
    [`/links/${links[0]?.id}`, 'H1 Link'],
    ['/connections', 'TH Provider'],
    ['/domains', 'H1 Domains'],
    ['/referrals', 'H1 Referrals'],
    ['/referrals?tab=enrollments', 'TH Referrer'],
    ['/settings', 'H2 Figures and tracking'],
    ['/settings?tab=members', 'TH Email'],
  ] as const) {
    held = [];
    await page.goto(`${site.app}/console${path === '/' ? '' : path}`);
    await loading.first().waitFor({ state: 'attached' });
    await expect.poll(() => page.evaluate(TOPS), PATIENCE).toHaveProperty([first]);
    const before = (await page.evaluate(TOPS)) as Record<string, number>;
    for (const go of held) go();
    held = null;
    await expect.poll(() => loading.count(), PATIENCE).toBe(0);
    const moved = async () => {
      const after = (await page.evaluate(TOPS)) as Record<string, number>;
      // Less than three pixels do not count, as in layout shifts.
      return Object.entries(before).filter(([name, top]) => Math.abs((after[name] ?? top) - top) >= 3);
    };
    await expect.poll(moved, { ...PATIENCE, message: path }).toEqual([]);
    await page.evaluate(NEXT_FRAMES);
    const shifts = await page.evaluate<{ value: number }[]>('shiftsSeen');
    const total = shifts.reduce((sum, { value }) => sum + value, 0);
    expect(total, `${path}: ${JSON.stringify(shifts)}`).toBeLessThan(MOST_SHIFT);
  }
  await page.close();
});

test('a dialog returns the focus to the button that opened it', async () => {
  for (const [path, name] of [
    ['/settings/developers', 'New key'],
    ['/webhooks', 'New webhook'],
    ['/referrals', 'New program'],
  ] as const) {
    const page = await site.open(path);
    const button = page.getByRole('button', { name, exact: true });
    await button.press('Enter');
    await page
      .getByRole('dialog', { name })
      .getByLabel(name === 'New webhook' ? 'Address' : 'Name')
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => button.and(page.locator(':focus')).count(), PATIENCE).toBe(1);
    await page.close();
  }
});

test('Ctrl K finds pages, links, people, and actions, and an address there begins a link', async () => {
  await site.api('/links', {
    destination_url: 'https://shop.example/',
    name: 'Found',
    channel: 'other',
    slug: 'black-friday',
  });
  const { short_url } = site.service;
  const visited = await visitNew(`${short_url}/black-friday`);
  const visitor_id = visited.location?.searchParams.get('_vid') ?? '';
  await site.api('/track/identify', { visitor_id, email: 'friday@mail.example' });
  const found = () => site.api<{ visitors: object[] }>('/visitors?search=friday%40');
  await expect.poll(async () => (await found()).visitors.length, PATIENCE).toBe(1);

  const page = await site.open('/');
  const palette = page.getByRole('dialog', { name: 'Search' });
  const field = palette.getByRole('textbox', { name: 'Pages, links, people, actions' });
  const option = (name: string) => palette.getByRole('button', { name });
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  await option('Invite a colleague').waitFor();
  await expectGood(page, 'palette');
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  const focused = 'document.activeElement.getAttribute("aria-label")';
  await expect.poll(() => page.evaluate(focused), PATIENCE).toBe('Search');

  // Pressed again before the closed palette has left the page.
  await page.keyboard.press('Control+k');
  await field.waitFor();
  const press = (init: object) =>
    `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...${JSON.stringify(init)} }))`;
  const ctrlK = press({ key: 'k', code: 'KeyK', ctrlKey: true });
  await page.evaluate(`${press({ key: 'Escape', code: 'Escape' })}; ${ctrlK}`);
  await field.fill('friday');
  await option('black-friday').waitFor();
  await option('friday@mail.example').waitFor();
  await expectGood(page, 'palette-found');
  await option('friday@mail.example').click();
  await page.getByRole('heading', { level: 1, name: 'friday@mail.example' }).waitFor();
  await palette.waitFor({ state: 'detached' });

  await page.keyboard.press('Control+k');
  await field.fill('webho');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await palette.waitFor({ state: 'detached' });

  for (const [words, entry] of [
    ['payout', 'Pay referrers'],
    ['csv', 'Export links and clicks'],
    ['pixel', 'Install the pixel'],
    ['help', 'API reference'],
    ['docs', 'Errors of the API'],
    ['2fa', 'Your password, passkeys, and sessions'],
    ['utm', 'Create a link'],
    ['webhook secret', 'Add a webhook'],
    ['language', 'Language'],
    ['sign out', 'Sign out'],
  ] as const) {
    await page.getByRole('button', { name: 'Search' }).press('Enter');
    await field.fill(words);
    await option(entry).waitFor();
    if (words === 'payout') await expectGood(page, 'palette-payout');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(focused), PATIENCE).toBe('Search');
  }
  await page.keyboard.press('Control+k');
  await field.fill('theme');
  await option('Use the dark theme').click();
  await page.waitForSelector('html[data-mantine-color-scheme="dark"]');
  await palette.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate(focused), PATIENCE).toBe('Search');

  await page.keyboard.press('Control+k');
  await field.fill('shop.example/winter-sale');
  await option('Shorten https://shop.example/winter-sale').click();
  await page.getByRole('heading', { level: 1, name: 'New link' }).waitFor();
  expect(await page.getByLabel('Destination URL').inputValue()).toBe('https://shop.example/winter-sale');
  // In a field too.
  await page.getByLabel('Destination URL').press('Control+k');
  await palette.waitFor();
  await page.close();
});

test('the key c creates a link on any page, with its tags, and leaves the page', async () => {
  const page = await site.open('/webhooks');
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await page.getByRole('button', { name: 'Create a link' }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New link' });
  const destination = dialog.getByRole('textbox', { name: 'Destination URL' });
  await destination.and(page.locator(':focus')).waitFor();
  await destination.fill('not an address');
  await page.keyboard.press('Enter');
  await destination.and(page.locator('[aria-invalid=true]')).waitFor();
  await expectGood(page, 'create-link');
  await destination.fill('shop.example/quick');
  await dialog.getByRole('textbox', { name: 'Slug' }).fill('quick-c');
  // A c in a field is a letter.
  await dialog.getByRole('textbox', { name: 'Slug' }).press('c');
  await dialog.getByRole('combobox', { name: 'Tags' }).fill('quick');
  await dialog.getByRole('combobox', { name: 'Tags' }).press('Enter');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const ready = page.getByRole('dialog', { name: 'The link is ready' });
  await ready.getByRole('button', { name: 'Copy the short URL of quick-cc' }).waitFor();
  await expectGood(page, 'create-link-made');
  await ready.getByRole('button', { name: 'Done' }).press('Enter');
  await ready.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/console/webhooks');
  const { links } = await site.api<{ links: object[] }>('/links?view=records&slug=quick-cc');
  expect(links).toMatchObject([{ destination: 'https://shop.example/quick', tags: ['quick'] }]);
  const analyst = await site.open('/webhooks', { role: 'analyst' });
  await analyst.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await analyst.keyboard.press('c');
  expect(await analyst.getByRole('button', { name: 'Create a link' }).count()).toBe(0);
  expect(await analyst.getByRole('dialog').count()).toBe(0);
  await Promise.all([page.close(), analyst.close()]);
});

test('the navigation opens on a phone, and closes when a page is chosen', async () => {
  const page = await site.open('/no-such-page', { width: 360 });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.getByRole('button', { name: 'Open the navigation' }).waitFor();
  await page.close();
});

test('an address with invalid characters opens its page, which says so', async () => {
  const page = await site.open('/links?tag=%00');
  await page.getByText('Tag must not contain the NUL character.').waitFor(PATIENCE);
  await page.getByRole('navigation').getByRole('link', { name: 'Visitors' }).waitFor();
  await page.close();
});

test('every page says that the service loses clicks, and leads to what to do', async () => {
  const page = await site.open('/settings');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.getByText('Losing clicks').count()).toBe(0);
  const lost = { kind: 'clicks_lost', since: null, id: null, name: null, count: null, reason: null };
  await page.route('**/api/v1/problems', (route) => route.fulfill({ json: { problems: [lost] } }));
  await page.reload();
  await page.getByRole('status').getByText('Losing clicks').waitFor();
  await expectGood(page, 'shell-losing');
  await page.getByRole('link', { name: 'Losing clicks' }).press('Enter');
  await page.getByText('"npx hoplog status" says why').waitFor();
  await page.close();
});
