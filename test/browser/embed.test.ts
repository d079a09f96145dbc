import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Stats } from '../../api/referrals/schemas.ts';
import type { Stats as PageStats } from '../../web/embed/stats.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { dashboardIn, type EmbedSite, type Keys, startEmbedSite, tabTo } from './embed-site.ts';
import { axeViolations } from './page-watch.ts';

const PROGRAM = {
  name: 'Friends',
  destination_url: 'https://shop.example/welcome',
  credit_enabled: true,
  credit_kind: 'credits',
  signup_credit: { free: 5, paid: 10 },
  commission_type: 'percent',
  commission_rate: 20,
  hold_days: 0,
  allow_affiliate_upgrade: true,
  payout_methods: ['paypal', 'payoneer', 'wise'],
  min_payout: 50,
  currency: 'eur',
};
const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

let site: EmbedSite;
let keys: Keys;

beforeAll(async () => {
  if (NO_CHROMIUM) return;
  site = await startEmbedSite();
  const { secret_key: secret = '', publishable_key: publishable = '' } = site.service.demo ?? {};
  keys = { secret, publishable };
  await site.api(keys, '/programs', PROGRAM);
});
afterAll(async () => {
  if (!NO_CHROMIUM) await site.close();
});
beforeEach((context) => context.skip(Boolean(NO_CHROMIUM), String(NO_CHROMIUM)));

/** What the page reads is what the API's schema says: a matter of the compiler. */
const readable = (stats: Stats): PageStats => stats;

const script = (attributes: string, key = keys.publishable) =>
  `<script src="${site.app}/embed.js" data-key="${key}" ${attributes}></script>`;
const pageUrl = (query: string, key = keys.publishable) => `${site.app}/embed/referrals?key=${key}&${query}`;

const heights = (page: Page) =>
  page.$$eval('iframe', (frames) => frames.map((frame) => Number.parseInt(frame.style.height, 10)));
const contentHeight = (frame: Frame): Promise<number> =>
  frame.evaluate('Math.ceil(document.documentElement.getBoundingClientRect().height)');

/** A referrer with a click, a signup and two purchases, one refunded in part. */
async function addReferrer(id: string, mode: 'referrer' | 'affiliate'): Promise<void> {
  const stats = readable(await site.api<Stats>(keys, `/referrals/stats?external_user_id=${id}`));
  await fetch(stats.referral_link, { redirect: 'manual', headers: { 'user-agent': PERSON } });
  const friend = `${id}-friend`;
  await site.api(keys, '/referrals/reward-mode', { external_user_id: id, mode });
  await site.api(keys, '/referrals/report-signup', {
    new_user_external_user_id: friend,
    email: `${friend}@example.org`,
    referrer_external_user_id: id,
  });
  await site.api(keys, '/referrals/report-purchase', {
    external_user_id: friend,
    order_id: `${id}-1`,
    amount: 100,
    currency: 'eur',
  });
}

test('the script puts a dashboard at its place, enrolls the user and keeps the iframe as high as its content', async () => {
  const page = await site.open(`<p id="before">Before</p>${script('data-user-id="new-user"')}<p>After</p>`);
  const frame = await dashboardIn(page);
  const iframe = page.locator('script + iframe');
  expect(await iframe.getAttribute('title')).toBe('Referral dashboard');
  expect(await iframe.getAttribute('scrolling')).toBe('no');

  const link = await frame.inputValue('.link-row input');
  expect(link.startsWith(site.service.short_url)).toBe(true);
  const { status, referral_link } = await site.api<Stats>(keys, '/referrals/stats?external_user_id=new-user');
  expect({ status, referral_link }).toEqual({ status: 'approved', referral_link: link });

  await expect.poll(async () => (await heights(page))[0]).toBe(await contentHeight(frame));
  const [before = 0] = await heights(page);
  await page.setViewportSize({ width: 320, height: 900 });
  await expect.poll(async () => (await heights(page))[0]).toBeGreaterThan(before);
  await expect.poll(async () => (await heights(page))[0]).toBe(await contentHeight(frame));
  // It shrinks as well.
  await page.setViewportSize({ width: 900, height: 900 });
  await expect.poll(async () => (await heights(page))[0]).toBe(before);
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  // The policy holds, and the test would see a breach.
  await frame.evaluate(`document.body.setAttribute('style', 'color: red')`);
  await expect.poll(() => page.watched.violations.length).toBe(1);
  await page.close();
});

