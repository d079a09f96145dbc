import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { qrModules } from '../../../core/qr/code.ts';
import { logoUrl } from '../../../core/qr/logo.ts';
import { qrSvg } from '../../../core/qr/svg.ts';
import { pixelOf, plainPng, scannedText } from '../../support/scanned-images.ts';
import { visit, visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNoSidewaysScroll,
} from './console-site.ts';
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

async function makeLink(fields: object): Promise<LinkRecord> {
  const { links } = await site.api<CreatedLinks>('/links', { ...SHOP, channel: 'other', ...fields });
  const [link] = links;
  if (!link) throw new Error('no link was created');
  return link;
}

const recordOf = async ({ id }: LinkRecord) => (await records(site, `&ids=${id}`))[0];

/** Runs in the page: the outlines of what has the focus, and of the box around it. */
const RING_OF_FIELD = `[document.activeElement, document.activeElement.closest('.mantine-Input-input')].map((one) => {
  const { outlineColor, outlineStyle, outlineWidth } = getComputedStyle(one);
  return outlineStyle === 'none' ? 'none' : [outlineColor, outlineStyle, outlineWidth].join(' ');
})`;

/** Chooses a value of a condition from its list. */
async function chooseValue(page: ConsolePage, condition: string, text: string, option: string) {
  const values = page.getByRole('combobox', { name: `${condition}: values` });
  await values.fill(text);
  const options = page.getByRole('listbox', { name: `${condition}: values` });
  await options.getByRole('option', { name: option, exact: true }).click();
}

/** Expects that a page is whole in the widths between a phone's and a desktop's, where its columns fold. */
async function expectWholeBetween(page: ConsolePage): Promise<void> {
  for (const width of [800, 900]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoSidewaysScroll(page);
  }
  await page.setViewportSize({ width: 1_280, height: 900 });
}

/** Expects that the focus is in a list, where a press has added something. */
async function expectFocusIn(page: ConsolePage, list: string): Promise<void> {
  const focused = page.getByRole('list', { name: list }).getByRole('listitem').locator(':focus');
  await expect.poll(() => focused.count(), PATIENCE).toBe(1);
}

test('rules are built in words, refused at their fields, tried before they are saved, and saved', async () => {
  const link = await makeLink({ name: 'Rules', slug: 'ruled' });
  const page = await site.open(`/links/${link.id}/edit`, { role: 'operator' });
  await openSection(page, 'Rules');
  await press(page, 'Add a rule');
  await expectFocusIn(page, 'Rules');
  const first = 'Condition 1 of rule 1';
  await chooseValue(page, first, 'Austr', 'Austria');
  // By keyboard: Enter takes the first match, and does not submit the form.
  const countries = page.getByRole('combobox', { name: `${first}: values` });
  await countries.fill('Switz');
  await countries.press('Enter');
  await page.getByText('Switzerland', { exact: true }).first().waitFor();
  // The ring of a field of several values is around all of it, as around any other field.
  expect(await page.evaluate(RING_OF_FIELD)).toEqual(['none', 'rgb(21, 115, 67) solid 2px']);
  await press(page, 'Add a condition');
  await page.getByRole('combobox', { name: 'Condition 2 of rule 1: type' }).selectOption('language');
  await field(page, 'Destination of rule 1').fill('http://shop.example/alpen');
  await press(page, 'Save');
  // The API names the first field at fault.
  await page.getByText('must have at least one value', { exact: true }).waitFor();
  await expectGood(page, 'link-rules-refused');
  const language = page.getByRole('combobox', { name: 'Condition 2 of rule 1: values' });
  await language.fill('de');
  await language.press('Enter');
  await press(page, 'Save');
  await page.getByText('must begin with https://').waitFor();
  await expect
    .poll(() => field(page, 'Destination of rule 1').getAttribute('aria-invalid'), PATIENCE)
    .toBe('true');
  await field(page, 'Destination of rule 1').fill('https://shop.example/alpen');
  await page
    .getByRole('button', { name: /Country is Austria or Switzerland, and language is German/ })
    .waitFor();

  const result = page.getByRole('status', { name: 'Result' });
  const trial = page.getByRole('region', { name: 'Try it' });
  await result.getByText("Nothing else decides: the link's own destination").waitFor();
  await trial.getByLabel('Country').selectOption('AT');
  await trial.getByRole('combobox', { name: 'Language' }).fill('de-AT');
  await result
    .getByText('Rule 1 decides: Country is Austria or Switzerland, and language is German')
    .waitFor();
  await result.getByText('https://shop.example/alpen').waitFor();
  await trial.getByRole('combobox', { name: 'Language' }).fill('en');
  await result.getByText("Nothing else decides: the link's own destination").waitFor();
  await openSection(page, 'Devices and apps');
  await field(page, 'iPhones and iPads').fill('myapp://product/17');
  await result.getByText('No rule holds. The destination for iPhones and iPads decides').waitFor();
  await expectGood(page, 'link-rules');
  await expectWholeBetween(page);
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'ruled' }).waitFor();
  expect(await recordOf(link)).toMatchObject({
    rules: [
      {
        conditions: [
          { type: 'country', operator: 'is', values: ['AT', 'CH'] },
          { type: 'language', operator: 'is', values: ['de'] },
        ],
        destination_url: 'https://shop.example/alpen',
      },
    ],
    targeting: { ios: 'myapp://product/17' },
  });
  expectClean(page);
  await page.close();
});

