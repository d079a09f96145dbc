import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { hashSessionToken } from '../../core/access/session-tokens.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { consoleBrowser, invite, PASSWORD, signedInAs } from '../../test/support/members.ts';
import { createApi } from '../app.ts';
import type { SessionBody, SignInAnswer } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace({ name: 'Corner Shop', primary_domain: 'shop.example', currency: 'eur' });
});
afterAll(() => api.close());

let addresses = 0;
/** Attempts are counted by address, so each test has its own. */
const elsewhere = () => `198.51.100.${++addresses}`;

describe('an invitation', () => {
  test('makes a member with a password, signs in and returns member and workspace', async () => {
    const browser = consoleBrowser(api);
    const token = await invite(api, shop, { role: 'operator', email: 'Ann@Example.com' });
    const view = await browser.call('POST', '/session/invite/view', { body: { token } });
    expect([view.status, view.body]).toEqual([
      200,
      {
        workspace: { name: 'Corner Shop' },
        email: 'ann@example.com',
        role: 'operator',
        expires_at: expect.any(String),
      },
    ]);
    const accepted = await browser.call<SessionBody>('POST', '/session/invite', {
      body: { token, password: PASSWORD },
    });
    const expected = {
      member: { id: expect.any(String), email: 'ann@example.com', role: 'operator' },
      workspace: {
        id: shop.workspace.id,
        name: 'Corner Shop',
        slug: 'corner-shop',
        primary_domain: 'shop.example',
        time_zone: null,
        plan: 'unlimited',
        paid: true,
        currency: 'eur',
        sample_of: null,
      },
      first_steps: true,
      sends_mail: false,
      other_workspaces: [],
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      urls: {
        base_url: 'http://127.0.0.1:3000',
        app_url: 'http://127.0.0.1:3000',
        short_url: 'https://hop.example',
        public_url: 'https://hop.example',
      },
    };
    expect([accepted.status, accepted.body]).toEqual([200, expected]);
    const session = await browser.call<SessionBody>('GET', '/session');
    expect([session.status, session.body]).toEqual([200, accepted.body]);
    expect(session.headers['cache-control']).toBe('no-store');
  });

  test('works once, also when it is accepted twice at the same moment', async () => {
    const token = await invite(api, shop, { email: 'once@example.com' });
    const accept = () =>
      consoleBrowser(api).call('POST', '/session/invite', { body: { token, password: PASSWORD } });
    const statuses = (await Promise.all([accept(), accept(), accept()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 401, 401]);
    expect((await accept()).body.error.code).toBe('unauthorized');
  });

  test('is refused after 15 minutes', async () => {
    const token = await invite(api, shop, { email: 'late@example.com' });
    const age = (time: string) =>
      api.stores.pool.query(
        `UPDATE invites SET created_at = created_at - $2::interval, expires_at = expires_at - $2::interval
         WHERE token_hash = $1`,
        [hashSessionToken(token), time],
      );
    const view = () => consoleBrowser(api).call('POST', '/session/invite/view', { body: { token } });
    await age('14 minutes');
    expect((await view()).status).toBe(200);
    await age('1 minute');
    expect((await view()).status).toBe(401);
    const accepted = await consoleBrowser(api).call('POST', '/session/invite', {
      body: { token, password: PASSWORD },
    });
    expect([accepted.status, accepted.body.error.code]).toEqual([401, 'unauthorized']);
  });

  test.each([
    ['neither password nor passkey', {}, 'password'],
    ['a password too short', { password: 'k3Jd9f!' }, 'password'],
    ['a password too long', { password: 'x'.repeat(201) }, 'password'],
    ['no email beside a password', { password: PASSWORD }, 'email'],
    ['an email that is none', { password: PASSWORD, email: 'ann' }, 'email'],
    [
      'a passkey that answers nothing',
      {
        passkey: {
          id: 'x',
          rawId: 'x',
          type: 'public-key',
          response: { clientDataJSON: 'e30', attestationObject: '' },
        },
      },
      'passkey',
    ],
  ])('with %s is a 400 that leaves it open', async (_, body, path) => {
    const token = await invite(api, shop);
    const refused = await consoleBrowser(api).call('POST', '/session/invite', { body: { token, ...body } });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, path]);
    const accepted = await consoleBrowser(api).call('POST', '/session/invite', {
      body: { token, password: PASSWORD, email: `open-${addresses++}@example.com` },
    });
    expect(accepted.status).toBe(200);
  });

  test('without an email can not take over an existing member', async () => {
    const owner = await signedInAs(api, shop, 'owner');
    const token = await invite(api, shop, { role: 'analyst' });
    const stolen = await consoleBrowser(api).call('POST', '/session/invite', {
      body: { token, email: owner.email.toUpperCase(), password: 'another password' },
    });
    expect([stolen.status, stolen.body.error.code]).toEqual([409, 'conflict']);
    expect((await owner.call('GET', '/session')).status).toBe(200);
  });

  test('for the email of a member lets that one in again, with its role, and ends its other sessions', async () => {
    const operator = await signedInAs(api, shop, 'operator');
    const token = await invite(api, shop, { role: 'owner', email: operator.email });
    const again = consoleBrowser(api);
    const accepted = await again.call<SessionBody>('POST', '/session/invite', {
      body: { token, password: 'the new password' },
    });
    expect(accepted.body.member).toEqual({ id: operator.id, email: operator.email, role: 'operator' });
    expect((await operator.call('GET', '/session')).status).toBe(401);
    const signIn = (password: string) =>
      consoleBrowser(api, elsewhere()).call('POST', '/session', {
        body: { email: operator.email, password },
      });
    expect((await signIn(PASSWORD)).status).toBe(401);
    expect((await signIn('the new password')).status).toBe(200);
  });

  test('is kept as a hash only, and so are sessions', async () => {
    const token = await invite(api, shop);
    const { token: session } = await signedInAs(api, shop, 'owner');
    const { rows } = await api.stores.pool.query(
      'SELECT row_to_json(i)::text AS kept FROM invites i UNION ALL SELECT row_to_json(s)::text FROM sessions s',
    );
    const all = JSON.stringify(rows);
    expect(all).not.toContain(token);
    expect(all).not.toContain(session);
  });
});

