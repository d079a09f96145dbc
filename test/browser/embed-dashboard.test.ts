import { expect, test } from 'vitest';
import type { Stats } from '../../api/referrals/schemas.ts';
import type { Stats as PageStats } from '../../web/embed/stats.ts';
import { visitNew } from '../support/visitors.ts';
import { dashboardIn, type EmbedSite, PROGRAM, startEmbedSite, tabTo } from './embed-site.ts';
import { inChromium } from './in-chromium.ts';
import { nextName } from './next-name.ts';
import { axeViolations } from './page-watch.ts';

let site: EmbedSite;

inChromium(async () => {
  site = await startEmbedSite();
  return site.close;
});

/** Checked by the compiler: the page reads what the API's schema declares. */
const readable = (stats: Stats): PageStats => stats;

/** A referrer with a click, a signup and a purchase; an affiliate is paid to a long address. */
async function addReferrer(id: string, mode: 'referrer' | 'affiliate'): Promise<void> {
  const stats = readable(await site.api<Stats>(site.keys, `/referrals/stats?external_user_id=${id}`));
  await visitNew(stats.referral_link);
  const friend = `${id}-friend`;
  await site.api(site.keys, '/referrals/reward-mode', { external_user_id: id, mode });
  if (mode === 'affiliate') {
    const email = `${id}@${'department.'.repeat(6)}example`;
    await site.api(site.keys, '/referrals/payout-method', { external_user_id: id, method: 'wise', email });
  }
  await site.api(site.keys, '/referrals/report-signup', {
    new_user_external_user_id: friend,
    email: `${friend}@example.org`,
    referrer_external_user_id: id,
  });
  await site.api(site.keys, '/referrals/report-purchase', {
    external_user_id: friend,
    order_id: `${id}-1`,
    amount: 100,
    currency: 'eur',
  });
}

test('the referrer sees and copies their coupons', async () => {
  await site.api<Stats>(site.keys, '/referrals/stats?external_user_id=coupons');
  for (const code of ['SPRING-10', 'ANNA20']) {
    await site.api(site.keys, '/coupons', { code, external_user_id: 'coupons' });
  }
  const page = await site.open(site.script('data-user-id="coupons"'), { clipboard: true });
  const frame = await dashboardIn(page);
  await frame.waitForSelector('h2:text-is("Your coupons")');
  expect(
    await frame
      .locator('.codes input')
      .evaluateAll((fields) => fields.map((field) => (field as { value?: string }).value)),
  ).toEqual(['ANNA20', 'SPRING-10']);
  const copy = frame.locator('.codes button').first();
  const named = await nextName(copy);
  await copy.click();
  expect(await named()).toBe('Copied');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('ANNA20');
  await expect.poll(() => frame.textContent('[role=status]')).toBe('Code copied.');
  expect(await axeViolations(frame)).toEqual([]);
  await page.close();
});

test('with the keyboard alone: copy the link, switch to cash, save a payout method, see it masked', async () => {
  const page = await site.open(site.script('data-user-id="keys"'), { clipboard: true });
  const frame = await dashboardIn(page);
  await tabTo(page, frame, 'Copy');
  const named = await nextName(frame.locator('.link-row button'));
  await page.keyboard.press('Enter');
  expect(await named()).toBe('Copied');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    await frame.inputValue('.link-row input'),
  );
  await expect.poll(() => frame.textContent('[role=status]')).toBe('Link copied.');

  await tabTo(page, frame, 'Cash');
  // A keyboard user sees the focus.
  expect(await frame.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid');
  await page.keyboard.press('Enter');
  await frame.waitForSelector('h2:text-is("Payout method")');
  await expect.poll(() => frame.textContent('[role=status]')).toBe('From now on you earn a cash commission.');
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
  // The focus moves after the paint.
  await expect.poll(() => frame.evaluate('document.activeElement.textContent')).toBe('Change');
  expect(await frame.textContent('body')).not.toContain('lovelace');

  const { reward_mode, affiliate } = await site.api<Stats>(
    site.keys,
    '/referrals/stats?external_user_id=keys',
  );
  expect(reward_mode).toBe('affiliate');
  expect(affiliate.payout_method).toEqual({ method: 'payoneer', email: 'a***@example.com' });
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  await page.close();
});

