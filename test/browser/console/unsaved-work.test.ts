import { expect, test, vi } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean } from './console-site.ts';
import { field, LONG } from './link-desk.ts';

// Each test looks at several states, on a machine that may have other things to do.
vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

/** Stays on the page, in the dialog that appears before it is left. */
async function stay(page: ConsolePage): Promise<void> {
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Stay' }).click();
  await question.waitFor({ state: 'detached' });
}

test('leaving a new or changed link asks first', async () => {
  const page = await site.open('/links');
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await page.getByRole('link', { name: 'New link' }).click();
  await field(page, 'Name').fill('Typed for long');
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await stay(page);
  await page.evaluate('history.back()');
  await stay(page);
  await page.getByRole('button', { name: /^Sign out/ }).click();
  await stay(page);
  expect(await field(page, 'Name').inputValue()).toBe('Typed for long');
  // Reverted changes are nothing to lose.
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
  await stay(page);
  expect([page.url(), await field(page, 'Name').inputValue()]).toEqual([edit, 'Changed']);
  await page.getByRole('button', { name: /^Sign out/ }).click();
  await page.route('**/api/v1/session', (route) => route.fulfill({ status: 204 }));
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in', exact: true }).waitFor();
  expect(await field(page, 'Name').count()).toBe(0);
  expectClean(page);
  await page.close();
});

test('a field is guarded as soon as it is changed', async () => {
  const page = await site.open('/links/new');
  await field(page, 'Name').focus();
  // Within one task of the browser: effects that React delays have not run.
  const asks = await page.evaluate(`(async () => {
    const name = document.activeElement;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(name, 'Typed');
    name.dispatchEvent(new Event('input', { bubbles: true }));
    await null;
    return !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
  })()`);
  expect(asks).toBe(true);
  expectClean(page);
  await page.close();
});

test('leaving a new bio page asks first, and the page opens once it is created', async () => {
  const page = await site.open('/');
  await page.getByRole('link', { name: 'Bio pages', exact: true }).click();
  await page.getByRole('button', { name: 'New page' }).click();
  const form = page.getByRole('dialog', { name: 'New bio page' });
  await form.getByLabel('Title').fill('Half typed');
  await page.evaluate('history.back()');
  await stay(page);
  expect(await form.getByLabel('Title').inputValue()).toBe('Half typed');
  await form.getByLabel('Address').fill('half-typed');
  await form.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/\/bio-pages\/[0-9a-f-]{36}$/);
  expectClean(page);
  await page.close();
});

test('leaving a new or changed webhook asks first', async () => {
  const page = await site.open('/');
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('button', { name: 'New webhook' }).click();
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('Address').fill('https://shop.example/half');
  await page.evaluate('history.back()');
  await stay(page);
  expect(await form.getByLabel('Address').inputValue()).toBe('https://shop.example/half');
  await form.getByLabel('Address').fill('');
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });

  const body = { url: 'https://shop.example/hook', events: ['sale.created'] };
  const { id } = await site.api<{ id: string }>('/webhooks', body);
  const log = `${site.app}/console/webhooks/${id}`;
  await page.goto(log);
  // A step back that changes the query alone.
  await page.getByRole('combobox', { name: 'Event' }).click();
  await page.getByRole('option', { name: 'Sales', exact: true }).click();
  await page.waitForURL(`${log}?*`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit the webhook' });
  await edit.getByLabel('Description').fill('Half typed');
  await page.evaluate('history.back()');
  await stay(page);
  expect(await edit.getByLabel('Description').inputValue()).toBe('Half typed');
  expectClean(page);
  await page.close();
});
