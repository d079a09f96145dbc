import { expect, test, vi } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';
import { choose, field, LONG, openSection, PATIENCE, press, records, setDomain } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  await setDomain(site);
  return site.close;
});

test('an address without a scheme becomes a link by Enter alone, and then another one like it', async () => {
  const page = await site.open('/links/new');
  const destination = field(page, 'Destination URL').and(page.locator(':focus'));
  await destination.fill('<shop.example/autumn-sale>');
  await page.keyboard.press('Tab');
  await expect
    .poll(() => field(page, 'Destination URL').inputValue(), PATIENCE)
    .toBe('https://shop.example/autumn-sale');
  await field(page, 'Slug').fill('autumn-form');
  const preview = page.getByRole('complementary', { name: 'Preview' });
  await preview.getByRole('img', { name: /^QR code that leads to http:.*\/autumn-form$/ }).waitFor();
  await preview.getByText('https://shop.example/autumn-sale').waitFor();
  await expectGood(page, 'links-new-typed');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'autumn-form' }).waitFor();
  await page.getByText('The link is ready').waitFor();
  const copy = page.getByRole('button', { name: 'Copy the link' });
  await copy.and(page.locator(':focus')).waitFor();
  await expectGood(page, 'link-made');
  const [made] = await records(site, '&slug=autumn-form');
  expect(made).toMatchObject({
    name: 'Autumn sale',
    destination: 'https://shop.example/autumn-sale',
    smart: true,
  });
  await page.getByRole('link', { name: 'Make another like it' }).click();
  await expect.poll(() => field(page, 'Name').inputValue(), PATIENCE).toBe('Autumn sale');
  expect(await field(page, 'Slug').inputValue()).toBe('');
  await field(page, 'Slug').fill('autumn-form-2');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'autumn-form-2' }).waitFor();
  expectClean(page);
  await page.close();
});

test('all that is wrong is said at once, each at its field, and the address with an example', async () => {
  const page = await site.open('/links/new');
  for (const text of ['not a url', 'shop example/tea']) {
    await field(page, 'Destination URL').fill(text);
    await field(page, 'Slug').fill('api');
    await openSection(page, 'Start and expiry');
    await field(page, 'Destination after expiry').fill('nowhere');
    const preview = page.getByRole('complementary', { name: 'Preview' });
    expect(await preview.locator('dd').first().textContent()).toBe('…');
    await press(page, 'Create');
    const faultOf = (label: string) =>
      page
        .locator('.mantine-InputWrapper-root', { has: field(page, label) })
        .locator('[class*=error]')
        .last();
    await expect
      .poll(() => faultOf('Destination URL').textContent(), PATIENCE)
      .toBe('must be a full URL that begins with https://, such as https://shop.example/tea');
    expect(await faultOf('Slug').textContent()).toContain('reserved');
    expect(await faultOf('Destination after expiry').textContent()).toContain('must be a full URL');
    expect(await field(page, 'Name').getAttribute('aria-invalid')).toBeNull();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true');
  }
  await expectGood(page, 'links-new-faults');
  // What changed is not wrong until it is sent again.
  await field(page, 'Destination URL').fill('https://shop.example/tea');
  expect(await field(page, 'Destination URL').getAttribute('aria-invalid')).toBeNull();
  expect(await field(page, 'Slug').getAttribute('aria-invalid')).toBe('true');
  await page.close();
});

test('a press that adds a rule or a destination leads the focus into it', async () => {
  const page = await site.open('/links/new');
  const place = 'document.activeElement.closest("li")';
  await openSection(page, 'Rules');
  for (const nth of [1, 2]) {
    await press(page, 'Add a rule');
    await expect
      .poll(() => page.evaluate(`${place}?.getAttribute("aria-label")`), PATIENCE)
      .toBe(`Rule ${nth} of ${nth}`);
  }
  await openSection(page, 'Split test');
  const label = `${place}?.querySelector("label")?.textContent`;
  await press(page, 'Split the visitors');
  await expect.poll(() => page.evaluate(label), PATIENCE).toBe('Destination 2');
  await press(page, 'Add a destination');
  await expect.poll(() => page.evaluate(label), PATIENCE).toBe('Destination 3');
  expectClean(page);
  await page.close();
});

