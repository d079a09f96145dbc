import { expect, test } from 'vitest';
import { createPool } from '../../../sql/database/pool.ts';
import { storesOf } from '../../kafka/deployment.ts';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectGood, expectNotice } from './console-site.ts';

const PATIENCE = { timeout: 60_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

/** Shows all steps. */
const unfold = (page: ConsolePage) =>
  page.getByRole('button', { name: 'First steps', expanded: false }).press('Enter');

test('the first steps lead to where each is done, follow what happens, and are right after a reload', async () => {
  const page = await site.open('/');
  const list = page.getByRole('region', { name: 'First steps' });
  const step = (name: string) => list.getByRole('listitem').filter({ hasText: name });
  const isDone = (name: string) => step(name).getByLabel('Done').count();
  // One line with the next step, until a press shows all.
  await list.getByText(/^[01] of 7$/).waitFor();
  await list.getByText('Next: Create a link').waitFor();
  expect((await list.boundingBox())?.height).toBeLessThan(50);
  await unfold(page);
  await step('Create a link').getByLabel('Open').waitFor();
  await expectGood(page, 'first-steps');
  for (const [name, heading] of [
    ['Create a link', 'New link'],
    ['See a click', 'Live'],
    ['Put the pixel on your site', 'Developers'],
    ['Record a conversion', 'Connections'],
    ['Connect your domain', 'Domains'],
    ['Invite a colleague', 'Settings'],
    ['Use the API', 'Developers'],
  ] as const) {
    // A key of this file called the API before.
    if ((await isDone(name)) > 0) continue;
    await step(name).getByRole('link', { name }).press('Enter');
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.goBack();
    await unfold(page);
  }
  const { links } = await site.api<{ links: { short_url: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'First',
    channel: 'other',
  });
  await expect.poll(() => isDone('Create a link'), PATIENCE).toBe(1);
  expect(await step('Create a link').getByRole('link').count()).toBe(0);
  await visitNew(links[0]?.short_url ?? '');
  await expect.poll(() => isDone('See a click'), PATIENCE).toBe(1);
  // Never open after a reload, not even before the response.
  await page.route('**/api/v1/first-steps', () => undefined);
  await page.reload();
  await unfold(page);
  expect(await list.getByLabel('Open').count()).toBe(0);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.reload();
  await unfold(page);
  await expect.poll(() => isDone('See a click'), PATIENCE).toBe(1);
  await expectGood(page, 'first-steps-some');
  await page.close();
});

test('a press shows the sample shop, marked on each page, and another removes it', async () => {
  const workspace = site.service.demo?.workspace_id ?? '';
  const made = await site.hoplog<{ created: boolean }>('demo', 'create', '--workspace', workspace);
  expect(made.created).toBe(true);
  // The other tests open pages with the session of 127.0.0.1, which a switch would end.
  const page = await site.open('/', { host: 'localhost' });
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  await unfold(page);
  await page.getByRole('button', { name: 'Look at sample data' }).press('Enter');
  const mark = page.getByRole('complementary', { name: 'Sample data' });
  await mark.getByText('Nothing here is real').waitFor();
  // The history is rolled up and its orders are attributed within a minute.
  const revenue = page.getByRole('region', { name: 'Totals' }).getByRole('button', { name: /^Revenue/ });
  await expect
    .poll(async () => {
      await page.reload();
      return revenue.textContent();
    }, PATIENCE)
    .toMatch(/[1-9],\d{3}/);
  await expectGood(page, 'sample-overview');
  for (const [path, name] of [
    ['/links', 'Links'],
    ['/referrals', 'Referrals'],
    ['/bio-pages', 'Bio pages'],
    ['/domains', 'Domains'],
    ['/settings', 'Settings'],
  ] as const) {
    await page.goto(new URL(`/console${path}`, page.url()).href);
    await heading(name).waitFor();
    expect(await mark.count()).toBe(1);
  }
  await mark.getByRole('button', { name: 'Back to' }).press('Enter');
  await mark.waitFor({ state: 'detached' });
  await unfold(page);
  await page.getByRole('button', { name: 'Look at sample data' }).press('Enter');
  await mark.getByRole('button', { name: 'Remove sample data' }).press('Enter');
  await expectNotice(page, 'Sample data removed');
  await heading('Overview').waitFor();
  expect(await mark.count()).toBe(0);
  const again = await site.hoplog<{ removed: boolean }>('demo', 'remove', '--workspace', workspace);
  expect(again.removed).toBe(false);
  await page.close();
});

test('an analyst reads who does a step, and hides them; an owner hides them for everyone, and undoes it', async () => {
  const analyst = await site.open('/', { role: 'analyst', keepsUndo: true });
  const owner = await site.open('/', { keepsUndo: true });
  const region = { name: 'First steps' };
  const steps = analyst.getByRole('region', region);
  await unfold(analyst);
  await steps.getByText('An operator does this.').first().waitFor();
  expect(await steps.getByRole('button', { name: 'Hide for everyone' }).count()).toBe(0);
  await steps.getByRole('button', { name: 'Hide for me' }).press('Enter');
  await steps.waitFor({ state: 'detached' });
  await expectNotice(analyst, 'First steps hidden');
  await analyst.keyboard.press('Control+z');
  await unfold(analyst);
  await steps.getByRole('button', { name: 'Hide for me' }).press('Enter');
  await steps.waitFor({ state: 'detached' });
  await analyst.reload();
  await analyst.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(await steps.count()).toBe(0);

  const own = owner.getByRole('region', region);
  await unfold(owner);
  await own.getByRole('button', { name: 'Hide for everyone' }).press('Enter');
  await own.waitFor({ state: 'detached' });
  await expectGood(owner, 'undo');
  await owner.getByRole('button', { name: 'Undo' }).press('Enter');
  await expectNotice(owner, 'Undone');
  await own.waitFor();
  await Promise.all([analyst.close(), owner.close()]);
});

test('the last step says that the workspace is set up, and ends the list', async () => {
  const pool = createPool(storesOf(site.dataDir).databaseUrl, { max: 1 });
  const workspace = site.service.demo?.workspace_id ?? '';
  await pool.query(
    `INSERT INTO first_steps (workspace_id, step)
     SELECT $1, unnest(ARRAY['link', 'click', 'pixel', 'conversion', 'colleague', 'api_key']) ON CONFLICT DO NOTHING`,
    [workspace],
  );
  await pool.end();
  const page = await site.open('/');
  await page.getByRole('region', { name: 'First steps' }).getByText('6 of 7').waitFor();
  await site.api('/domains', { domain: 'go.steps.example' });
  await site.hoplog('domain', 'verify', '--force', '--workspace', workspace, 'go.steps.example');
  await page.getByRole('region', { name: 'You are set up' }).getByText('7 of 7').waitFor();
  await expectGood(page, 'first-steps-all');
  await page.reload();
  await page.getByRole('region', { name: 'Totals' }).waitFor();
  expect(await page.getByRole('region', { name: 'You are set up' }).count()).toBe(0);
  await page.close();
});
