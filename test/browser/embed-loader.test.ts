import type { Frame, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Stats } from '../../api/referrals/schemas.ts';
import { dashboardIn, type EmbedSite, startEmbedSite } from './embed-site.ts';
import { inChromium } from './in-chromium.ts';
import { axeViolations } from './page-watch.ts';

let site: EmbedSite;

inChromium(async () => {
  site = await startEmbedSite();
  return site.close;
});

const heights = (page: Page) =>
  page.$$eval('iframe', (frames) => frames.map((frame) => Number.parseInt(frame.style.height, 10)));
const contentHeight = (frame: Frame): Promise<number> =>
  frame.evaluate('Math.ceil(document.documentElement.getBoundingClientRect().height)');

/** Waits until an iframe is as high as its content, which may still change. */
async function expectFits(page: Page, frame: Frame, index = 0): Promise<void> {
  await expect.poll(async () => ((await heights(page))[index] ?? 0) - (await contentHeight(frame))).toBe(0);
}

test('the script puts a dashboard in its place, enrolls the user and keeps the iframe as high as its content', async () => {
  const page = await site.open(
    `<p id="before">Before</p>${site.script('data-user-id="new-user"')}<p>After</p>`,
  );
  const frame = await dashboardIn(page);
  const iframe = page.locator('script + iframe');
  expect(await iframe.getAttribute('title')).toBe('Referral dashboard');
  expect(await iframe.getAttribute('scrolling')).toBe('no');

  const link = await frame.inputValue('.link-row input');
  expect(link.startsWith(site.service.short_url)).toBe(true);
  const { status, referral_link } = await site.api<Stats>(
    site.keys,
    '/referrals/stats?external_user_id=new-user',
  );
  expect({ status, referral_link }).toEqual({ status: 'approved', referral_link: link });

  await expectFits(page, frame);
  const [before = 0] = await heights(page);
  await page.setViewportSize({ width: 320, height: 900 });
  await expect.poll(async () => (await heights(page))[0]).toBeGreaterThan(before);
  await expectFits(page, frame);
  // It shrinks as well.
  await page.setViewportSize({ width: 900, height: 900 });
  await expect.poll(async () => (await heights(page))[0]).toBe(before);
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  // The policy is in force, and the test detects a violation.
  await frame.evaluate(`document.body.setAttribute('style', 'color: red')`);
  await expect.poll(() => page.watched.violations.length).toBe(1);
  await page.close();
});

test('a direct iframe sends its height to a page that listens as the specification shows', async () => {
  const page =
    await site.open(`<iframe title="Referrals" style="width: 100%" src="${site.app}/embed/referrals?key=${site.keys.publishable}&uid=direct&days=7"></iframe>
    <script>addEventListener('message', (event) => {
      if (event.data.type === 'service:embed:height') {
        document.querySelector('iframe').style.height = event.data.height + 'px';
      }
    });</script>`);
  const frame = await dashboardIn(page);
  await expectFits(page, frame);
  expect(await frame.inputValue('select')).toBe('7');
  await page.close();
});

test("a height is accepted from the iframe's own window and the expected origin only", async () => {
  const page = await site.open(`<div id="one"></div><div id="two"></div>
    ${site.script('data-user-id="a" data-mount="#one"')}${site.script('data-user-id="b" data-mount="#two"')}`);
  const settled = async () => (await heights(page))[0];
  await expectFits(page, await dashboardIn(page, undefined, 0));
  const second = await dashboardIn(page, undefined, 1);
  // Otherwise its own height could follow the forged one.
  await expectFits(page, second, 1);
  const [first] = await heights(page);
  const forged = `({ type: 'service:embed:height', height: 7777 })`;

  // The host's own window; then another window of the right origin.
  await page.evaluate(`window.postMessage(${forged}, '*')`);
  await second.evaluate(`window.parent.postMessage(${forged}, '*')`);
  await expect.poll(async () => (await heights(page))[1]).toBe(7777);
  expect(await settled()).toBe(first);

  // The right window at another origin: the frame was navigated away.
  const [away] = await page.$$('iframe');
  await away?.evaluate((frame, url) => {
    (frame as unknown as { src: string }).src = url;
  }, `${site.origin}/elsewhere`);
  const elsewhere = await away?.contentFrame();
  await elsewhere?.waitForURL(`${site.origin}/elsewhere`);
  // The listener of the loader is older: it has handled the message when this one runs.
  await page.evaluate(`void (window.forged = new Promise((resolve) => addEventListener('message', ({ source }) => {
    if (source === document.querySelector('iframe').contentWindow) resolve();
  })))`);
  await elsewhere?.evaluate(`window.parent.postMessage(${forged}, '*')`);
  await page.evaluate('window.forged');
  expect(await settled()).toBe(first);
  await page.close();
});