test('an affiliate returns to credits, for good, once the program allows no new affiliates', async () => {
  const closed = await site.addWorkspace('Closed', 'unlimited');
  const { id } = await site.api<{ id: string }>(closed, '/programs', PROGRAM);
  const statsOf = (user: string) => site.api<Stats>(closed, `/referrals/stats?external_user_id=${user}`);
  await statsOf('plain');
  await statsOf('cash');
  await site.api(closed, '/referrals/reward-mode', { external_user_id: 'cash', mode: 'affiliate' });
  await site.change(closed, `/programs/${id}`, { allow_affiliate_upgrade: false });

  const page = await site.open(site.script('data-user-id="cash"', closed.publishable));
  const frame = await dashboardIn(page);
  expect(await frame.textContent('#mode-hint')).toContain('Once you choose credits, you cannot switch back');
  await tabTo(page, frame, 'Credits');
  await page.keyboard.press('Enter');
  // The button counts as pressed while the response is pending.
  await expect.poll(() => frame.textContent('[role=status]')).toBe('From now on you earn credits.');
  expect(await frame.isVisible('button[aria-pressed=true]:text-is("Credits")')).toBe(true);
  expect(await frame.evaluate('document.activeElement.textContent')).toBe('Credits');
  expect(await frame.textContent('#mode-hint')).not.toContain('switch back');
  expect(await frame.isDisabled('button:text-is("Cash")')).toBe(true);
  expect(await axeViolations(frame)).toEqual([]);
  expect((await statsOf('cash')).reward_mode).toBe('referrer');
  expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
  await page.close();

  for (const user of ['cash', 'plain']) {
    const again = await site.open(site.script(`data-user-id="${user}"`, closed.publishable));
    expect(await (await dashboardIn(again)).$$('.mode'), user).toEqual([]);
    await again.close();
  }
});

test('a program without credits shows its cash, asks everyone for an address, and offers no way back to credits', async () => {
  const cashOnly = await site.addWorkspace('Cash only', 'unlimited');
  await site.api(cashOnly, '/programs', { ...PROGRAM, credit_enabled: false });
  await site.api(cashOnly, '/referrals/stats?external_user_id=u');
  await site.api(cashOnly, '/referrals/reward-mode', { external_user_id: 'u', mode: 'referrer' });
  const embeds = ['u', 'new'].map((user) => site.script(`data-user-id="${user}"`, cashOnly.publishable));
  const page = await site.open(embeds.join(''));
  const [frame, newcomers] = [await dashboardIn(page), await dashboardIn(page, undefined, 1)];
  await frame.waitForSelector('h2:text-is("Payout method")');
  const headings = await newcomers.$$eval('h2', (all) => all.map((heading) => heading.textContent));
  expect(headings.slice(-4)).toEqual([
    'Cash balance',
    'Payout method',
    'Payout history',
    'Recent commissions',
  ]);
  expect(headings).not.toContain('Rewards');
  expect([...(await frame.$$('.mode')), ...(await newcomers.$$('.mode'))]).toEqual([]);
  await page.close();
});

test('the dashboard is in the language of the tag, passes axe, and fits a phone; Arabic runs from right to left', async () => {
  await addReferrer('reader', 'affiliate');
  const told = [
    ['ar', 'rtl', 'إحالاتك', 'تكسب'],
    ['de', 'ltr', 'Ihre Empfehlungen', 'Sie erhalten 20 % von jeder Zahlung eines Kunden.'],
    ['ja', 'ltr', 'あなたの紹介', '顧客の支払いごとに20%を獲得します。'],
  ] as const;
  for (const [language, direction, heading, terms] of told) {
    const theme = language === 'de' ? 'dark' : 'light';
    const page = await site.open(
      site.script(`data-user-id="reader" data-language="${language}" data-theme="${theme}"`),
      { width: 390 },
    );
    const frame = await dashboardIn(page, heading);
    expect(await frame.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
      language,
      direction,
    ]);
    expect((await frame.textContent('.terms'))?.replace(/\s/g, ' ')).toContain(terms);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    await expect.poll(() => frame.evaluate(overflow), { message: language }).toBe(0);
    expect(await axeViolations(frame), language).toEqual([]);
    // A link is read from left to right in any language.
    expect(await frame.evaluate(`getComputedStyle(document.querySelector('.field')).direction`)).toBe('ltr');
    expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
    await page.close();
  }
  const page = await site.open(site.script('data-user-id="reader" data-language="xx"'));
  const frame = await dashboardIn(page, 'This dashboard is not set up correctly');
  expect(await frame.textContent('.problems')).toContain('data-language');
  await page.close();
});