test('every type of condition has fields, and comes back from the record as it was', async () => {
  const condition = (type: string, ...values: string[]) => ({ type, operator: 'is_not', values });
  const rules = [
    {
      id: 'all',
      name: 'Everything',
      conditions: [
        condition('country', 'DE'),
        condition('continent', 'EU'),
        condition('region', 'DE-BE'),
        condition('language', 'de-AT'),
        condition('device', 'tablet'),
        condition('os', 'linux'),
        condition('browser', 'Firefox'),
        condition('channel', 'facebook'),
        condition('visitor', 'new'),
        { type: 'query', name: 'plan', operator: 'contains', values: ['pro'] },
        { type: 'query', name: 'coupon', operator: 'exists' },
        { type: 'time', after: '2027-01-01T10:00:00Z' },
        { type: 'weekly', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00', time_zone: 'Europe/Berlin' },
      ],
      destination_url: 'https://shop.example/all',
    },
  ];
  const link = await makeLink({ name: 'All', slug: 'all-types', rules });
  const before = (await recordOf(link))?.rules;
  const page = await site.open(`/links/${link.id}/edit`, { role: 'operator' });
  await openSection(page, 'Rules');
  await page.getByRole('button', { name: /^1\. Everything/ }).click();
  await expectGood(page, 'link-rule-types');
  await field(page, 'Name of rule 1').fill('All of them');
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'all-types' }).waitFor();
  const after = (await recordOf(link))?.rules;
  expect(after).toEqual(before?.map((rule) => ({ ...rule, name: 'All of them' })));
  expectClean(page);
  await page.close();
});

test('rules are ordered with the pointer, by keyboard, and by buttons', async () => {
  const rules = ['de', 'fr', 'it'].map((language) => ({
    id: language,
    conditions: [{ type: 'language', operator: 'is', values: [language] }],
    destination_url: `https://shop.example/${language}`,
  }));
  const link = await makeLink({ name: 'Order', slug: 'ordered', rules });
  const page = await site.open(`/links/${link.id}/edit`, { role: 'operator' });
  await openSection(page, 'Rules');
  const words = page.getByRole('list', { name: 'Rules' }).locator('.rule-words');
  const expectOrder = (...names: string[]) =>
    expect
      .poll(async () => (await words.allTextContents()).map((text) => /is (\w+)/.exec(text)?.[1]), PATIENCE)
      .toEqual(names);
  const handle = (rule: number) =>
    page.getByRole('button', { name: `Move rule ${rule}: drag, or press the arrow keys` });
  await expectOrder('German', 'French', 'Italian');

  await handle(1).focus();
  await page.keyboard.press('ArrowDown');
  await expectOrder('French', 'German', 'Italian');
  await page.getByText('Rule 1 is now rule 2 of 3').waitFor();
  await expect.poll(() => handle(2).and(page.locator(':focus')).count(), PATIENCE).toBe(1);
  await page.keyboard.press('ArrowDown');
  await expectOrder('French', 'Italian', 'German');

  // All three are in the window, above its bar of actions.
  await page.setViewportSize({ width: 1_280, height: 2_400 });
  const from = await handle(3).boundingBox();
  const to = await handle(1).boundingBox();
  if (!from || !to) throw new Error('the handles are not on the page');
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + from.width / 2, (from.y + to.y) / 2, { steps: 5 });
  await page.mouse.move(from.x + from.width / 2, to.y, { steps: 5 });
  await page.mouse.up();
  await expectOrder('German', 'French', 'Italian');

  await press(page, 'Move rule 3 up');
  await expectOrder('German', 'Italian', 'French');
  await press(page, 'Remove rule 2');
  await expectOrder('German', 'French');
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'ordered' }).waitFor();
  expect((await recordOf(link))?.rules?.map(({ id }) => id)).toEqual(['de', 'fr']);
  expectClean(page);
  await page.close();
});

