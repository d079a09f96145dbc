import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { isGenuine, type Receiver, startReceiver } from '../../support/receiver.ts';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood, expectNotice } from './console-site.ts';

let site: ConsoleSite;
let receiver: Receiver;

inChromium(async () => {
  receiver = await startReceiver();
  site = await consoleSite();
  return async () => {
    await site.close();
    await receiver.close();
  };
});

const LONG = { timeout: 400_000 };

type Hook = { id: string; secret: string; url: string };
type Shown = { id: string; url: string; events: string[]; description: string | null; is_active: boolean };

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const textShown = (page: Page, text: string) => page.getByText(text).first().waitFor();
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();
const field = (page: Page, name: string) => page.getByRole('textbox', { name });
const drawer = (page: Page) => page.getByRole('dialog', { name: /^Delivery/ });
const rows = (page: Page, label: string) => page.getByRole('region', { name: label }).locator('tbody tr');

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

let hooks = 0;
/** Creates a webhook with a URL of its own: a workspace has one for each URL and events. */
const create = (body: object = {}) =>
  site.api<Hook>('/webhooks', { url: `${receiver.url}?${++hooks}`, events: ['click.created'], ...body });

/** Creates test events and waits until each delivery has ended. */
async function deliver(hook: Hook, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) await site.api(`/webhooks/${hook.id}/test`, {});
  const pending = () =>
    site.api<{ deliveries: object[] }>(`/webhooks/${hook.id}/deliveries?status=pending&limit=1`);
  await expect.poll(async () => (await pending()).deliveries.length).toBe(0);
}

