import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { freePort } from '../../../cli/embedded/free-port.ts';
import { CHECKOUT } from '../../support/hoplog.ts';
import { LIMIT_MS } from '../../support/until.ts';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { nextName } from '../next-name.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

/** Limit for a loaded machine. */
const PATIENT = { timeout: LIMIT_MS };
const LONG = { timeout: 400_000 };
const PERSON = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36';

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const textShown = (page: Page, text: string) => page.getByText(text).first().waitFor();
const row = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Keys of the workspace' }).locator('tbody tr').filter({ hasText: text });

/** Creates a key on the page and returns its token. */
async function makeKey(page: Page, name: string, kind: 'Secret' | 'Publishable'): Promise<string> {
  await press(page, 'New key');
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('radio', { name: kind }).check();
  await press(page, 'Create');
  const dialog = page.getByRole('dialog', { name: 'The key is ready' });
  const token = (await dialog.locator('code').textContent()) ?? '';
  await press(page, 'Done');
  await dialog.waitFor({ state: 'detached' });
  await row(page, token.slice(0, 16)).waitFor();
  return token;
}

/** Returns the text of a snippet, on its tab. */
async function snippet(page: Page, tab: string, label: string): Promise<string> {
  await page.getByRole('tab', { name: tab }).click();
  const block = page.getByRole('region', { name: label });
  await block.waitFor();
  return (await block.textContent()) ?? '';
}

/** Replaces `curl` in a snippet: the shell prints the arguments of the call. */
const ECHO_CURL = `curl() { printf '%s\\0' "$@"; }`;

/** Sends the request of the page's `curl` snippet, with a real key in place of the dots. */
async function runCurl<T>(code: string, key: string): Promise<{ status: number; body: T }> {
  expect(code).toContain('KEY=lk_live_...');
  const script = `${ECHO_CURL}\n${code.replace('lk_live_...', key)}`;
  const args = execFileSync('bash', ['-euc', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  const [url = '', ...options] = args;
  const given = (flag: string) => options.flatMap((option, at) => (options[at - 1] === flag ? option : []));
  expect(options.filter((_, at) => at % 2 === 0).every((flag) => ['-H', '-d'].includes(flag))).toBe(true);
  const [body] = given('-d');
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: given('-H').map((header): [string, string] => {
      const [name = '', value = ''] = header.split(/: (.*)/s);
      return [name, value];
    }),
    ...(body !== undefined && { body }),
  });
  return { status: answer.status, body: (await answer.json()) as T };
}

test('an owner creates keys, sees when they were used, and revokes them, each at once', LONG, async () => {
  const page = await site.open('/settings/developers');
  const name = `Checkout ${crypto.randomUUID()}`;
  await row(page, 'Secret').first().waitFor();
  await press(page, 'New key');
  await page.getByRole('textbox', { name: 'Name' }).fill('x'.repeat(101));
  await press(page, 'Create');
  await textShown(page, 'At most 100 characters.');
  await expectGood(page, 'developers-key-refused');
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await press(page, 'Create');
  const dialog = page.getByRole('dialog', { name: 'The key is ready' });
  const token = (await dialog.locator('code').textContent()) ?? '';
  expect(token).toMatch(/^lk_live_/);
  await page.keyboard.press('Escape');
  await expectGood(page, 'developers-key-made');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const named = await nextName(dialog.getByRole('button', { name: 'Copy secret key', exact: true }));
  await press(page, 'Copy secret key');
  expect(await named()).toBe('Copied secret key');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token);
  await press(page, 'Done');
  const made = row(page, name);
  await made.getByText('Never').waitFor();
  expect(await made.count()).toBe(1);
  expect(await made.textContent()).toContain(token.slice(0, 16));
  expect(await page.content()).not.toContain(token);

  const me = () => fetch(`${site.service.api_url}/me`, { headers: { authorization: `Bearer ${token}` } });
  expect((await me()).status).toBe(200);
  await expect
    .poll(async () => {
      await page.reload();
      await made.waitFor();
      return made.textContent();
    }, PATIENT)
    .not.toContain('Never');
  await expectGood(page, 'developers');
  await made.getByRole('button').click();
  await textShown(page, 'is refused from then on');
  await expectGood(page, 'developers-revoke');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await made.getByText('Revoked').waitFor();
  expect((await me()).status).toBe(401);
  expectClean(page);
  await page.close();
});