test('a split shows its shares, is refused at its fields, and its results have intervals and a winner', async () => {
  const link = await makeLink({ name: 'Split', slug: 'split' });
  const page = await site.open(`/links/${link.id}/edit`, { role: 'operator' });
  await openSection(page, 'Split test');
  await press(page, 'Split the visitors');
  await expectFocusIn(page, 'Variants');
  const sum = page.getByRole('status', { name: 'Sum of the weights' });
  await expect.poll(() => sum.textContent(), PATIENCE).toBe('The weights sum to 100');
  await field(page, 'Weight of destination 1').fill('150');
  await expect.poll(() => sum.textContent(), PATIENCE).toBe('The weights sum to 200');
  await page.getByRole('list', { name: 'Variants' }).getByText('75%').waitFor();
  await field(page, 'Destination 2').fill('https://shop.example/b');
  await press(page, 'Save');
  await expect
    .poll(() => field(page, 'Weight of destination 1').getAttribute('aria-invalid'), PATIENCE)
    .toBe('true');
  await field(page, 'Weight of destination 1').fill('75');
  await field(page, 'Weight of destination 2').fill('25');
  await page.getByLabel('Ends', { exact: true }).fill('2090-05-06T07:08');
  await press(page, 'Save');
  await page.getByText('is required with `split_ends_at`').waitFor();
  await page.getByLabel('Goal').selectOption('conversions');
  await expectGood(page, 'link-split');
  await expectWholeBetween(page);
  await openSection(page, 'Rules');
  const result = page.getByRole('status', { name: 'Result' });
  await result.getByText('No rule and no device decides: the split does').waitFor();
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'split', exact: true }).waitFor();
  const saved = await recordOf(link);
  expect(saved).toMatchObject({
    split: [
      { destination_url: 'https://shop.example/', weight: 75 },
      { destination_url: 'https://shop.example/b', weight: 25 },
    ],
    split_goal: 'conversions',
  });

  for (let nth = 0; nth < 12; nth++) await visitNew(link.short_url);
  const clicks = async () =>
    (await site.api<{ links: { clicks: number }[] }>(`/links?ids=${link.id}`)).links[0]?.clicks;
  await expect.poll(clicks, PATIENCE).toBe(12);
  await page.reload();
  const results = page.getByRole('region', { name: 'Results of split test' });
  // No conversion in n clicks: the interval ends at z²/(n + z²).
  await expect.poll(() => results.textContent(), PATIENCE).toMatch(/0% – \d+(\.\d)?%/);

  // Its end is over: workers decide, and ingest sends everyone there. With few clicks the first variant wins.
  await site.api(`/links/${link.id}`, { split_ends_at: '2020-01-01T00:00:00Z' }, 'PATCH');
  const winner = async () => (await recordOf(link))?.split_winner;
  await expect.poll(winner, PATIENCE).toBe(saved?.split?.[0]?.id);
  const destinations = () =>
    Promise.all(Array.from({ length: 8 }, async () => (await visit(link.short_url)).location?.pathname));
  await expect.poll(async () => [...new Set(await destinations())], PATIENCE).toEqual(['/']);
  await page.reload();
  await results.getByText('Winner').waitFor();
  await expectGood(page, 'link-split-results');
  expectClean(page);
  await page.close();
});