test('both modes in both themes pass axe, fit 280 px and show what was earned', async () => {
  await addReferrer('credit-user', 'referrer');
  await addReferrer('cash-user', 'affiliate');
  // The click is stored within seconds; until then there is no chart to check for the days.
  await expect
    .poll(
      async () =>
        (await site.api<Stats>(site.keys, '/referrals/stats?external_user_id=cash-user')).stats.clicks,
    )
    .toBe(1);
  for (const theme of ['light', 'dark']) {
    for (const user of ['credit-user', 'cash-user']) {
      const page = await site.open(
        site.script(`data-user-id="${user}" data-theme="${theme}" data-accent="#facc15"`),
      );
      const frame = await dashboardIn(page);
      await frame.waitForSelector('.plot canvas');
      await frame.click('summary');
      await frame.waitForSelector('.days tbody tr >> nth=29');
      const text = (await frame.textContent('main'))?.replace(/\s/g, ' ') ?? '';
      expect(text).toMatch(user === 'cash-user' ? /Eligible€20\.00.*Minimum payout: €50\.00/ : /Earned5/);
      // The terms, in the user's mode.
      expect(text).toContain(
        user === 'cash-user'
          ? 'You earn 20% of each payment of a customer.'
          : 'You earn 5 credits for a signup.',
      );
      expect(await axeViolations(frame), `${user}, ${theme}`).toEqual([]);
      await page.setViewportSize({ width: 296, height: 900 });
      // The chart follows the width a moment later.
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      await expect.poll(() => frame.evaluate(overflow), { message: `${user}, ${theme}` }).toBe(0);
      expect(page.watched).toMatchObject({ violations: [], errors: [], foreign: [] });
      await page.close();
    }
  }
});

test('an affiliate reads the terms, and at each amount when it can be paid', async () => {
  const own = await site.addWorkspace('On hold', 'unlimited');
  const terms = { credit_enabled: false, commission_months: 12, hold_days: 30 };
  await site.api(own, '/programs', { ...PROGRAM, ...terms });
  await site.api(own, '/referrals/stats?external_user_id=waiting');
  await site.api(own, '/referrals/report-signup', {
    new_user_external_user_id: 'friend',
    email: 'friend@example.org',
    referrer_external_user_id: 'waiting',
  });
  for (const [order_id, amount] of [
    ['kept', 100],
    ['returned', 50],
  ] as const) {
    const order = { external_user_id: 'friend', order_id, amount, currency: 'eur' };
    await site.api(own, '/referrals/report-purchase', order);
  }
  await site.api(own, '/referrals/report-refund', { refund_id: 'r-1', order_id: 'returned' });
  const { affiliate } = await site.api<Stats>(own, '/referrals/stats?external_user_id=waiting');
  const kept = affiliate.recent_commissions.find(({ amount }) => amount === 100);
  const day = new Date(kept?.held_until ?? 0).toLocaleDateString('en-US', {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
  const page = await site.open(site.script('data-user-id="waiting" data-language="en"', own.publishable));
  const frame = await dashboardIn(page);
  const text = async (selector: string) => (await frame.textContent(selector))?.replace(/\s/g, ' ');
  expect(await text('.link-card')).toContain(
    'You earn 20% of each payment of a customer for 12 months. Eligible for payout after 30 days.',
  );
  const listed = await text('section[aria-labelledby=commissions-heading]');
  expect(listed).toContain(`Pending until ${day}€20.00`);
  expect(listed).toContain('Reversed€0.00');
  // No card of the columns leaves a hole beside it.
  const columns = '[...document.querySelectorAll(".columns > *")].map((one) => one.getBoundingClientRect())';
  const boxes = (await frame.evaluate(columns)) as { top: number; width: number }[];
  const rows = Map.groupBy(boxes, ({ top }) => Math.round(top));
  const full = Math.max(...boxes.map(({ width }) => width));
  for (const cards of rows.values()) expect(cards.length === 2 || cards[0]?.width === full).toBe(true);
  await page.close();
});

test('an unpaid affiliate is told why: no payout method, or a suspended participation', async () => {
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
  const page = await site.open(site.script('data-user-id="held"', own.publishable));
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
  // A page sets another address with the publishable key, as the embed does.
  await site.api({ ...own, secret: own.publishable }, '/referrals/payout-method', {
    ...method,
    email: 'new@example.org',
  });
  expect(await told()).toMatch(/is reached\.(?! you)/);
  const saved = (await dashboardIn(page)).locator('section[aria-labelledby=payout-heading]');
  expect(await saved.textContent()).toMatch(/New address: payable from \w+ \d+/);
  const { enrollments } = await site.api<{ enrollments: { partner_id: string }[] }>(own, '/enrollments');
  await site.change(own, `/enrollments/${enrollments[0]?.partner_id}`, { status: 'suspended' });
  const text = await told();
  expect(text).toContain('Payouts are on hold while your participation is suspended.');
  expect(text).not.toContain('you are paid');
  await page.close();
});