describe('sign-in with a password', () => {
  test('sets a cookie that scripts can not read and other sites can not send', async () => {
    const { email } = await signedInAs(api, shop, 'analyst');
    const browser = consoleBrowser(api, elsewhere());
    const answer = await browser.call<SignInAnswer>('POST', '/session', {
      body: { email: ` ${email.toUpperCase()} `, password: PASSWORD },
    });
    expect([answer.status, answer.body.session?.member.email]).toEqual([200, email]);
    expect(answer.body.workspaces).toEqual([]);
    const [, ...attributes] = browser.setCookie.split('; ');
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=7776000', 'Path=/', 'SameSite=Lax']);
    expect((await browser.call('GET', '/session')).status).toBe(200);
  });

  test('sets a secure cookie where APP_URL is https', async () => {
    const secure = await testApi(({ config }) => ({
      config: { ...config, appUrl: 'https://app.example' },
    }));
    try {
      const browser = await signedInAs(secure, await secure.addWorkspace(), 'owner');
      expect(browser.setCookie.split('; ')).toContain('Secure');
    } finally {
      await secure.close();
    }
  });

  test('responds the same to an unknown email and a wrong password', async () => {
    const { email } = await signedInAs(api, shop, 'analyst');
    const refused = async (given: string) => {
      const answer = await consoleBrowser(api, elsewhere()).call('POST', '/session', {
        body: { email: given, password: 'wrong password' },
      });
      const { request_id: _, ...error } = answer.body.error;
      return [answer.status, error];
    };
    expect(await refused(email)).toEqual(await refused('nobody@example.com'));
    expect((await refused(email))[0]).toBe(401);
  });

  test('of one email in two workspaces asks which one where the password fits both', async () => {
    const cafe = await api.addWorkspace({ name: 'Café' });
    const email = 'both@example.com';
    await signedInAs(api, shop, 'owner', { email });
    await signedInAs(api, cafe, 'analyst', { email });
    const browser = consoleBrowser(api, elsewhere());
    const signIn = (more = {}) =>
      browser.call<SignInAnswer>('POST', '/session', { body: { email, password: PASSWORD, ...more } });
    const asked = await signIn();
    expect([asked.status, asked.body.session, browser.token]).toEqual([200, null, null]);
    expect(asked.body.workspaces.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { id: cafe.workspace.id, name: 'Café' },
      { id: shop.workspace.id, name: 'Corner Shop' },
    ]);
    const chosen = await signIn({ workspace_id: cafe.workspace.id });
    expect(chosen.body.session?.workspace.name).toBe('Café');
    const other = await api.addWorkspace();
    expect((await signIn({ workspace_id: other.workspace.id })).status).toBe(401);
  });

  describe('of an email that others made a member of their workspaces', () => {
    const THEIRS = 'what the others chose';
    const signIn = (email: string, password: string, more = {}) =>
      consoleBrowser(api, elsewhere()).call<SignInAnswer>('POST', '/session', {
        body: { email, password, ...more },
      });

    /** The member of the shop, followed by a member with the same email in each of this many other workspaces. */
    async function taken(email: string, workspaces: number) {
      await signedInAs(api, shop, 'owner', { email });
      const ids: string[] = [];
      for (let one = 0; one < workspaces; one++) {
        const theirs = await api.addWorkspace({ name: `Theirs ${one}` });
        const token = await invite(api, theirs, { email });
        const body = { token, password: THEIRS };
        expect((await consoleBrowser(api).call('POST', '/session/invite', { body })).status).toBe(200);
        ids.push(theirs.workspace.id);
      }
      return ids;
    }

    test('lets the member in, with the workspace and without it', async () => {
      const email = 'victim@example.com';
      const theirs = await taken(email, 12);
      const named = await signIn(email, PASSWORD, { workspace_id: shop.workspace.id });
      expect([named.status, named.body.session?.workspace.id]).toEqual([200, shop.workspace.id]);
      const bare = await signIn(email, PASSWORD);
      expect([bare.status, bare.body.session?.workspace.id]).toEqual([200, shop.workspace.id]);
      expect((await signIn(email, PASSWORD, { workspace_id: theirs[0] })).status).toBe(401);
      const asked = await signIn(email, THEIRS);
      expect(asked.body.workspaces.map(({ id }) => id).toSorted()).toEqual(theirs.toSorted());
    });

    test('accepts a password hash from before the members of an email shared a salt', async () => {
      const email = 'early@example.com';
      await taken(email, 2);
      await api.stores.pool.query(
        'UPDATE members SET password_hash = $3 WHERE email = $1 AND workspace_id = $2',
        [email, shop.workspace.id, await hashPassword(PASSWORD, LINK_COST)],
      );
      const { status, body } = await signIn(email, PASSWORD);
      expect([status, body.session?.workspace.id]).toEqual([200, shop.workspace.id]);
    });

    test('costs one hash an attempt, however many members there are', async () => {
      const email = 'many@example.com';
      const [theirs = ''] = await taken(email, 1);
      const saltOf = `split_part(password_hash, '$', 5)`;
      const { rows } = await api.stores.pool.query(
        `SELECT DISTINCT ${saltOf} AS salt FROM members WHERE email = $1`,
        [email],
      );
      expect(rows).toHaveLength(1);
      await api.stores.pool.query(
        `INSERT INTO workspaces (id, name, slug, plan, partner_id, partner_external_id)
         SELECT gen_random_uuid(), 'Theirs', 'many-' || n, plan, NULL, NULL
         FROM workspaces, generate_series(1, 5000) AS n WHERE id = $1`,
        [theirs],
      );
      await api.stores.pool.query(
        `INSERT INTO members (id, workspace_id, email, role, password_hash, last_seen_at)
         SELECT gen_random_uuid(), w.id, m.email, m.role, left(m.password_hash, -5) || lpad(row_number() OVER ()::text, 5, '0'), now()
         FROM workspaces w, members m WHERE w.slug LIKE 'many-%' AND m.workspace_id = $1 AND m.email = $2`,
        [theirs, email],
      );
      const begun = performance.now();
      const { status, body } = await signIn(email, PASSWORD);
      expect([status, body.session?.workspace.id]).toEqual([200, shop.workspace.id]);
      // 5,000 hashes would take a minute and more.
      expect(performance.now() - begun).toBeLessThan(30_000);
    });
  });

  test('replaces an older, cheaper hash at the next right password, and at no wrong one', async () => {
    const { pool } = api.stores;
    const { passwordCost: _, ...deps } = api.deps; // with the real cost
    const dear = await createApi({ ...deps, registry: new Registry() });
    try {
      const { id, email } = await signedInAs(api, shop, 'owner');
      const kept = async (): Promise<string> =>
        (await pool.query('SELECT password_hash FROM members WHERE id = $1', [id])).rows[0].password_hash;
      const signIn = async (password: string) =>
        (
          await consoleBrowser({ app: dear }, elsewhere()).call('POST', '/session', {
            body: { email, password },
          })
        ).status;
      const older = await kept();
      expect(older).toMatch(/^scrypt\$16384\$8\$1\$/);
      expect(await signIn('wrong password')).toBe(401);
      expect(await kept()).toBe(older);
      expect(await signIn(PASSWORD)).toBe(200);
      const dearer = await kept();
      expect(dearer).toMatch(/^scrypt\$16384\$8\$5\$/);
      expect(dearer.split('$')[4]).toBe(older.split('$')[4]);
      expect(await signIn(PASSWORD)).toBe(200);
      expect(await kept()).toBe(dearer);
    } finally {
      await dear.close();
    }
  });

  test('replaces the session that the browser had', async () => {
    const browser = await signedInAs(api, shop, 'owner', { address: elsewhere() });
    const before = browser.token;
    await browser.call('POST', '/session', { body: { email: browser.email, password: PASSWORD } });
    expect(browser.token).not.toBe(before);
    const old = Object.assign(consoleBrowser(api), { token: before });
    expect((await old.call('GET', '/session')).status).toBe(401);
  });
});
