import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test, vi } from 'vitest';
import { sampleCalls } from '../../api/sample-shop/call.ts';
import { fillSampleShop } from '../../api/sample-shop/fill.ts';
import { freePort } from '../../cli/embedded/free-port.ts';
import { createPool } from '../../sql/database/pool.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import { storesOf } from '../kafka/deployment.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { visitNew } from '../support/visitors.ts';
import { type ConsolePage, type ConsoleSite, startConsoleSite } from './console/console-site.ts';
import { chooseChannel, field } from './console/link-desk.ts';
import { inChromium } from './in-chromium.ts';
import { LOOK } from './picture-look.ts';

/**
 * Makes every picture of README and docs from the sample shop: `npm run pictures` writes them to `docs/images`, and
 * what each shows to `pictures/`. The nightly run compares the latter, so a page that changed without its picture fails
 * there.
 */

const { PICTURES_DIR } = process.env;
const SIZE = { width: 1_280, height: 860 };
/** Origin of short links in the pictures. */
const SHORT_URL = 'https://tea.example';
const PATIENCE = { timeout: 120_000 };
/** The roll-up and the attribution of the history, on a loaded machine. */
const ROLLED_UP = { timeoutMs: 400_000 };
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

let site: ConsoleSite;
let ingest: string;

inChromium(async () => {
  const port = await freePort();
  ingest = `http://127.0.0.1:${port}`;
  site = await startConsoleSite({
    INGEST_PORT: String(port),
    SHORT_URL,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  });
  const pool = createPool(storesOf(site.dataDir).databaseUrl, { max: 1 });
  const { workspace_id: id = '', secret_key: key = '' } = site.service.demo ?? {};
  await site.api('/workspace', { name: 'Sample shop', primary_domain: 'sample-shop.example' }, 'PATCH');
  const workspace = await workspaceById(pool, id);
  if (!workspace) throw new Error('the first start created no workspace');
  const send = async ({ url, ...request }: { url: string; method: string }) => {
    const response = await fetch(`${site.app}${url}`, request);
    return { status: response.status, text: await response.text() };
  };
  await fillSampleShop({ pool, call: sampleCalls(send, key) }, workspace, Date.now());
  await pool.end();
  const revenue = async () => {
    const query = { metrics: ['revenue'] };
    const { totals } = await site.api<{ totals: { revenue: number } }>('/analytics/query', query);
    return totals.revenue;
  };
  await until('the revenue of the history', revenue, (amount) => amount > 2_000, ROLLED_UP);
  return site.close;
});

/** Opens a page as it is in pictures: quiet, without the first steps. */
async function open(path: string): Promise<ConsolePage> {
  const page = await site.open(path, { timeZone: 'Europe/Berlin' });
  await page.setViewportSize(SIZE);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  return page;
}

/** Waits until a page has all of its data, and nothing moves. */
async function settle(page: ConsolePage): Promise<void> {
  const busy = '[aria-busy="true"], .mantine-Skeleton-root, .answer[data-former], .mantine-Notification-root';
  await expect.poll(() => page.locator(busy).count(), PATIENCE).toBe(0);
  await page.mouse.move(0, 0);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
}

async function picture(page: ConsolePage, name: string): Promise<void> {
  await settle(page);
  await expect(await page.evaluate(LOOK)).toMatchFileSnapshot(`./pictures/${name}.txt`);
  if (PICTURES_DIR === undefined) return;
  mkdirSync(PICTURES_DIR, { recursive: true });
  await page.screenshot({ path: join(PICTURES_DIR, `${name}.png`) });
}

