import { generateSync } from 'otplib';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { merchant, PAID_AT_ONCE } from '../../test/referrals/support.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { MAIL_ENVIRONMENT, type Mailer, mailTo, startMailer } from '../../test/support/mail-bench.ts';
import { linkIn, type MailServer, startMailServer } from '../../test/support/mail-server.ts';
import { type ConsoleBrowser, consoleBrowser, PASSWORD, signedInAs } from '../../test/support/members.ts';
import type { MailList } from './schemas.ts';

const OTHER_PASSWORD = 'another long phrase 42';

let api: TestApi;
let server: MailServer;
let mailer: Mailer;
let shop: TestWorkspace;
beforeAll(async () => {
  api = await testApi(() => ({
    config: readConfig({ ...MAIL_ENVIRONMENT, SHORT_URL: 'https://hop.example' }),
  }));
  server = await startMailServer();
  mailer = startMailer(api.stores.pool, server.url);
});
beforeEach(async () => {
  server.behave('work');
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterEach(() => {
  server.mails.length = 0;
});
afterAll(async () => {
  await mailer.stop();
  await server.close();
  await api.close();
});

let count = 0;
const address = () => `person-${++count}@members.example`;
/** Attempts are counted by network address, so each browser has its own. */
const browserElsewhere = () => consoleBrowser(api, `198.51.100.${++count % 250}`);
const tokenIn = (mail: Parameters<typeof linkIn>[0], path: string) =>
  new URL(linkIn(mail, path)).hash.slice(1);
const signIn = (browser: ConsoleBrowser, email: string, password: string, more = {}) =>
  browser.call('POST', '/session', { body: { email, password, ...more } });
const request = (email: string, browser = browserElsewhere()) =>
  browser.call('POST', '/session/password-reset', { body: { email } });

/** Requests a reset and returns the token of its mail. */
async function resetToken(email: string): Promise<string> {
  expect((await request(email)).status).toBe(202);
  return tokenIn(await server.untilMailTo(email, 'Reset your password'), '/console/reset-password');
}
const complete = (token: string, password = OTHER_PASSWORD) =>
  browserElsewhere().call('POST', '/session/password-reset/complete', { body: { token, password } });
const reset = (to: string) => mailTo(api.stores.pool, to);

describe('an invitation', () => {
  type Invite = { invite: { url?: string; mailed: boolean; email: string | null; expires_at: string } };

  it('is mailed, and its link is in no response', async () => {
    const owner = await signedInAs(api, shop, 'owner');
    const email = address();
    const made = await owner.call<Invite>('POST', '/members/invites', { body: { role: 'analyst', email } });
    expect(made.status).toBe(201);
    expect(made.body.invite).toMatchObject({ mailed: true, email });
    expect(made.text).not.toContain('/console/welcome');
    expect(Date.parse(made.body.invite.expires_at)).toBeGreaterThan(Date.now() + 2.9 * 86_400_000);
    const mail = await server.untilMailTo(email);
    expect(mail.text).toContain(`${owner.email} invites you to the workspace Corner Shop as analyst`);
    const token = tokenIn(mail, '/console/welcome');
    const accepted = await browserElsewhere().call('POST', '/session/invite', {
      body: { token, password: PASSWORD },
    });
    expect(accepted.body).toMatchObject({ member: { email, role: 'analyst' }, sends_mail: true });
  });

  it('is a link where no mail is wanted or none can be sent', async () => {
    const email = address();
    const shown = await shop.call<Invite>('POST', '/members/invites', {
      body: { role: 'analyst', email, mail: false },
    });
    expect(shown.body.invite).toMatchObject({
      mailed: false,
      url: expect.stringContaining('/console/welcome#'),
    });
    const nobody = await shop.call<Invite>('POST', '/members/invites', {
      body: { role: 'analyst' },
    });
    expect(nobody.body.invite).toMatchObject({ mailed: false, url: expect.any(String) });
    const wrong = await shop.call('POST', '/members/invites', {
      body: { role: 'analyst', mail: true },
    });
    expect([wrong.status, wrong.body.error.details?.[0]?.path]).toEqual([400, 'email']);
    expect(await mailTo(api.stores.pool, email)).toBeUndefined();
  });

  it('to an address that wants no mail is not sent, and the list says so', async () => {
    const owner = await signedInAs(api, shop, 'owner');
    const email = address();
    const invite = () => owner.call('POST', '/members/invites', { body: { role: 'analyst', email } });
    await invite();
    const mail = await server.untilMailTo(email);
    const header = mail.raw.replaceAll(/\r\n[ \t]+/g, ' ');
    const url = new URL(/^List-Unsubscribe:\s*<(\S+?)>/im.exec(header)?.[1] ?? '');
    // As a mail program calls it: https://www.rfc-editor.org/rfc/rfc8058
    const ended = await api.app.inject({
      method: 'POST',
      url: url.pathname + url.search,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'List-Unsubscribe=One-Click',
    });
    expect([ended.statusCode, ended.body]).toEqual([200, '{"ok":true}']);
    const opened = await api.app.inject({ method: 'GET', url: url.pathname + url.search });
    expect(opened.statusCode, opened.body).toBe(302);
    expect(opened.headers.location).toBe(
      `https://app.example/console/unsubscribe#${url.searchParams.get('token')}`,
    );
    await invite();
    await expect
      .poll(async () => (await owner.call<MailList>('GET', '/mails?limit=1')).body.mails[0]?.status)
      .toBe('canceled');
    const forged = await browserElsewhere().call('POST', '/mails/unsubscribe?token=abc', { body: {} });
    expect([forged.status, forged.body.error.details?.[0]?.path]).toEqual([400, 'token']);
  });
});

describe('a forgotten password', () => {
  it('is replaced by the link of a mail, which works once and ends all sessions', async () => {
    const member = await signedInAs(api, shop, 'analyst', { email: address() });
    const other = await api.addWorkspace();
    const second = await signedInAs(api, other, 'owner', { email: member.email });
    const token = await resetToken(member.email);
    const view = await browserElsewhere().call('POST', '/session/password-reset/view', { body: { token } });
    expect(view.body).toMatchObject({ email: member.email });
    const weak = await complete(token, 'password');
    expect([weak.status, weak.body.error.details?.[0]?.path]).toEqual([400, 'password']);
    const statuses = (await Promise.all([complete(token), complete(token)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 401]);
    // In both workspaces.
    for (const browser of [member, second]) expect((await browser.call('GET', '/session')).status).toBe(401);
    expect((await signIn(browserElsewhere(), member.email, PASSWORD)).status).toBe(401);
    expect((await signIn(browserElsewhere(), member.email, OTHER_PASSWORD)).body).toMatchObject({
      workspaces: [{}, {}],
    });
    await expect
      .poll(() => server.mails.filter(({ subject }) => subject === 'Your password was reset').length)
      .toBe(1);
    const log = await signIn(second, member.email, OTHER_PASSWORD, { workspace_id: other.workspace.id });
    expect(log.status).toBe(200);
    const { body } = await second.call<{ entries: { action: string }[] }>('GET', '/audit-log');
    expect(body.entries.map(({ action }) => action)).toContain('password.reset');
  });

  it('leaves the second factor on, and another link of the same address useless', async () => {
    const member = await signedInAs(api, shop, 'analyst', { email: address() });
    const { secret } = (await member.call<{ secret: string }>('POST', '/two-factor/setup')).body;
    expect(
      (
        await member.call('POST', '/two-factor', {
          body: { code: generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) - 30 }) },
        })
      ).status,
    ).toBe(201);
    const first = await resetToken(member.email);
    server.mails.length = 0;
    const second = await resetToken(member.email);
    expect(second).not.toBe(first);
    expect((await complete(second)).status).toBe(200);
    expect((await complete(first)).status).toBe(401);
    expect((await signIn(browserElsewhere(), member.email, OTHER_PASSWORD)).body).toMatchObject({
      code_required: true,
      session: null,
    });
  });

  it('has the same response and runs the same statements with and without an account', async () => {
    const member = await signedInAs(api, shop, 'analyst', { email: address() });
    const [known, unknown] = [
      await statementsOf(() => request(member.email)),
      await statementsOf(() => request(address())),
    ];
    expect(unknown.answer.text).toBe(known.answer.text);
    expect(unknown.answer.status).toBe(known.answer.status);
    expect(unknown.statements).toEqual(known.statements);
    expect(known.statements.length).toBeGreaterThan(3);
    await server.untilMailTo(member.email);
    // No mail, and nothing is kept of the other address.
    await expect.poll(() => reset(unknown.email)).toBeUndefined();
    expect(server.mails.flatMap(({ envelopeTo }) => envelopeTo)).not.toContain(unknown.email);
  });

  it('is requested at most three times an hour for an address, and 30 times a minute by a browser', async () => {
    const member = await signedInAs(api, shop, 'analyst', { email: address() });
    for (let n = 0; n < 5; n++) expect((await request(member.email)).status).toBe(202);
    await expect.poll(() => server.mails.length).toBe(3);
    const browser = browserElsewhere();
    const statuses = [];
    for (let n = 0; n < 31; n++) statuses.push((await request(address(), browser)).status);
    expect(statuses).toEqual([...Array(30).fill(202), 429]);
  });

  it('is requested for an address only', async () => {
    for (const email of ['not an address', '', 'a@b', 'x'.repeat(300)]) {
      const answer = await request(email);
      expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'email']);
    }
  });

  it('expires after an hour', async () => {
    const member = await signedInAs(api, shop, 'analyst', { email: address() });
    const token = await resetToken(member.email);
    await api.stores.pool.query("UPDATE password_resets SET expires_at = expires_at - interval '1 hour'");
    expect((await complete(token)).status).toBe(401);
    expect(
      (await browserElsewhere().call('POST', '/session/password-reset/view', { body: { token } })).status,
    ).toBe(401);
  });

  /** Returns the response of a call, and the statements that the API ran for it. */
  async function statementsOf(call: () => ReturnType<typeof request>) {
    const statements: string[] = [];
    const { query } = pg.Client.prototype;
    const client = pg.Client.prototype as { query: unknown };
    await mailer.stop();
    client.query = function (this: pg.Client, ...args: [string | { text: string }]) {
      const [statement] = args;
      statements.push(typeof statement === 'string' ? statement : statement.text);
      return Reflect.apply(query as never, this, args);
    };
    const email = `person-${count + 2}@members.example`;
    const answer = await call();
    client.query = query;
    mailer = startMailer(api.stores.pool, server.url);
    return { answer, statements, email };
  }
});