test('invalid parameters are named in the page, and the API is not called', async () => {
  const page = await site.open(
    site.script('data-user-id="x" data-theme="pink" data-days="100" data-accent="red" data-user-tier="gold"'),
  );
  const frame = await dashboardIn(page, 'This dashboard is not set up correctly');
  const text = await frame.textContent('main');
  for (const attribute of ['data-theme', 'data-days', 'data-accent', 'data-user-tier']) {
    expect(text).toContain(attribute);
  }
  expect(await axeViolations(frame)).toEqual([]);
  expect(page.watched.calls).toEqual([]);
  await page.close();
});

test('data-api-base redirects the calls, and its page may connect there', async () => {
  const elsewhere = site.app.replace('127.0.0.1', 'localhost');
  const page = await site.open(site.script(`data-user-id="base" data-api-base="${elsewhere}"`));
  await dashboardIn(page);
  expect(page.watched.violations).toEqual([]);
  expect(page.watched.foreign).toHaveLength(
    page.watched.foreign.filter((url) => url.startsWith(elsewhere)).length,
  );
  expect(page.watched.foreign[0]).toContain('/api/v1/referrals/stats');
  await page.close();
});

test('a mount that does not exist and a script in the head do no harm', async () => {
  const page = await site.open(`<div id="root"></div>${site.script('data-user-id="m" data-mount="#nowhere"')}
    ${site.script('data-user-id="m" data-mount="]["')}${site.script('data-user-id="m" data-mount="#root"')}
    ${site.script('data-user-id="m" data-mount="#root"')}`);
  await dashboardIn(page);
  // The script that ran twice has one dashboard, in its mount.
  expect(await page.$$eval('iframe', (frames) => frames.map((frame) => frame.parentElement?.id))).toEqual([
    'root',
  ]);
  expect(page.watched.errors).toEqual([]);
  await page.close();
});

test('the script waits ten seconds for a mount that comes later, and then says that none came', async () => {
  const page = await site.open('<p>An application</p>');
  const told: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && message.text().includes('data-mount')) told.push(message.text());
  });
  await page.clock.install();
  // Real time must not add to what the test lets pass.
  await page.clock.pauseAt(Date.now() + 60_000);
  const run = (selector: string) =>
    page.evaluate(`new Promise((resolve) => {
      const script = document.createElement('script');
      script.src = ${JSON.stringify(`${site.app}/embed.js`)};
      Object.assign(script.dataset, { key: ${JSON.stringify(site.keys.publishable)}, userId: 'late', mount: '${selector}' });
      script.onload = resolve;
      document.body.append(script);
    })`);
  await run('#late');
  await run('#never');
  await page.clock.runFor(9_000);
  expect([await page.locator('iframe').count(), told]).toEqual([0, []]);
  // Sets the id of an existing element, as applications do.
  await page.evaluate(`document.querySelector('p').id = 'late'`);
  await expect.poll(() => page.locator('#late > iframe').count()).toBe(1);
  await page.clock.runFor(1_100);
  await expect.poll(() => told).toEqual([expect.stringContaining('"#never" within 10 seconds')]);
  await page.clock.resume();
  await dashboardIn(page);
  await page.close();
});

test('a page that is restored, and an effect that runs twice, have one dashboard', async () => {
  const page = await site.open(
    `<div id="restored">${site.script('data-user-id="restored"')}</div><div id="effect"></div>`,
  );
  await dashboardIn(page);
  // Restores the snapshot with the iframe, whose scripts run again, as Turbo does after "back".
  await page.evaluate(`{
    const old = document.querySelector('#restored script');
    const again = document.createElement('script');
    for (const { name, value } of old.attributes) again.setAttribute(name, value);
    old.replaceWith(again);
  }`);
  // Each run appends a script, as in React's strict mode.
  await page.evaluate(`for (let run = 0; run < 2; run++) {
    const script = document.createElement('script');
    script.src = ${JSON.stringify(`${site.app}/embed.js`)};
    script.dataset.key = ${JSON.stringify(site.keys.publishable)};
    script.dataset.userId = 'effect';
    document.querySelector('#effect').append(script);
  }`);
  await page.waitForLoadState('networkidle');
  for (const place of ['#restored', '#effect'])
    await expect.poll(() => page.locator(`${place} iframe`).count()).toBe(1);
  await dashboardIn(page, undefined, 0);
  await dashboardIn(page, undefined, 1);
  await page.close();
});

test('shows in a page with Cross-Origin-Embedder-Policy, and in a sandboxed frame', async () => {
  const page = await site.open(site.script('data-user-id="isolated"'), {
    headers: { 'cross-origin-embedder-policy': 'require-corp', 'cross-origin-opener-policy': 'same-origin' },
  });
  await dashboardIn(page);
  expect(await page.evaluate('crossOriginIsolated')).toBe(true);
  await page.close();
  const address = `${site.app}/embed/referrals?key=${site.keys.publishable}&uid=sandboxed`;
  const sandboxed = await site.open(`<iframe sandbox="allow-scripts" src="${address}"></iframe>`);
  await dashboardIn(sandboxed);
  await sandboxed.close();
});