test('the overview, the links, and the referrals', { tags: 'nightly' }, async () => {
  const page = await open('/');
  await page.getByRole('button', { name: 'First steps' }).click();
  await page.getByRole('button', { name: 'Hide for everyone' }).click();
  await page.getByRole('region', { name: 'First steps' }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('list', { name: 'Channels' }).getByRole('listitem').first().waitFor();
  await picture(page, 'console-overview');
  await page.goto(`${site.app}/console/links`);
  await page.getByRole('region', { name: 'Links' }).getByText('Checkout test').waitFor();
  await page.getByRole('list', { name: 'Folders' }).getByText('Always on').waitFor();
  await picture(page, 'console-links');
  await page.goto(`${site.app}/console/referrals`);
  await page.getByRole('region', { name: 'Top referrers' }).getByText('Mara Lindt').waitFor();
  await picture(page, 'console-referrals');
  await page.close();
});

test('a campaign, a program, a domain, and a webhook that fails', { tags: 'nightly' }, async () => {
  const page = await open('/links/new');
  await field(page, 'Destination URL').fill('https://sample-shop.example/winter');
  for (const channel of ['Instagram', 'Facebook', 'YouTube', 'Newsletter']) {
    await chooseChannel(page, channel);
  }
  await field(page, 'Slug').fill('winter');
  await field(page, 'Slug').press('Enter');
  await page.getByText('4 links made').first().waitFor();
  await picture(page, 'task-campaign');
  await page.goto(`${site.app}/console/referrals?tab=programs`);
  await page.getByRole('button', { name: 'New program' }).click();
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await dialog.getByRole('button', { name: /^Recurring commission/ }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Winter friends');
  await dialog
    .getByRole('textbox', { name: 'Destination URL', exact: true })
    .fill('https://sample-shop.example/winter');
  await dialog.getByRole('button', { name: /^Next: Rewards/ }).click();
  await dialog.getByRole('button', { name: /^Next/ }).click();
  await picture(page, 'task-program');
  await page.keyboard.press('Escape');
  await page.goto(`${site.app}/console/domains`);
  await page.getByRole('article', { name: 'go.sample-shop.example' }).waitFor();
  await picture(page, 'task-domain');
  const receiver = await startReceiver();
  try {
    receiver.answer((response) => response.writeHead(401).end());
    const { id } = await site.api<{ id: string }>('/webhooks', {
      url: receiver.url,
      events: ['click.created'],
    });
    await site.api(`/webhooks/${id}/test`, {});
    type Deliveries = { deliveries: { response_status: number | null }[] };
    const statuses = async () =>
      (await site.api<Deliveries>(`/webhooks/${id}/deliveries`)).deliveries.map((one) => one.response_status);
    await expect.poll(statuses, PATIENCE).toContain(401);
    await page.goto(`${site.app}/console/webhooks/${id}`);
    await page
      .getByText(/responded with 401/)
      .first()
      .waitFor();
    await picture(page, 'task-webhook');
  } finally {
    await receiver.close();
  }
  await page.close();
});

test('the animation: a link is created, clicked, and seen', { tags: 'nightly' }, async () => {
  const page = await open('/links/new');
  await page.setViewportSize({ width: 960, height: 600 });
  const frames: { image: Buffer; seconds: number }[] = [];
  const frame = async (seconds: number) => {
    await settle(page);
    frames.push({ image: await page.screenshot(), seconds });
  };
  await frame(1);
  await field(page, 'Destination URL').fill('https://sample-shop.example/tea');
  await frame(1);
  await field(page, 'Slug').fill('tea');
  await frame(1);
  await field(page, 'Slug').press('Enter');
  await page.getByText('The link is ready').waitFor();
  await frame(2);
  await page.goto(`${site.app}/console/live`);
  await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
  await frame(1);
  await visitNew(`${ingest}/tea`);
  await page.getByRole('table').getByText('tea').first().waitFor();
  await frame(3);
  expect(frames).toHaveLength(6);
  if (PICTURES_DIR !== undefined) {
    const images = frames.map(({ image }) => image);
    const delay = frames.map(({ seconds }) => seconds * 1_000);
    await sharp(images, { join: { animated: true } })
      .webp({ lossless: true, delay, loop: 0 })
      .toFile(join(PICTURES_DIR, 'create-click-see.webp'));
  }
  await page.close();
});