describe('a notice', () => {
  it('tells of a sign-in from a new browser, once', async () => {
    const member = await signedInAs(api, shop, 'analyst', { email: address() });
    const phone = browserElsewhere();
    const headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    };
    let cookie = '';
    for (let n = 0; n < 2; n++) {
      const answer = await phone.call('POST', '/session', {
        body: { email: member.email, password: PASSWORD },
        headers: { ...headers, cookie },
      });
      expect(answer.status).toBe(200);
      cookie = [answer.headers['set-cookie'] ?? []]
        .flat()
        .map((one) => one.split(';')[0])
        .join('; ');
    }
    const mail = await server.untilMailTo(member.email);
    expect(mail.subject).toBe('New sign-in to Corner Shop');
    expect(mail.text).toMatch(/Browser: Firefox on Linux\nAddress: 198\.51\.100\.\d+/);
    expect(
      (await api.stores.pool.query('SELECT FROM mails WHERE recipient = $1', [member.email])).rowCount,
    ).toBe(1);
  });

  it('tells a member of their own changes, and owners of those of keys', async () => {
    const owner = await signedInAs(api, shop, 'owner', { email: address() });
    const other = await signedInAs(api, shop, 'owner', { email: address() });
    const analyst = await signedInAs(api, shop, 'analyst', { email: address() });
    await analyst.call('POST', '/session/password', {
      body: { current_password: PASSWORD, password: OTHER_PASSWORD },
    });
    expect((await server.untilMailTo(analyst.email)).subject).toBe('Your password was changed');
    const key = await owner.call<{ id: string }>('POST', '/keys', {
      body: { kind: 'secret', label: 'till' },
    });
    expect(key.status).toBe(201);
    for (const email of [owner.email, other.email]) {
      const mail = await server.untilMailTo(email);
      expect(mail.subject).toBe('A key was created in Corner Shop');
      expect(mail.text).toContain('Key: till\nBy: ');
    }
    expect((await owner.call('DELETE', `/keys/${key.body.id}`)).status).toBe(200);
    await expect
      .poll(async () => (await server.untilMailTo(other.email)).subject)
      .toBe('A key was revoked in Corner Shop');
    expect(server.mails.filter(({ envelopeTo }) => envelopeTo.includes(analyst.email))).toHaveLength(1);
  });

  it('tells a former payout address, once an hour', async () => {
    const m = merchant(shop);
    await m.program(PAID_AT_ONCE);
    await m.enroll('rosa');
    await m.mode('rosa', 'affiliate');
    const former = address();
    const set = async (email: string) =>
      (await shop.post('/referrals/payout-method', { external_user_id: 'rosa', method: 'wise', email }))
        .status;
    for (const email of [former, former.toUpperCase(), address(), former, address()]) {
      expect(await set(email)).toBe(200);
    }
    const mail = await server.untilMailTo(former);
    expect(mail.subject).toBe('Your payout address at Corner Shop was changed');
    expect(mail.text).toContain('tell Corner Shop before the next payout');
    const { rowCount } = await api.stores.pool.query('SELECT FROM mails WHERE recipient = $1', [former]);
    expect(rowCount).toBe(1);
  });
});

describe('the list of mails', () => {
  it('shows failures to owners only, as do the problems', async () => {
    const owner = await signedInAs(api, shop, 'owner', { email: address() });
    const analyst = await signedInAs(api, shop, 'analyst', { email: address() });
    const email = address();
    server.behave('refuse_recipient');
    await owner.call('POST', '/members/invites', { body: { role: 'analyst', email } });
    const failed = async () =>
      (await owner.call<MailList>('GET', '/mails?status=failed')).body.mails.map(
        ({ recipient, kind, attempts, error }) => ({ recipient, kind, attempts, error }),
      );
    await expect
      .poll(failed)
      .toEqual([
        { recipient: email, kind: 'invitation', attempts: 1, error: expect.stringContaining('no such user') },
      ]);
    const problems = await analyst.call<{ problems: object[] }>('GET', '/problems');
    expect(problems.body.problems).toMatchObject([{ kind: 'mail_failing', count: 1, name: null }]);
    expect((await analyst.call('GET', '/mails')).status).toBe(403);
    const elsewhere = await signedInAs(api, await api.addWorkspace(), 'owner', { email: address() });
    expect((await elsewhere.call<MailList>('GET', '/mails')).body.mails).toEqual([]);
  });
});
