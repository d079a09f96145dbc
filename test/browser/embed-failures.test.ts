import { expect, test } from 'vitest';
import { dashboardIn, type EmbedSite, startEmbedSite } from './embed-site.ts';
import { inChromium } from './in-chromium.ts';
import { axeViolations } from './page-watch.ts';

let site: EmbedSite;

inChromium(async () => {
  site = await startEmbedSite();
  return site.close;
});

test('a wrong key, an uncovered plan, no program and no connection each say so, and can be retried', async () => {
  const free = await site.addWorkspace('Free', 'free');
  const empty = await site.addWorkspace('Empty', 'unlimited');
  const unknown = `pk_live_00000000_${'0'.repeat(48)}`;
  for (const [key, heading, hint] of [
    [unknown, 'Referrals are not available right now', '401'],
    [free.publishable, 'Referrals are not available right now', '402'],
    [empty.publishable, 'No referral program yet', '/api/v1/programs'],
  ] as const) {
    const page = await site.open(site.script('data-user-id="u" data-theme="dark"', key));
    const frame = await dashboardIn(page, heading);
    expect(await frame.textContent('[role=alert]')).toContain(hint);
    expect(await axeViolations(frame)).toEqual([]);
    await page.close();
  }
  const page = await site.open('');
  await page.route('**/referrals/stats*', (route) => route.abort());
  await page.setContent(site.script('data-user-id="offline"'));
  const frame = await dashboardIn(page, 'No connection');
  await page.unroute('**/referrals/stats*');
  await frame.click('button:has-text("Try again")');
  await frame.waitForSelector('h1:text-is("Your referrals")');
  await page.close();
});

test('a failed change of days leaves the dashboard as it is, and a retry uses those days', async () => {
  await site.api(site.keys, '/referrals/stats?external_user_id=days');
  await site.api(site.keys, '/referrals/reward-mode', { external_user_id: 'days', mode: 'affiliate' });
  const page = await site.open(site.script('data-user-id="days"'));
  const frame = await dashboardIn(page);
  await frame.fill('#payout-email', 'half@typed');
  const status = () => frame.textContent('[role=status]');
  expect(await status()).toBe('Showing the last 30 days.');
  const asked: string[] = [];
  let isOffline = true;
  await page.route('**/referrals/stats*', (route) => {
    asked.push(new URL(route.request().url()).searchParams.get('days') ?? '');
    return isOffline ? route.abort() : route.continue();
  });
  await frame.selectOption('select', '7');
  const notice = frame.locator('[role=alert]');
  await notice.waitFor();
  expect(await notice.textContent()).toContain(
    'No connection: the last 7 days failed to load. The page still shows the last 30 days.',
  );
  expect(await frame.isVisible('.link-row input')).toBe(true);
  expect(await axeViolations(frame)).toEqual([]);
  isOffline = false;
  await frame.click('button:has-text("Try again")');
  await notice.waitFor({ state: 'detached' });
  await expect.poll(status).toBe('Showing the last 7 days.');
  expect(asked).toEqual(['7', '7']);
  expect(await frame.inputValue('select')).toBe('7');
  expect(await frame.evaluate('document.activeElement.tagName')).toBe('SELECT');
  expect(await frame.inputValue('#payout-email')).toBe('half@typed');
  expect(page.watched.violations).toEqual([]);
  await page.close();
});

test('figures requested before the mode was switched do not show the old mode again', async () => {
  await site.api(site.keys, '/referrals/stats?external_user_id=late');
  const page = await site.open(site.script('data-user-id="late"'));
  const frame = await dashboardIn(page);
  const held = Promise.withResolvers<void>();
  let reads = 0;
  await page.route('**/referrals/stats*', async (route) => {
    reads += 1;
    if (reads > 1) return route.continue();
    // Read before the switch, returned after it.
    const response = await route.fetch();
    await held.promise;
    await route.fulfill({ response }).catch(() => undefined);
  });
  await frame.selectOption('select', '7');
  await expect.poll(() => reads).toBe(1);
  await frame.click('button:text-is("Cash")');
  await frame.waitForSelector('h2:text-is("Payout method")');
  await expect.poll(() => reads).toBe(2);
  held.resolve();
  await expect.poll(() => frame.getAttribute('main', 'aria-busy')).toBe('false');
  expect(await frame.textContent('button[aria-pressed=true]:text-is("Cash")')).toBe('Cash');
  expect(await frame.inputValue('select')).toBe('7');
  await page.close();
});
