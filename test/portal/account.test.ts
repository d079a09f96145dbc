import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildWeb } from '../../web/build.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import type { MailServer } from '../support/mail-server.ts';
import { applicationsOf, apply, browserAnywhere, openProgram, portalBrowser } from '../support/portal.ts';
import { type PortalBench, portalBench } from '../support/portal-bench.ts';
import { until } from '../support/until.ts';

let bench: PortalBench;
let api: TestApi;
let server: MailServer;
let shop: TestWorkspace;
let people: Affiliates;
type Affiliates = PortalBench['people'];
beforeAll(async () => {
  await buildWeb();
  bench = await portalBench();
  ({ api, server, people } = bench);
});
beforeEach(async () => {
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => bench.close());

/** An approved affiliate of a new program. */
const affiliate = (program: object = {}, workspace = shop) => people.affiliate(workspace, program);
const request: Affiliates['request'] = (...given) => people.request(...given);
const complete: Affiliates['complete'] = (...given) => people.complete(...given);
const tokenTo: Affiliates['tokenTo'] = (...given) => people.tokenTo(...given);
const signedIn: Affiliates['signedIn'] = (...given) => people.signedIn(...given);

/** Moves every sign-in an hour back. */
const age = () =>
  api.stores.pool.query("UPDATE portal_sessions SET created_at = created_at - interval '1 hour'");

describe('a sign-in by a link', () => {
  test('works once, and only in the browser that asked', async () => {
    const one = await affiliate();
    const browser = portalBrowser(api);
    await request(browser, one.program, one.email);
    const token = await tokenTo(one.email);
    const other = portalBrowser(api);
    // The other browser has asked too, for an address of its own.
    await request(other, one.program, 'somebody@else.example');
    expect((await complete(other, token)).statusCode).toBe(401);
    expect((await complete(portalBrowser(api), token)).statusCode).toBe(401);
    expect((await complete(browser, token)).statusCode).toBe(200);
    expect((await complete(browser, token)).statusCode).toBe(401);
    expect((await browser.page(`/p/${one.program.code}`)).body).toContain(one.link);
    await browser.post('/portal/sign-out', {});
    expect((await browser.page(`/p/${one.program.code}`)).body).not.toContain(one.link);
  });

  test('ends after ten minutes', async () => {
    const one = await affiliate();
    const browser = portalBrowser(api);
    await request(browser, one.program, one.email);
    const token = await tokenTo(one.email);
    const { rows } = await api.stores.pool.query<{ minutes: number }>(
      `UPDATE portal_sign_ins SET expires_at = now() WHERE email = $1
       RETURNING round(extract(epoch FROM expires_at - created_at) / 60)::integer AS minutes`,
      [one.email],
    );
    expect(rows).toHaveLength(1);
    expect((await complete(browser, token)).statusCode).toBe(401);
  });

  test('opens each program of the address, also of another workspace', async () => {
    const one = await affiliate();
    const second = await api.addWorkspace({ name: 'Second Shop' });
    const other = await openProgram(second, { review: 'none' }, { name: 'Second program' });
    await apply(browserAnywhere(api), other, { email: one.email });
    const browser = await signedIn(one);
    const page = await browser.page(`/p/${one.program.code}`);
    expect(page.body).toContain('Second program');
    const [{ referral_link } = { referral_link: null }] = await applicationsOf(second);
    expect((await browser.page(`/p/${other.code}`)).body).toContain(referral_link);
  });
});

describe('the page of an affiliate', () => {
  test('has link, code, figures, and the statement of a month', async () => {
    const one = await affiliate({ hold_days: 0, payout_methods: ['paypal'] });
    const user = (await applicationsOf(shop))[0]?.external_user_id;
    await shop.post('/referrals/report-signup', {
      new_user_external_user_id: 'n',
      email: 'n@friends.example',
      referrer_external_user_id: user,
    });
    await shop.post('/referrals/report-purchase', {
      external_user_id: 'n',
      order_id: 'o-1',
      amount: 200,
      currency: 'usd',
    });
    await shop.post('/coupons', { code: 'GRACE20', external_user_id: user });
    const browser = await signedIn(one);
    const page = await browser.page(`/p/${one.program.code}`, { 'accept-language': 'de' });
    expect(page.headers['content-language']).toBe('de');
    expect(page.headers['cache-control']).toBe('no-store');
    for (const shown of [one.link, 'GRACE20', '40,00\u00a0$', 'Ihr Link', 'Auszahlungsadresse'])
      expect(page.body).toContain(shown);
    const qr = await browser.page(`/p/${one.program.code}/qr.svg`);
    expect(qr.headers['content-type']).toBe('image/svg+xml');
    expect(qr.body).toContain(`${one.link}?qr=1`);
    const month = new Date().toISOString().slice(0, 7);
    const statement = await browser.page(`/p/${one.program.code}/statements/${month}`);
    expect(statement.body).toContain('$200.00');
    expect(statement.body).toContain('$40.00');
    expect(statement.body).toContain(one.email);
    const before = await browser.page(`/p/${one.program.code}/statements/2020-01`);
    expect(before.body).not.toContain('$40.00');
    expect((await browser.page(`/p/${one.program.code}/statements/2026-13`)).statusCode).toBe(302);
  });

  test('deletes the account in the program', async () => {
    const one = await affiliate();
    const browser = await signedIn(one);
    await age();
    const stale = await browser.post('/portal/delete-account', { code: one.program.code });
    expect(stale.statusCode).toBe(403);
    const again = await signedIn(one);
    expect((await again.post('/portal/delete-account', { code: one.program.code })).statusCode).toBe(200);
    expect((await shop.get(`/enrollments/${one.partnerId}`)).status).toBe(404);
    expect(await applicationsOf(shop)).toEqual([]);
    expect((await again.page(`/p/${one.program.code}`)).body).not.toContain(one.link);
  });
});

describe('an attacker', () => {
  test('sees nothing of another affiliate', async () => {
    const [mine, theirs] = [await affiliate(), await affiliate()];
    const browser = await signedIn(mine);
    const month = new Date().toISOString().slice(0, 7);
    for (const path of ['', '/qr.svg', `/statements/${month}`]) {
      const answer = await browser.page(`/p/${theirs.program.code}${path}`);
      expect([path, answer.body.includes(theirs.link), answer.body.includes(theirs.email)]).toEqual([
        path,
        false,
        false,
      ]);
    }
    const code = theirs.program.code;
    const method = { code, method: 'paypal', email: 'thief@own.example' };
    expect((await browser.post('/portal/payout-method', method)).statusCode).toBe(404);
    expect((await browser.post('/portal/delete-account', { code })).statusCode).toBe(404);
    const { body } = await shop.get<{ payout_method: null }>(`/enrollments/${theirs.partnerId}`);
    expect(body.payout_method).toBeNull();
  });

  test('does not learn whether an address has an account', async () => {
    const one = await affiliate();
    const timed = async (email: string) => {
      const start = performance.now();
      const { statusCode, body, headers } = await request(portalBrowser(api), one.program, email);
      const cookies = String(headers['set-cookie']).replace(/=[\w-]{43};/, '=;');
      // The work itself takes much less, so both leave at a multiple of the step.
      return { statusCode, body, cookies, isHeld: performance.now() - start >= 499 };
    };
    const stranger = 'stranger@else.example';
    const unknown = await timed(stranger);
    expect(await timed(one.email)).toEqual(unknown);
    expect(unknown).toMatchObject({ statusCode: 202, isHeld: true });
    await tokenTo(one.email);
    // The mail of the stranger is dropped unsent, and nothing of the address stays.
    const kept = () =>
      api.stores.pool
        .query('SELECT FROM mails WHERE recipient = $1', [stranger])
        .then(({ rowCount }) => rowCount);
    await until('the mail is dropped', kept, (count): count is number => count === 0);
    expect(server.mails.some(({ envelopeTo }) => envelopeTo.includes(stranger))).toBe(false);
  });

  test('floods an address with links: five an hour', async () => {
    const one = await affiliate();
    await Promise.all(Array.from({ length: 12 }, () => request(portalBrowser(api), one.program, one.email)));
    const { rows } = await api.stores.pool.query('SELECT FROM portal_sign_ins WHERE email = $1', [one.email]);
    expect(rows).toHaveLength(5);
  });

  test('changes a payout address only with a fresh sign-in, and the old address hears of it', async () => {
    const one = await affiliate({ payout_methods: ['paypal'] });
    const old = 'old@pay.example';
    const browser = await signedIn(one);
    const change = (email: string) =>
      browser.post('/portal/payout-method', { code: one.program.code, method: 'paypal', email });
    expect((await change(old)).statusCode).toBe(200);
    await age();
    expect((await change('thief@own.example')).statusCode).toBe(403);
    type Paid = { payout_method: { email: string }; payout_held_until: string };
    const paid = async () => (await shop.get<Paid>(`/enrollments/${one.partnerId}`)).body;
    expect((await paid()).payout_method.email).toBe('o***@pay.example');
    const fresh = await signedIn(one);
    const next = { code: one.program.code, method: 'paypal', email: 'new@pay.example' };
    expect((await fresh.post('/portal/payout-method', next)).statusCode).toBe(200);
    await server.untilMailTo(old, 'Your payout address at Corner Shop was changed');
    expect(Date.parse((await paid()).payout_held_until)).toBeGreaterThan(Date.now() + 2 * 86_400_000);
    const history = await fresh.page(`/p/${one.program.code}`);
    expect(history.body).toContain('n***@pay.example');
    expect(history.body).not.toContain('new@pay.example');
  });

  test('calls from a page of another site in vain, and gets no script into a page', async () => {
    const one = await affiliate({ name: '<script>alert(1)</script>' });
    const browser = await signedIn(one);
    const foreign = await browser.post(
      '/portal/delete-account',
      { code: one.program.code },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    );
    expect(foreign.statusCode).toBe(403);
    const page = await browser.page(`/p/${one.program.code}`);
    expect(page.body).not.toContain('<script>alert');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  });
});
