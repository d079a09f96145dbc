import { expect, test } from 'vitest';
import type { Stats } from '../../api/referrals/schemas.ts';
import { dashboardIn, type EmbedSite, type Keys, PROGRAM, startEmbedSite } from './embed-site.ts';
import { inChromium } from './in-chromium.ts';
import { axeViolations } from './page-watch.ts';

let site: EmbedSite;
let keys: Keys;

inChromium(async () => {
  site = await startEmbedSite();
  keys = await site.addWorkspace('Another shop', 'unlimited');
  await site.api(keys, '/programs', PROGRAM);
  await site.change(keys, '/workspace', { allowed_origins: ['https://shop.example'] });
  return site.close;
});

const REFUSAL = 'Referrals are not shown on this site';
const enrolled = async () =>
  (await site.api<{ enrollments: { external_user_id: string }[] }>(keys, '/enrollments')).enrollments.map(
    ({ external_user_id: id }) => id,
  );
const iframe = (uid: string, attributes = '') =>
  `<iframe title="Referrals" ${attributes} src="${site.app}/embed/referrals?key=${keys.publishable}&uid=${uid}"></iframe>`;

test.each([
  ['the script', () => site.script('data-user-id="u" data-theme="dark"', keys.publishable)],
  ['an iframe', () => iframe('u')],
  [
    'data-api-base',
    () =>
      site.script(
        `data-user-id="u" data-api-base="${site.app.replace('127.0.0.1', 'localhost')}"`,
        keys.publishable,
      ),
  ],
])('by %s, a site outside the allowed origins is told why, and nothing is called', async (_, tag) => {
  const page = await site.open(tag());
  const frame = await dashboardIn(page, REFUSAL);
  expect(await frame.textContent('[role=alert]')).toContain(site.origin);
  expect(await axeViolations(frame)).toEqual([]);
  expect(page.watched.calls).toEqual([]);
  expect(await enrolled()).toEqual([]);
  await page.close();
});

test('the refusal keeps its iframe as high as its content', async () => {
  const page = await site.open(site.script('data-user-id="u"', keys.publishable));
  await dashboardIn(page, REFUSAL);
  await expect
    .poll(() => page.$eval('iframe', (frame) => Number.parseInt(frame.style.height, 10)))
    .toBeLessThan(300);
  await page.close();
});

test('a site that hides its origin gets nothing: the browser refuses to show the page', async () => {
  const page = await site.open(iframe('hidden', 'referrerpolicy="no-referrer"'));
  const element = await page.waitForSelector('iframe', { state: 'attached' });
  const frame = await element.contentFrame();
  await expect.poll(() => frame?.url()).toContain('chrome-error:');
  expect(page.watched.calls).toEqual([]);
  expect(await enrolled()).toEqual([]);
  await page.close();
});

test('a window that another site opens by script is refused by the API, and one behind a link is not', async () => {
  const address = (uid: string) => `${site.app}/embed/referrals?key=${keys.publishable}&uid=${uid}`;
  const page = await site.open(`<a target="_blank" href="${address('linked')}">x</a>`);
  const windows = [page.waitForEvent('popup')];
  await page.evaluate(`void open('${address('opened')}')`);
  await (await windows[0])?.waitForSelector('[role=alert]');
  expect(await enrolled()).toEqual([]);
  windows.push(page.waitForEvent('popup'));
  await page.click('a');
  await (await windows[1])?.waitForSelector('text=Your referrals');
  for (const opened of await Promise.all([page, ...windows])) await opened.close();
});

test('a site of the list shows the dashboard, and its calls name the site', async () => {
  await site.change(keys, '/workspace', { allowed_origins: [site.origin] });
  const page = await site.open('');
  const request = page.waitForRequest('**/referrals/stats*');
  await page.setContent(site.script('data-user-id="shown"', keys.publishable));
  await dashboardIn(page);
  expect(await (await request).headerValue('embed-ancestors')).toBe(site.origin);
  const { status } = await site.api<Stats>(keys, '/referrals/stats?external_user_id=shown');
  expect(status).toBe('approved');
  await page.close();
});