test('a direct iframe tells its height to a page that listens as the specification shows', async () => {
  const page =
    await site.open(`<iframe title="Referrals" style="width: 100%" src="${pageUrl('uid=direct&days=7')}"></iframe>
    <script>addEventListener('message', (event) => {
      if (event.data.type === 'service:embed:height') {
        document.querySelector('iframe').style.height = event.data.height + 'px';
      }
    });</script>`);
  const frame = await dashboardIn(page);
  await expect.poll(async () => (await heights(page))[0]).toBe(await contentHeight(frame));
  expect(await frame.inputValue('select')).toBe('7');
  await page.close();
});

test("a height is taken from the iframe's own window and the expected origin only", async () => {
  const page = await site.open(`<div id="one"></div><div id="two"></div>
    ${script('data-user-id="a" data-mount="#one"')}${script('data-user-id="b" data-mount="#two"')}`);
  await dashboardIn(page, undefined, 0);
  const second = await dashboardIn(page, undefined, 1);
  const settled = async () => (await heights(page))[0];
  await expect.poll(settled).toBe(await contentHeight(await dashboardIn(page, undefined, 0)));
  const [first] = await heights(page);
  const forged = `({ type: 'service:embed:height', height: 7777 })`;

  // The host's own window; then a window of the right origin that is another's.
  await page.evaluate(`window.postMessage(${forged}, '*')`);
  await second.evaluate(`window.parent.postMessage(${forged}, '*')`);
  await expect.poll(async () => (await heights(page))[1]).toBe(7777);
  expect(await settled()).toBe(first);

  // The right window at another origin: the frame was led away.
  const [away] = await page.$$('iframe');
  await away?.evaluate((frame, url) => {
    (frame as unknown as { src: string }).src = url;
  }, `${site.origin}/elsewhere`);
  const elsewhere = await away?.contentFrame();
  await elsewhere?.waitForURL(`${site.origin}/elsewhere`);
  await elsewhere?.evaluate(`window.parent.postMessage(${forged}, '*')`);
  await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 100))`);
  expect(await settled()).toBe(first);
  await page.close();
});

test('with the keyboard alone: copy the link, switch to cash, save a payout method, see it masked', async () => {
  const page = await site.open(script('data-user-id="keys"'), { clipboard: true });
  const frame = await dashboardIn(page);
  await tabTo(page, frame, 'Copy');
  await page.keyboard.press('Enter');
  await frame.waitForSelector('button:has-text("Copied")');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    await frame.inputValue('.link-row input'),
  );
  expect(await frame.textContent('[role=status]')).toBe('Link copied.');

  await tabTo(page, frame, 'Cash');
  // Whoever uses the keyboard sees where they are.
  expect(await frame.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid');
  await page.keyboard.press('Enter');
  await frame.waitForSelector('h2:text-is("Payout method")');
  expect(await frame.textContent('[role=status]')).toBe('From now on you earn a cash commission.');
  expect(await frame.evaluate('document.activeElement.textContent')).toBe('Cash');

  await tabTo(page, frame, 'PayPal');
  await page.keyboard.press('ArrowDown');
  await tabTo(page, frame, 'Email of your Payoneer account');
  await page.keyboard.type('not an address');
  await page.keyboard.press('Enter');
  await frame.waitForSelector('[role=alert]:has-text("email address")');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('ada.lovelace@example.com');
  await page.keyboard.press('Enter');
  await frame.waitForSelector('.saved:has-text("a***@example.com")');
  expect(await frame.evaluate('document.activeElement.textContent')).toBe('Change payout method');
  expect(await frame.textContent('body')).not.toContain('lovelace');

  const { reward_mode, affiliate } = await site.api<Stats>(keys, '/referrals/stats?external_user_id=keys');
  expect(reward_mode).toBe('affiliate');
  expect(affiliate.payout_method).toEqual({ method: 'payoneer', email: 'a***@example.com' });
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  await page.close();
});

test('an affiliate goes back to credits, for good, once the programme lets nobody become one', async () => {
  const closed = await site.addWorkspace('Closed', 'unlimited');
  const { id } = await site.api<{ id: string }>(closed, '/programs', PROGRAM);
  const statsOf = (user: string) => site.api<Stats>(closed, `/referrals/stats?external_user_id=${user}`);
  await statsOf('plain');
  await statsOf('cash');
  await site.api(closed, '/referrals/reward-mode', { external_user_id: 'cash', mode: 'affiliate' });
  await site.change(closed, `/programs/${id}`, { allow_affiliate_upgrade: false });

  const page = await site.open(script('data-user-id="cash"', closed.publishable));
  const frame = await dashboardIn(page);
  expect(await frame.textContent('#mode-hint')).toContain('once you choose credits, you can not switch back');
  await tabTo(page, frame, 'Credits');
  await page.keyboard.press('Enter');
  await frame.waitForSelector('button[aria-pressed=true]:text-is("Credits")');
  expect(await frame.textContent('[role=status]')).toBe('From now on you earn credits.');
  expect(await frame.evaluate('document.activeElement.textContent')).toBe('Credits');
  expect(await frame.textContent('#mode-hint')).not.toContain('switch back');
  expect(await frame.isDisabled('button:text-is("Cash")')).toBe(true);
  expect(await axeViolations(frame)).toEqual([]);
  expect((await statsOf('cash')).reward_mode).toBe('referrer');
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  await page.close();

  for (const user of ['cash', 'plain']) {
    const again = await site.open(script(`data-user-id="${user}"`, closed.publishable));
    expect(await (await dashboardIn(again)).$$('.mode'), user).toEqual([]);
    await again.close();
  }
});

test('a programme without credits shows its cash before any was earned, and nothing to go back to', async () => {
  const cashOnly = await site.addWorkspace('Cash only', 'unlimited');
  await site.api(cashOnly, '/programs', { ...PROGRAM, credit_enabled: false });
  await site.api(cashOnly, '/referrals/stats?external_user_id=u');
  await site.api(cashOnly, '/referrals/reward-mode', { external_user_id: 'u', mode: 'affiliate' });
  const embeds = ['u', 'new'].map((user) => script(`data-user-id="${user}"`, cashOnly.publishable));
  const page = await site.open(embeds.join(''));
  const [frame, newcomers] = [await dashboardIn(page), await dashboardIn(page, undefined, 1)];
  await frame.waitForSelector('h2:text-is("Payout method")');
  const headings = await newcomers.$$eval('h2', (all) => all.map((heading) => heading.textContent));
  expect(headings.slice(-3)).toEqual(['Cash balance', 'Payout history', 'Recent commissions']);
  expect(headings).not.toContain('Rewards');
  expect([...(await frame.$$('.mode')), ...(await newcomers.$$('.mode'))]).toEqual([]);
  await page.close();
});

test('both modes in both themes pass axe, fit 280 px and show what was earned', async () => {
  await addReferrer('credit-user', 'referrer');
  await addReferrer('cash-user', 'affiliate');
  // The click is stored within seconds; until then there is no chart to check for the days.
  await expect
    .poll(
      async () => (await site.api<Stats>(keys, '/referrals/stats?external_user_id=cash-user')).stats.clicks,
      {
        timeout: 20_000,
      },
    )
    .toBe(1);
  for (const theme of ['light', 'dark']) {
    for (const user of ['credit-user', 'cash-user']) {
      const page = await site.open(
        script(`data-user-id="${user}" data-theme="${theme}" data-accent="#facc15"`),
      );
      const frame = await dashboardIn(page);
      await frame.waitForSelector('.plot canvas');
      await frame.click('summary');
      await frame.waitForSelector('.days tbody tr >> nth=29');
      const text = (await frame.textContent('main'))?.replace(/\s/g, ' ') ?? '';
      expect(text).toMatch(user === 'cash-user' ? /Eligible€20\.00.*Minimum payout: €50\.00/ : /Earned5/);
      expect(await axeViolations(frame), `${user}, ${theme}`).toEqual([]);
      await page.setViewportSize({ width: 296, height: 900 });
      const overflow = await frame.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, `${user}, ${theme}`).toBe(0);
      expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
      await page.close();
    }
  }
});

test('who is not paid yet is told why: no payout method, or a participation that is suspended', async () => {
  const own = await site.addWorkspace('Held back', 'unlimited');
  await site.api(own, '/programs', { ...PROGRAM, min_payout: 10 });
  await site.api(own, '/referrals/stats?external_user_id=held');
  await site.api(own, '/referrals/reward-mode', { external_user_id: 'held', mode: 'affiliate' });
  await site.api(own, '/referrals/report-signup', {
    new_user_external_user_id: 'friend',
    email: 'friend@example.org',
    referrer_external_user_id: 'held',
  });
  const order = { external_user_id: 'friend', order_id: 'held-1', amount: 100, currency: 'eur' };
  await site.api(own, '/referrals/report-purchase', order);
  const page = await site.open(script('data-user-id="held"', own.publishable));
  const told = async () => {
    await page.reload();
    const frame = await dashboardIn(page);
    return (await frame.textContent('section[aria-labelledby=cash-heading]'))?.replace(/\s/g, ' ');
  };
  const reached = 'The minimum payout of €10.00 is reached';
  expect(await told()).toContain(`${reached}: add a payout method to be paid.`);
  const method = { external_user_id: 'held', method: 'paypal', email: 'held@example.org' };
  await site.api(own, '/referrals/payout-method', method);
  expect(await told()).toContain(`${reached}: you are paid with the next payout.`);
  const { enrollments } = await site.api<{ enrollments: { partner_id: string }[] }>(own, '/enrollments');
  await site.change(own, `/enrollments/${enrollments[0]?.partner_id}`, { status: 'suspended' });
  const text = await told();
  expect(text).toContain('Payouts are on hold while your participation is suspended.');
  expect(text).not.toContain('you are paid');
  await page.close();
});

test('parameters that can not be used are named in the page, and nothing is asked of the API', async () => {
  const page = await site.open(
    script('data-user-id="x" data-theme="pink" data-days="100" data-accent="red" data-user-tier="gold"'),
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

test('a wrong key, an uncovered plan, no programme and no connection each say so, and can be retried', async () => {
  const free = await site.addWorkspace('Free', 'free');
  const empty = await site.addWorkspace('Empty', 'unlimited');
  const unknown = `pk_live_00000000_${'0'.repeat(48)}`;
  for (const [key, heading, hint] of [
    [unknown, 'Referrals are not available right now', '401'],
    [free.publishable, 'Referrals are not available right now', '402'],
    [empty.publishable, 'No referral programme yet', '/api/v1/programs'],
  ] as const) {
    const page = await site.open(script('data-user-id="u" data-theme="dark"', key));
    const frame = await dashboardIn(page, heading);
    expect(await frame.textContent('[role=alert]')).toContain(hint);
    expect(await axeViolations(frame)).toEqual([]);
    await page.close();
  }
  const page = await site.open('');
  await page.route('**/referrals/stats*', (route) => route.abort());
  await page.setContent(script('data-user-id="offline"'));
  const frame = await dashboardIn(page, 'No connection');
  await page.unroute('**/referrals/stats*');
  await frame.click('button:has-text("Try again")');
  await frame.waitForSelector('h1:text-is("Your referrals")');
  await page.close();
});

test('a change of days that fails leaves the dashboard as it is and is tried again with those days', async () => {
  await site.api(keys, '/referrals/stats?external_user_id=days');
  await site.api(keys, '/referrals/reward-mode', { external_user_id: 'days', mode: 'affiliate' });
  const page = await site.open(script('data-user-id="days"'));
  const frame = await dashboardIn(page);
  await frame.fill('#payout-email', 'half@typed');
  const status = () => frame.textContent('[role=status]');
  expect(await status()).toBe('Figures of the last 30 days are shown.');
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
    'No connection: the last 7 days could not be loaded. You still see the last 30 days.',
  );
  expect(await frame.isVisible('.link-row input')).toBe(true);
  expect(await axeViolations(frame)).toEqual([]);
  isOffline = false;
  await frame.click('button:has-text("Try again")');
  await notice.waitFor({ state: 'detached' });
  await expect.poll(status).toBe('Figures of the last 7 days are shown.');
  expect(asked).toEqual(['7', '7']);
  expect(await frame.inputValue('select')).toBe('7');
  expect(await frame.evaluate('document.activeElement.tagName')).toBe('SELECT');
  expect(await frame.inputValue('#payout-email')).toBe('half@typed');
  expect(page.watched.violations).toEqual([]);
  await page.close();
});

test('figures that were asked for before the mode was switched do not show the old one again', async () => {
  await site.api(keys, '/referrals/stats?external_user_id=late');
  const page = await site.open(script('data-user-id="late"'));
  const frame = await dashboardIn(page);
  const held = Promise.withResolvers<void>();
  let reads = 0;
  await page.route('**/referrals/stats*', async (route) => {
    reads += 1;
    if (reads > 1) return route.continue();
    // Read before the switch, answered after it.
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

test('data-api-base leads the calls elsewhere, and its page may connect there', async () => {
  const elsewhere = site.app.replace('127.0.0.1', 'localhost');
  const page = await site.open(script(`data-user-id="base" data-api-base="${elsewhere}"`));
  await dashboardIn(page);
  expect(page.watched.violations).toEqual([]);
  expect(page.watched.foreign).toHaveLength(
    page.watched.foreign.filter((url) => url.startsWith(elsewhere)).length,
  );
  expect(page.watched.foreign[0]).toContain('/api/v1/referrals/stats');
  await page.close();
});

test('a mount that does not exist and a script in the head do no harm', async () => {
  const page = await site.open(`<div id="root"></div>${script('data-user-id="m" data-mount="#nowhere"')}
    ${script('data-user-id="m" data-mount="]["')}${script('data-user-id="m" data-mount="#root"')}
    ${script('data-user-id="m" data-mount="#root"')}`);
  await dashboardIn(page);
  // The script that ran twice has one dashboard, in its mount.
  expect(await page.$$eval('iframe', (frames) => frames.map((frame) => frame.parentElement?.id))).toEqual([
    'root',
  ]);
  expect(page.watched.errors).toEqual([]);
  await page.close();
});