test('the card of a link is typed, drawn, and saved', async () => {
  const link = await makeLink({ name: 'Card', slug: 'carded' });
  const image = plainPng(1_200, 627, [230, 110, 0, 255]);
  const page = await site.open(`/links/${link.id}/edit`, { role: 'operator' });
  await openSection(page, 'Social preview');
  await field(page, 'Card title').fill('Autumn sale');
  await field(page, 'Card description').fill('20% off everything\nuntil Sunday.');
  await field(page, 'Card image').fill('http://shop.example/card.png');
  await press(page, 'Save');
  await expect.poll(() => field(page, 'Card image').getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await expectGood(page, 'link-card-refused');
  await page.route('https://shop.example/card.png', (route) =>
    route.fulfill({ body: image, contentType: 'image/png' }),
  );
  await field(page, 'Card image').fill('https://shop.example/card.png');
  await field(page, 'Card image').press('Tab');
  await page.getByRole('figure', { name: 'The card' }).getByText('1200 × 627').waitFor();
  await page
    .getByRole('figure', { name: 'The card' })
    .getByText('20% off everything until Sunday.')
    .waitFor();
  // Its size was read.
  expect(page.watched.foreign.splice(0)).toEqual(['https://shop.example/card.png']);
  await expectGood(page, 'link-card');
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'carded' }).waitFor();
  const card = {
    title: 'Autumn sale',
    description: '20% off everything until Sunday.',
    image_url: 'https://shop.example/card.png',
    image_width: 1_200,
    image_height: 627,
  };
  expect((await recordOf(link))?.preview).toEqual(card);
  expectClean(page);
  await page.close();
});

test('a logo is set in the settings, and QR codes are scanned from the page of a link, with a logo too', async () => {
  const link = await makeLink({ name: 'Scanned', slug: 'scanned' });
  const page = await site.open('/settings', { role: 'owner' });
  const logo = page.getByRole('region', { name: 'Logo' });
  await logo.getByText('No logo yet').waitFor();
  const chosen = page.waitForEvent('filechooser');
  await press(page, 'Upload a logo');
  const file = join(site.dataDir, 'not-a-logo.png');
  writeFileSync(file, 'GIF89a');
  await (await chosen).setFiles(file);
  await logo.getByRole('alert').getByText('must be a PNG').waitFor();
  const again = page.waitForEvent('filechooser');
  await press(page, 'Upload a logo');
  writeFileSync(file, plainPng(200, 200, [200, 0, 0, 255]));
  await (await again).setFiles(file);
  await page.getByRole('img', { name: 'The logo of the workspace' }).waitFor();
  await expectGood(page, 'settings-logo');

  await page.goto(`${site.app}/console/links/${link.id}`);
  const code = page.getByRole('img', { name: `QR code that leads to ${link.short_url}` });
  await code.waitFor();
  const address = `${link.short_url}?qr=1`;
  await expect.poll(async () => scannedText(await code.screenshot()), PATIENCE).toBe(address);
  await expectWholeBetween(page);
  // The code stays within its card on a tablet too.
  await page.setViewportSize({ width: 800, height: 900 });
  const card = await page.getByRole('region', { name: 'QR code' }).boundingBox();
  const shown = await code.boundingBox();
  if (!card || !shown) throw new Error('the code or its card is not drawn');
  expect(shown.x).toBeGreaterThan(card.x);
  expect(shown.x + shown.width).toBeLessThan(card.x + card.width);
  await page.setViewportSize({ width: 1_280, height: 900 });
  expectClean(page);

  // As `GET /links/:id/qr` draws it.
  const look = { size: 400, margin: 4, color: [0, 51, 102], background: [255, 238, 204] } as const;
  const svg = qrSvg(qrModules(address, 'H'), look, 'code', logoUrl(plainPng(200, 100, [200, 0, 0, 255])));
  await page.goto('about:blank');
  await page.setContent(svg);
  expect(scannedText(await page.locator('svg').screenshot())).toBe(address);
  // As tools of SVG 1.1 read it (Inkscape, Illustrator, TCPDF): they know the reference in XLink's namespace alone.
  const former = Buffer.from(svg.replace(/ href="[^"]*"/, '')).toString('base64');
  await page.goto(`data:image/svg+xml;base64,${former}`);
  expect(pixelOf(await page.screenshot(), 200, 200)).toEqual([200, 0, 0]);
  await page.close();
});