test('a newsletter link is offered the medium that analytics tools know mail by', async () => {
  const page = await site.open('/links/new');
  await field(page, 'Destination URL').fill('https://shop.example/letter');
  await field(page, 'Slug').fill('letter');
  const offer = page.getByRole('button', { name: 'Use “email”' });
  await page.getByRole('checkbox', { name: 'Instagram', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Newsletter', exact: true }).check();
  expect(await offer.count()).toBe(0);
  await page.getByRole('checkbox', { name: 'Instagram', exact: true }).uncheck();
  await offer.waitFor();
  await expectGood(page, 'links-new-newsletter');
  await offer.click();
  await page.getByText('utm_medium is “email”').waitFor();
  await press(page, 'Create');
  await page.getByRole('heading', { level: 1, name: 'letter' }).waitFor();
  expect(await records(site, '&slug=letter')).toMatchObject([
    { channel: 'newsletter', utm_source: 'newsletter', utm_medium: 'email' },
  ]);
  await page.close();
});

test('the domain and every switch of a link can be chosen, and changed', async () => {
  for (const domain of ['go.form.example', 'to.form.example']) {
    await site.api('/domains', { domain });
    await site.hoplog(
      'domain',
      'verify',
      '--force',
      '--workspace',
      site.service.demo?.workspace_id ?? '',
      domain,
    );
  }
  const page = await site.open('/links/new');
  await field(page, 'Destination URL').fill('https://shop.example/switched');
  await page.getByRole('combobox', { name: 'Domain' }).selectOption('go.form.example');
  await field(page, 'Slug').fill('switched');
  await page.getByText('go.form.example/switched', { exact: true }).waitFor();
  // A form is rendered at each key: fields of closed sections are not.
  expect(await page.locator('details:not([open]) :is(input, select, textarea)').count()).toBe(0);
  await openSection(page, 'Start and expiry');
  await page.getByLabel('Starts').fill('2024-05-06T07:08');
  await openSection(page, 'Campaign and UTM');
  await field(page, 'UTM source').fill('spring');
  await field(page, 'UTM content').fill('banner');
  await openSection(page, 'Redirect');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('308');
  for (const name of ['Pass the query on', 'Add UTM parameters', 'Add the visitor ID']) {
    await page.getByRole('checkbox', { name }).uncheck();
  }
  await page.getByRole('checkbox', { name: 'Pass the path on' }).check();
  await page.getByRole('checkbox', { name: 'Archived' }).check();
  await expectGood(page, 'links-new-switches');
  await press(page, 'Create');
  await page.getByText('https://go.form.example/switched').first().waitFor();
  const switched = {
    domain: 'go.form.example',
    starts_at: new Date('2024-05-06T07:08').toISOString(),
    utm_source: 'spring',
    utm_content: 'banner',
    redirect_status: 308,
    forward_query: false,
    forward_path: true,
    append_utm: false,
    append_visitor: false,
    archived: true,
  };
  expect(await records(site, '&slug=switched')).toMatchObject([switched]);

  await page.getByRole('link', { name: 'Edit' }).click();
  await page
    .getByText('308, without the query, path passed on, no UTM parameters, no visitor ID, archived')
    .waitFor();
  await page.getByRole('combobox', { name: 'Domain' }).selectOption('none');
  await openSection(page, 'Start and expiry');
  await page.getByLabel('Starts').fill('');
  await openSection(page, 'Redirect');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('302');
  await page.getByRole('checkbox', { name: 'Archived' }).uncheck();
  await page.getByRole('checkbox', { name: 'Pass the query on' }).check();
  await press(page, 'Save');
  await page.getByRole('heading', { level: 1, name: 'switched' }).waitFor();
  expect(await records(site, '&slug=switched')).toMatchObject([
    {
      ...switched,
      domain: null,
      starts_at: null,
      redirect_status: 302,
      archived: false,
      forward_query: true,
    },
  ]);
  expectClean(page);
  await page.close();
});

test('a slug that is typed before the domains are known keeps the focus', async () => {
  await site.api('/domains', { domain: 'late.form.example' });
  const workspace = site.service.demo?.workspace_id ?? '';
  await site.hoplog('domain', 'verify', '--force', '--workspace', workspace, 'late.form.example');
  const page = await site.open('/visitors');
  const known = Promise.withResolvers<void>();
  await page.route('**/api/v1/domains?*', async (route) => {
    await known.promise;
    await route.continue();
  });
  await page.goto(`${site.app}/console/links/new`);
  await field(page, 'Destination URL').and(page.locator(':focus')).waitFor();
  await field(page, 'Slug').focus();
  await page.keyboard.type('late');
  known.resolve();
  await page.getByRole('combobox', { name: 'Domain' }).waitFor();
  await page.keyboard.type('-domains');
  expect(await field(page, 'Slug').inputValue()).toBe('late-domains');
  await page.close();
});

test('an address that is pasted on any page begins a link; one in a field stays there', async () => {
  const page = await site.open('/visitors');
  const search = page.getByRole('searchbox').or(page.getByRole('textbox')).first();
  await search.waitFor();
  const paste = (selector: string, at = page) =>
    at.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', '“shop.example/pasted” ');
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.querySelector('${selector}').dispatchEvent(event);
    })()`);
  await paste('main input');
  expect(page.url()).toContain('/visitors');
  await paste('main');
  await page.getByRole('heading', { level: 1, name: 'New link' }).waitFor();
  await expect
    .poll(() => field(page, 'Destination URL').inputValue(), PATIENCE)
    .toBe('https://shop.example/pasted');
  const analyst = await site.open('/visitors', { role: 'analyst' });
  await analyst.getByRole('heading', { level: 1, name: 'Visitors' }).waitFor();
  await paste('main', analyst);
  expect(analyst.url()).toContain('/visitors');
  await analyst.close();
  // A whole address replaces that in the field, cleaned; a piece of text is left to the browser.
  await field(page, 'Destination URL').fill('');
  await paste('main form input');
  await expect
    .poll(() => field(page, 'Destination URL').inputValue(), PATIENCE)
    .toBe('https://shop.example/pasted');
  await page.close();
});

test('UTM parameters are saved as a template, and fill another link in', async () => {
  const page = await site.open('/links/new', { keepsUndo: true });
  await openSection(page, 'Campaign and UTM');
  await field(page, 'UTM source').fill('newsletter');
  await field(page, 'UTM medium').fill('email');
  await press(page, 'Templates');
  const dialog = page.getByRole('dialog', { name: 'UTM templates' });
  await dialog.getByText('No templates yet').waitFor();
  await dialog.getByRole('textbox', { name: 'Name of a new template' }).fill('Letter');
  await page.keyboard.press('Enter');
  const row = dialog.getByRole('listitem').filter({ hasText: 'Letter' });
  await row.getByText('source newsletter, medium email').waitFor();
  await expectGood(page, 'utm-templates');
  await row.getByRole('button', { name: 'Delete the template Letter' }).click();
  await dialog.getByText('No templates yet').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await row.waitFor();
  await page.close();

  const other = await site.open('/links/new');
  await field(other, 'Destination URL').fill('https://shop.example/from-template');
  await openSection(other, 'Campaign and UTM');
  await field(other, 'UTM medium').fill('print');
  await field(other, 'UTM term').fill('tea');
  await choose(other, 'UTM template', 'Letter');
  const shown = () =>
    Promise.all(['UTM source', 'UTM medium', 'UTM term'].map((name) => field(other, name).inputValue()));
  // What the template does not set stays.
  await expect.poll(shown, PATIENCE).toEqual(['newsletter', 'email', 'tea']);
  await expectGood(other, 'links-new-template');
  await field(other, 'Slug').fill('from-template');
  await press(other, 'Create');
  await other.getByRole('heading', { level: 1, name: 'from-template' }).waitFor();
  const [made] = await records(site, '&slug=from-template');
  expect(made).toMatchObject({ utm_source: 'newsletter', utm_medium: 'email', utm_term: 'tea' });
  await other.close();
});