test(
  'an owner creates a restricted key that manages and expires, and revokes it with what it made',
  LONG,
  async () => {
    const page = await site.open('/settings/developers');
    const name = `Rights ${crypto.randomUUID()}`;
    await press(page, 'New key');
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('checkbox', { name: 'Reads' }).check();
    await page.getByRole('checkbox', { name: 'May manage' }).check();
    await page.getByLabel('Expires').fill('2999-01-31T12:00');
    await expectGood(page, 'developers-key-rights');
    await press(page, 'Create');
    const token = await page.getByRole('dialog', { name: 'The key is ready' }).locator('code').textContent();
    await press(page, 'Done');
    const made = row(page, name);
    for (const text of ['Only reads; Manages', 'By a member', '2999']) await made.getByText(text).waitFor();

    const call = (path: string, key: string | null, body?: object) =>
      fetch(`${site.service.api_url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const child = (await (await call('/keys', token, { kind: 'secret' })).json()) as { token: string };
    expect((await call('/me', child.token)).status).toBe(200);
    await made.getByRole('button', { name: /^Revoke/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke this key?' });
    await dialog.getByRole('checkbox', { name: 'Also revoke what it made' }).check();
    await expectGood(page, 'developers-key-revocation');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect([(await call('/me', token)).status, (await call('/me', child.token)).status]).toEqual([401, 401]);
  },
);

test('curl as the page shows it creates a link, reads clicks, reports leads and sales', LONG, async () => {
  const { links } = await site.api<{ links: { id: string }[] }>('/links?view=records');
  for (const { id } of links) await site.api(`/links/${id}`, undefined, 'DELETE');
  const page = await site.open('/settings/developers');
  const key = await makeKey(page, 'Snippets', 'Secret');
  expect(await snippet(page, 'Read clicks', 'Poll for clicks with curl')).toContain('Put the id of a link');

  type Made = { links: { id: string; slug: string; short_url: string; channel: string }[] };
  const create = await runCurl<Made>(await snippet(page, 'Create a link', 'Create a link with curl'), key);
  expect(create).toMatchObject({ status: 201, body: { links: [{ channel: 'newsletter' }] } });
  const [link] = create.body.links;
  if (!link) throw new Error('no link was created');
  await visitNew(link.short_url);
  await page.reload();
  const poll = await snippet(page, 'Read clicks', 'Poll for clicks with curl');
  expect(poll).toContain(`# Clicks of ${link.short_url},`);
  expect(new URL(page.url()).searchParams.get('snippet')).toBe('clicks');
  type Clicks = { clicks: { link_id: string }[]; next_cursor: null; watermark: string };
  await expect.poll(async () => (await runCurl<Clicks>(poll, key)).body.clicks, PATIENT).toHaveLength(1);
  expect(await runCurl<Clicks>(poll, key)).toMatchObject({
    status: 200,
    body: { clicks: [{ link_id: link.id }], next_cursor: null, watermark: expect.stringMatching(/Z$/) },
  });

  const server = (label: string) => snippet(page, 'Leads and sales', label);
  expect(await runCurl(await server('Identify a visitor'), key)).toEqual({
    status: 202,
    body: { ok: true },
  });
  expect(await runCurl(await server('Report a sale'), key)).toEqual({ status: 202, body: { ok: true } });
  // The slug belongs to a link without a referrer.
  const lead = await server('Report a lead: a referred signup');
  expect(lead).toContain(`"ref_code": "${link.slug}"`);
  expect(await runCurl(lead, key)).toEqual({ status: 200, body: { matched: false } });
  await expectGood(page, 'developers-server');
  expectClean(page);
  await page.close();
});

test('the script for a site and the receiver of webhooks work as the page shows them', LONG, async () => {
  const page = await site.open('/settings/developers?snippet=site');
  const key = await makeKey(page, 'Site', 'Publishable');
  expect(key).toMatch(/^pk_live_/);
  const script = await snippet(page, 'Track your site', 'Script for your pages');
  const calls = await snippet(page, 'Track your site', 'After a signup, and after a purchase');
  const shop = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Shop</title>${script.replace('pk_live_...', key)}${calls}`);
  });
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const visit = await site.browser.newPage({ userAgent: PERSON });
  const reports: Promise<number>[] = [];
  visit.on('requestfinished', (request) => {
    if (!request.url().endsWith('/collect')) return;
    reports.push(request.response().then((answer) => answer?.status() ?? 0));
  });
  await visit.goto(`http://localhost:${(shop.address() as AddressInfo).port}/`);
  await expect.poll(() => reports.length, PATIENT).toBe(2);
  expect((await Promise.all(reports)).every((status) => status >= 200 && status < 300)).toBe(true);
  await visit.close();
  shop.close();

  const receiver = await snippet(page, 'Verify a webhook', 'A receiver in Node: receiver.mjs');
  await expectGood(page, 'developers-verify');
  const port = await freePort();
  const hook = await site.api<{ id: string; secret: string }>('/webhooks', {
    url: `http://127.0.0.1:${port}/`,
    events: ['sale.created'],
  });
  const node = spawn(process.execPath, ['--input-type=module', '--eval', receiver], {
    cwd: CHECKOUT,
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: hook.secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const forge = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
    await expect
      .poll(
        () =>
          forge().then(
            ({ status }) => status,
            () => 'not there yet',
          ),
        PATIENT,
      )
      .toBe(400);
    const lines = createInterface(node.stdout)[Symbol.asyncIterator]();
    await site.api(`/webhooks/${hook.id}/test`, {});
    expect((await lines.next()).value).toBe('webhook.test {}');
  } finally {
    const ended = once(node, 'exit');
    node.kill();
    await ended;
  }
  await page.close();
});

test('an analyst has the reference and the snippets, and no keys', LONG, async () => {
  const page = await site.open('/settings/developers', { role: 'analyst' });
  await textShown(page, 'Owners create and revoke keys');
  await page.getByRole('region', { name: 'Create a link with curl' }).waitFor();
  expect(await page.getByRole('button', { name: /key/i }).count()).toBe(0);
  expect(page.watched.calls).not.toContain('/api/v1/keys');
  for (const name of [/Every endpoint/, /OpenAPI document/]) {
    const href = (await page.getByRole('link', { name }).getAttribute('href')) ?? '';
    expect((await fetch(href)).status).toBe(200);
  }
  await expectGood(page, 'developers-analyst');
  await page.close();
});