test('a webhook is created, its errors at their fields, its secret shown once', LONG, async () => {
  const { webhooks: older } = await site.api<{ webhooks: Shown[] }>('/webhooks');
  for (const { id } of older) await site.api(`/webhooks/${id}`, undefined, 'DELETE');
  const page = await site.open('/webhooks', { role: 'operator' });
  await textShown(page, 'No webhooks yet');
  await expectGood(page, 'webhooks-empty');
  await press(page, 'New webhook');
  await field(page, 'Address').fill('ftp://you.example');
  await press(page, 'Create');
  await textShown(page, 'Choose at least one.');
  await page.getByRole('checkbox', { name: 'Clicks', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Sales', exact: true }).check();
  await press(page, 'Create');
  await textShown(page, 'Must be a full URL that begins with https:// or http://.');
  const address = field(page, 'Address');
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => page.evaluate('document.activeElement.inputMode')).toBe('url');
  await expectGood(page, 'webhooks-refused');
  await address.fill(receiver.url);
  await field(page, 'Description').fill('The shop');
  await press(page, 'Create');

  const dialog = page.getByRole('dialog', { name: 'The webhook is ready' });
  const secret = (await dialog.locator('code').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  await page.keyboard.press('Escape');
  await expectGood(page, 'webhooks-secret');
  const opened = page.waitForEvent('popup');
  await dialog.getByRole('link', { name: 'How to verify a message' }).click();
  const guide = await opened;
  await guide.waitForURL(/\/settings\/developers\?snippet=verify/);
  await guide.close();
  expect(await dialog.locator('code').textContent()).toBe(secret);
  await press(page, 'Done');
  await heading(page, /^Webhook to 127\.0\.0\.1:/);
  const { webhooks } = await site.api<{ webhooks: Shown[] }>('/webhooks');
  expect(webhooks).toMatchObject([
    {
      id: new URL(page.url()).pathname.split('/').at(-1),
      url: receiver.url,
      events: ['click.created', 'sale.created'],
      description: 'The shop',
    },
  ]);
  expect(await page.content()).not.toContain(secret);
  await textShown(page, 'No deliveries yet');

  const before = receiver.received.length;
  await press(page, 'Send a test event');
  await drawer(page).getByText('Delivered', { exact: true }).first().waitFor();
  const received = (await receiver.until(before + 1)).at(-1);
  if (!received) throw new Error('no delivery arrived');
  expect(isGenuine(secret, received)).toBe(true);
  const text = (await drawer(page).textContent()) ?? '';
  expect(text).toContain(`POST ${receiver.url}`);
  expect(text).toContain(received.signature);
  const body = drawer(page).getByRole('region', { name: 'Body of the request' });
  expect(await body.textContent()).toBe(JSON.stringify(received.event, null, 2));
  expect(await drawer(page).getByRole('region', { name: 'Body of the response' }).textContent()).toBe('ok');
  await expectGood(page, 'webhooks-delivery');
  await page.keyboard.press('Escape');
  await drawer(page).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  const row = rows(page, 'Webhooks').filter({ hasText: 'The shop' });
  await row.getByText('Response 200').waitFor();
  expect(await row.textContent()).toContain('Clicks, Sales');
  await expectGood(page, 'webhooks-list');
  await page.close();
});

test('a webhook gets only some events, clicks together, or messages', LONG, async () => {
  const { id } = await site.api<{ id: string }>('/folders', { name: 'Spring sale' });
  const page = await site.open('/webhooks', { role: 'operator' });
  await press(page, 'New webhook');
  await field(page, 'Address').fill(`${receiver.url}?chosen`);
  await page.getByRole('checkbox', { name: 'Clicks', exact: true }).check();
  await page.getByText('Format', { exact: true }).click();
  await page.getByRole('radio', { name: 'Messages for Slack' }).check();
  await page.getByText('Filter', { exact: true }).click();
  await page.getByRole('combobox', { name: 'Folders' }).click();
  await page.getByRole('option', { name: 'Spring sale' }).click();
  await page.getByRole('combobox', { name: 'Channels' }).fill('news');
  await page.getByRole('option', { name: 'Newsletter' }).click();
  await page.keyboard.press('Tab');
  await page.getByRole('checkbox', { name: 'Send clicks together' }).check();
  await field(page, 'Clicks, at most').fill('1');
  await press(page, 'Create');
  await page.getByText(/^Must be an integer from 2 /).waitFor();
  await expectGood(page, 'webhooks-choices');
  await field(page, 'Clicks, at most').fill('200');
  await press(page, 'Create');
  await press(page, 'Done');
  const made = new URL(page.url()).pathname.split('/').at(-1);
  const chosen = {
    format: 'slack',
    filter: { folder_ids: [id], channels: ['newsletter'] },
    batch: { max: 200, seconds: 5 },
  };
  expect(await site.api(`/webhooks/${made}`)).toMatchObject(chosen);
  await textShown(page, '1 folder, Newsletter');
  await expectGood(page, 'webhooks-chosen');
  // Another change leaves the choices.
  await press(page, 'Edit');
  await field(page, 'Description').fill('The team');
  await press(page, 'Save');
  await textShown(page, 'The team');
  expect(await site.api(`/webhooks/${made}`)).toMatchObject({ ...chosen, description: 'The team' });
  await page.close();
});

test('a failed delivery is shown with the response, and delivered again', LONG, async () => {
  const hook = await create();
  receiver.answer((response) => {
    response.writeHead(410, { 'content-type': 'application/json' }).end('{"error":{"code":17.0}}');
  });
  await deliver(hook, 1);
  const path = `/webhooks/${hook.id}`;
  await expect.poll(async () => (await site.api<{ is_active: boolean }>(path)).is_active).toBe(false);
  await site.api(path, { is_active: true }, 'PATCH');
  receiver.answer((response) => {
    response.writeHead(503).end();
  });
  await site.api(`/webhooks/${hook.id}/test`, {});
  const page = await site.open(`/webhooks/${hook.id}`);
  await rows(page, 'Deliveries').filter({ hasText: 'Retrying' }).getByText('503').waitFor();
  const failure = page.getByRole('alert').filter({ hasText: 'Last failure' });
  await failure.getByText('Your server responded with 503: it failed. Look into its log').waitFor();
  expect(await failure.textContent()).toMatch(/Test, .* The next attempt is (in|under way)/);
  await expectGood(page, 'webhooks-log');
  await failure.getByRole('button', { name: 'Show the delivery' }).click();
  await drawer(page).getByText('responded with 503').waitFor();
  await page.keyboard.press('Escape');
  await drawer(page).waitFor({ state: 'detached' });
  await choose(page, 'Result', 'Failed');
  await expect.poll(() => rows(page, 'Deliveries').count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('status')).toBe('failed');
  await rows(page, 'Deliveries').getByRole('button').click();
  await drawer(page).getByText('responded with 410').waitFor();
  const answer = drawer(page).getByRole('region', { name: 'Body of the response' });
  expect(await answer.textContent()).toBe('{\n  "error": {\n    "code": 17.0\n  }\n}');
  await expectGood(page, 'webhooks-failed');

  receiver.answer((response) => {
    response.writeHead(204).end();
  });
  const failed = `/webhooks/${hook.id}/deliveries?status=failed`;
  const { deliveries } = await site.api<{ deliveries: { event_id: string }[] }>(failed);
  await press(page, 'Redeliver');
  await drawer(page).getByText('The response has no body.').waitFor();
  expect(await drawer(page).textContent()).toContain('Status 204');
  expect(await drawer(page).getByText('responded with 410').count()).toBe(0);
  expect(receiver.received.filter(({ id }) => id === deliveries[0]?.event_id)).toHaveLength(2);
  // The open delivery is in the address too.
  await page.reload();
  await drawer(page).getByText('Status 204').waitFor();
  await page.keyboard.press('Escape');
  await textShown(page, 'No matching deliveries');
  expectClean(page);
  await page.close();
});

test('the log is paged and filtered by event, and shows new deliveries automatically', LONG, async () => {
  receiver.answer((response) => {
    response.writeHead(200).end('ok');
  });
  const hook = await create();
  await deliver(hook, 27);
  const page = await site.open(`/webhooks/${hook.id}`, { role: 'analyst' });
  await expect.poll(() => rows(page, 'Deliveries').count()).toBe(25);
  await press(page, 'Older');
  await expect.poll(() => rows(page, 'Deliveries').count()).toBe(2);
  expect(new URL(page.url()).searchParams.has('cursor')).toBe(true);
  await choose(page, 'Event', 'Clicks');
  await textShown(page, 'No matching deliveries');
  const { links } = await site.api<{ links: { short_url: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Hooked',
    channel: 'newsletter',
  });
  await visitNew(links[0]?.short_url ?? '');
  await rows(page, 'Deliveries').filter({ hasText: 'Clicks' }).waitFor();
  expect(new URL(page.url()).search).toBe('?type=click.created');
  await choose(page, 'Result', 'Failed');
  await textShown(page, 'No matching deliveries');

  // An analyst reads, and has no other controls.
  await choose(page, 'Result', 'Delivered');
  await rows(page, 'Deliveries').getByRole('button').click();
  await drawer(page).getByText('Delivered', { exact: true }).first().waitFor();
  expect(await drawer(page).textContent()).toContain('"channel": "newsletter"');
  const offered = /Redeliver|Send a test|Edit|Disable|Enable|Delete|Replace|New webhook/;
  expect(await page.getByRole('button', { name: offered, includeHidden: true }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await expectGood(page, 'webhooks-analyst');
  await page.goto(`${site.app}/console/webhooks`);
  await rows(page, 'Webhooks').first().waitFor();
  expect(await page.getByRole('button', { name: offered }).count()).toBe(0);
  await page.goto(`${site.app}/console/webhooks/${crypto.randomUUID()}`);
  await textShown(page, 'Not found');
  await page.close();
});

test('a webhook gets a new secret, is changed, switched off and on, and deleted', LONG, async () => {
  const hook = await create({ description: 'To be changed' });
  const page = await site.open(`/webhooks/${hook.id}`);
  await press(page, 'Replace the secret');
  await textShown(page, 'For 24 hours, messages are signed with both');
  await expectGood(page, 'webhooks-replace');
  await press(page, 'Replace');
  const dialog = page.getByRole('dialog', { name: 'The secret was replaced' });
  const secret = (await dialog.locator('code').textContent()) ?? '';
  await press(page, 'Done');
  await dialog.waitFor({ state: 'detached' });
  const before = receiver.received.length;
  await press(page, 'Send a test event');
  const received = (await receiver.until(before + 1)).at(-1);
  expect(received && [isGenuine(secret, received), isGenuine(hook.secret, received)]).toEqual([true, true]);
  await drawer(page).getByText('Delivered', { exact: true }).first().waitFor();
  await page.keyboard.press('Escape');
  await drawer(page).waitFor({ state: 'detached' });

  await press(page, 'Edit');
  await page.getByRole('checkbox', { name: 'Clicks', exact: true }).uncheck();
  await page.getByRole('checkbox', { name: 'Leads', exact: true }).check();
  await field(page, 'Description').fill('');
  await press(page, 'Save');
  await expectNotice(page, 'Webhook saved');
  const shown = () => site.api<Shown>(`/webhooks/${hook.id}`);
  expect(await shown()).toMatchObject({ url: hook.url, events: ['lead.created'], description: null });

  await press(page, 'Disable');
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expectNotice(page, 'Webhook disabled');
  expect(await shown()).toMatchObject({ is_active: false });
  const sending = page.getByRole('button', { name: 'Send a test event' });
  await sending.waitFor({ state: 'detached' });
  await expectGood(page, 'webhooks-off');
  await press(page, 'Enable');
  await expectNotice(page, 'Webhook enabled');
  expect(await shown()).toMatchObject({ is_active: true });
  await press(page, 'Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await heading(page, 'Webhooks');
  await expectNotice(page, 'Webhook deleted');
  expect(await page.getByRole('link', { name: 'To be changed' }).count()).toBe(0);
  await expect(shown()).rejects.toThrow('404');
  expectClean(page);
  await page.close();
});

test('editing a webhook does not undo what another person changes meanwhile', LONG, async () => {
  const hook = await create({ description: 'Shared' });
  const page = await site.open(`/webhooks/${hook.id}`);
  await press(page, 'Edit');
  const edit = page.getByRole('dialog', { name: 'Edit the webhook' });
  // An empty form closes at once; after typing neither Escape nor a press beside the form closes it.
  await field(page, 'Description').waitFor();
  await page.keyboard.press('Escape');
  await edit.waitFor({ state: 'detached' });
  await press(page, 'Edit');
  await field(page, 'Description').fill('Half typed');
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 500);
  expect(await field(page, 'Description').inputValue()).toBe('Half typed');
  const url = `${receiver.url}?moved`;
  await site.api(`/webhooks/${hook.id}`, { url, events: ['sale.created'] }, 'PATCH');
  // An event that is selected again comes last in the form; that is not a change.
  await page.getByRole('checkbox', { name: 'Clicks', exact: true }).uncheck();
  await page.getByRole('checkbox', { name: 'Clicks', exact: true }).check();
  await field(page, 'Description').fill('Of the shop');
  await press(page, 'Save');
  await expectNotice(page, 'Webhook saved');
  expect(await site.api<Shown>(`/webhooks/${hook.id}`)).toMatchObject({
    url,
    events: ['sale.created'],
    description: 'Of the shop',
  });
  await page.close();
});
