import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { createInvite } from '../../sql/console/invites.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type Person,
  startIdentityProvider,
  type TestProvider,
} from '../../test/support/identity-provider.ts';
import { type ConsoleBrowser, consoleBrowser, PASSWORD, signedInAs } from '../../test/support/members.ts';
import type { AuditEntry } from '../audit/schemas.ts';

const APP = 'http://127.0.0.1:3000';
const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => lines.push(line) });
/** The newest line of a failed sign-in. */
const logged = () =>
  JSON.parse(lines.findLast((line) => line.includes('a sign-in with the provider')) ?? '{}');
const settings = (issuer: string, workspace: string, more = {}) => ({
  SHORT_URL: 'https://hop.example',
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT_ID,
  OIDC_CLIENT_SECRET: CLIENT_SECRET,
  OIDC_NAME: 'Shop accounts',
  OIDC_ALLOWED_DOMAINS: 'shop.example',
  OIDC_WORKSPACE: workspace,
  OIDC_SCOPES: 'openid email groups',
  ...more,
});

let provider: TestProvider;
/** The API without groups, and with them. */
let plain: TestApi;
let grouped: TestApi;
let shop: TestWorkspace;
let team: TestWorkspace;

beforeAll(async () => {
  provider = await startIdentityProvider(() => `${APP}/console/oidc/callback`);
  const start = async (slug: string, more = {}) => {
    const api = await testApi(() => ({ log, config: readConfig(settings(provider.issuer, slug, more)) }));
    const workspace = await api.addWorkspace({ name: slug });
    return { api, workspace };
  };
  ({ api: plain, workspace: shop } = await start('shop'));
  ({ api: grouped, workspace: team } = await start('team', {
    OIDC_GROUP_ROLES: 'admins:owner,marketing:operator,marketing:east:analyst',
  }));
});
afterAll(async () => {
  await Promise.all([plain.close(), grouped.close()]);
  await provider.stop();
});

let people = 0;
let login = '';
let email = '';
beforeEach(() => {
  login = `person-${++people}`;
  email = `${login}@shop.example`;
});
const is = (person: Person) => provider.people.set(login, { email, email_verified: true, ...person });

type Visitor = { cookie: string; location: string; status: number; session: string | null };

/** Opens a page as a browser with these cookies. */
async function open(api: TestApi, url: string, cookie = ''): Promise<Visitor> {
  const response = await api.app.inject({ url, remoteAddress: '203.0.113.9', headers: { cookie } });
  const set = [response.headers['set-cookie'] ?? []].flat().map((text) => text.split(';')[0] ?? '');
  return {
    cookie: set.join('; '),
    location: String(response.headers.location ?? ''),
    status: response.statusCode,
    session: set.find((text) => text.startsWith('hoplog_session='))?.slice(15) || null,
  };
}

const below = (url: string) => url.slice(APP.length);

async function begin(api: TestApi, query = '') {
  const begun = await open(api, `/console/oidc/start${query}`);
  expect(begun.status).toBe(302);
  return { ...begun, callback: below(await provider.visit(begun.location, login)) };
}

/** Signs in, and returns where the browser ends and its session. */
async function signIn(api: TestApi, query = ''): Promise<Visitor> {
  const { cookie, callback } = await begin(api, query);
  return open(api, callback, cookie);
}

const failed = (outcome: string) => ({ status: 302, location: `/console?sign_in=${outcome}`, session: null });

function browserOf(api: TestApi, { session }: Visitor): ConsoleBrowser {
  return Object.assign(consoleBrowser(api), { token: session });
}
type Me = { member: { id: string; email: string; role: string } };
const me = async (api: TestApi, visitor: Visitor) =>
  (await browserOf(api, visitor).call<Me>('GET', '/session')).body.member;

const auditOf = async (workspace: TestWorkspace, memberId: string) =>
  (await workspace.get<{ entries: AuditEntry[] }>('/audit-log?limit=500')).body.entries
    .filter(({ target }) => target.id === memberId)
    .map(({ actor, action }) => `${actor.type} ${action}`)
    .reverse();

test('a member with the verified email signs in, is linked, and returns to the page', async () => {
  const ann = await signedInAs(plain, shop, 'operator', { email });
  is({});
  const back = await signIn(plain, '?return_to=/console/links%3Fq%3Da');
  expect([back.status, back.location]).toEqual([302, '/console/links?q=a']);
  expect(await me(plain, back)).toEqual({ id: ann.id, email, role: 'operator' });
  // Linked by the subject, so another email of the same person does not matter.
  is({ email: `renamed-${email}` });
  expect((await me(plain, await signIn(plain))).id).toBe(ann.id);
  expect((await auditOf(shop, ann.id)).slice(1)).toEqual([
    'provider member.link',
    'member session.sign_in',
    'member session.sign_in',
  ]);
  expect((await ann.call('GET', '/session')).status).toBe(200);
  const { rows } = await plain.stores.pool.query(
    `SELECT ceil(extract(epoch FROM expires_at - created_at) / 3600) AS hours FROM sessions WHERE member_id = $1
     ORDER BY created_at DESC LIMIT 1`,
    [ann.id],
  );
  expect(Number(rows[0]?.hours)).toBe(12);
});

test('the console learns the name of the provider, and returns to pages of its own only', async () => {
  expect((await consoleBrowser(plain).call('GET', '/session/provider')).body).toEqual({
    password_reset: false,
    name: 'Shop accounts',
    start: '/console/oidc/start',
  });
  await signedInAs(plain, shop, 'operator', { email });
  is({});
  for (const to of [
    'https://evil.example/console',
    '//evil.example/console',
    '/api/v1/me',
    '/console/oidc/start',
  ]) {
    expect((await signIn(plain, `?return_to=${encodeURIComponent(to)}`)).location).toBe('/console');
  }
});

describe('a sign-in is refused', () => {
  test.each([
    ['an email that is not verified', { email_verified: false }, 'email_unverified'],
    ['an email that is not verified, as text', { email_verified: 'false' }, 'email_unverified'],
    ['an email of which nothing is said', { email_verified: undefined }, 'email_verified_missing'],
    ['an email of which null is said', { email_verified: null }, 'email_verified_missing'],
    ['an email of which something else is said', { email_verified: 1 }, 'email_unverified'],
    ['no email', { email: undefined }, 'email_missing'],
    ['null as the email', { email: null, idToken: { email: '' } }, 'email_missing'],
    ['a domain that is not allowed', { email: 'ann@shop.example.evil.example' }, 'domain_refused'],
    ['a person who is no member', {}, 'no_member'],
  ])('for %s', async (_name, person, outcome) => {
    is(person);
    expect(await signIn(plain)).toMatchObject(failed(outcome));
  });

  test('without the browser that began it, a second time, and after ten minutes', async () => {
    await signedInAs(plain, shop, 'operator', { email });
    is({});
    const { cookie, callback } = await begin(plain);
    expect(await open(plain, callback)).toMatchObject(failed('expired'));
    expect((await open(plain, callback, cookie)).session).not.toBeNull();
    expect(await open(plain, callback, cookie)).toMatchObject(failed('expired'));
    const late = await begin(plain);
    await plain.stores.pool.query(`UPDATE provider_sign_ins SET expires_at = now() - interval '1 second'`);
    expect(await open(plain, late.callback, late.cookie)).toMatchObject(failed('expired'));
  });

  test('with the code of another sign-in, and with a used code', async () => {
    await signedInAs(plain, shop, 'operator', { email });
    is({});
    const [one, two] = [await begin(plain), await begin(plain)];
    const codeOf = (url: string) => new URL(url, APP).searchParams.get('code') ?? '';
    const swapped = two.callback.replace(codeOf(two.callback), codeOf(one.callback));
    // The code belongs to the PKCE challenge of the first sign-in.
    expect(await open(plain, swapped, two.cookie)).toMatchObject(failed('provider_invalid'));
    const three = await begin(plain);
    expect((await open(plain, three.callback, three.cookie)).session).not.toBeNull();
    const four = await begin(plain);
    const replayed = four.callback.replace(codeOf(four.callback), codeOf(three.callback));
    expect(await open(plain, replayed, four.cookie)).toMatchObject(failed('provider_invalid'));
  });

  test.each([
    ['state', `state = 'another'`],
    ['nonce', `nonce = 'another'`],
    ['code verifier', `code_verifier = repeat('x', 43)`],
  ])('with another %s', async (_name, change) => {
    await signedInAs(plain, shop, 'operator', { email });
    is({});
    const { cookie, callback } = await begin(plain);
    await plain.stores.pool.query(`UPDATE provider_sign_ins SET ${change}`);
    expect(await open(plain, callback, cookie)).toMatchObject(failed('provider_invalid'));
  });

  test('with the issuer of another provider, in the response and in the discovery', async () => {
    await signedInAs(plain, shop, 'operator', { email });
    is({});
    const { cookie, callback } = await begin(plain);
    const other = callback.replace(
      encodeURIComponent(provider.issuer),
      encodeURIComponent('https://evil.example'),
    );
    expect(other).not.toBe(callback);
    expect(await open(plain, other, cookie)).toMatchObject(failed('provider_invalid'));
    const issuer = provider.issuer.replace('127.0.0.1', 'localhost');
    const mistaken = await testApi(() => ({ config: readConfig(settings(issuer, 'shop')) }));
    expect(await open(mistaken, '/console/oidc/start')).toMatchObject(failed('provider_invalid'));
    await mistaken.close();
  });

  test('when the provider says so', async () => {
    const begun = await open(plain, '/console/oidc/start');
    const state = new URL(begun.location).searchParams.get('state');
    const iss = encodeURIComponent(provider.issuer);
    const callback = `/console/oidc/callback?error=access_denied&state=${state}&iss=${iss}`;
    const refusals = async () =>
      (
        await shop.get<{ entries: AuditEntry[] }>('/audit-log?action=session.sign_in_failed')
      ).body.entries.filter(
        ({ target, details }) => target.id === null && details.reason === 'provider_refused',
      );
    expect(await refusals()).toEqual([]);
    expect(await open(plain, callback, begun.cookie)).toMatchObject(failed('provider_refused'));
    // No person is known yet, but the workspace is.
    const [refusal] = await refusals();
    expect(refusal).toMatchObject({ actor: { type: 'service' }, target: { type: 'member', id: null } });
    // Anyone may start a sign-in, and end it with an error, so such entries are limited.
    const again = await open(plain, '/console/oidc/start');
    const state2 = new URL(again.location).searchParams.get('state');
    const second = callback.replace(`state=${state}`, `state=${state2}`);
    expect(await open(plain, second, again.cookie)).toMatchObject(failed('provider_refused'));
    expect(await refusals()).toHaveLength(1);
  });

  test('for an email that the provider gave to another person', async () => {
    const ann = await signedInAs(plain, shop, 'operator', { email });
    is({});
    expect((await signIn(plain)).session).not.toBeNull();
    const first = login;
    login = `${first}-successor`;
    is({ email });
    expect(await signIn(plain)).toMatchObject(failed('other_person'));
    expect(await auditOf(shop, ann.id)).toContain('service session.sign_in_failed');
  });

  test('for a removed member, until an owner invites them and they accept', async () => {
    await signedInAs(plain, shop, 'owner');
    const ann = await signedInAs(plain, shop, 'operator', { email });
    is({});
    expect((await signIn(plain)).session).not.toBeNull();
    await shop.delete(`/members/${ann.id}`);
    expect(await signIn(plain)).toMatchObject(failed('removed'));
    const { token } = await createInvite(plain.stores.pool, {
      workspaceId: shop.workspace.id,
      email,
      role: 'analyst',
    });
    const body = { token, password: PASSWORD };
    const again = await consoleBrowser(plain).call<Me>('POST', '/session/invite', { body });
    expect((await me(plain, await signIn(plain))).id).toBe(again.body.member.id);
  });
});

describe('claims', () => {
  test.each<[string, Person]>([
    ['all of them in the ID token', { email: undefined, idToken: { email: '$', email_verified: true } }],
    ['the email in the ID token, the rest in userinfo', { idToken: { email: '$' } }],
    ['null in the ID token', { idToken: { email: null, email_verified: null } }],
    ['text, as Amazon Cognito sends it', { email_verified: 'true' }],
    ['the email in another case in the ID token', { idToken: { email: 'CASE' } }],
  ])('are taken: %s', async (_name, { idToken = {}, ...userinfo }) => {
    const ann = await signedInAs(plain, shop, 'operator', { email });
    const own = Object.fromEntries(
      Object.entries(idToken).map(([name, value]) => [
        name,
        value === '$' ? email : value === 'CASE' ? email.toUpperCase() : value,
      ]),
    );
    is({ ...userinfo, idToken: own });
    expect((await me(plain, await signIn(plain))).id).toBe(ann.id);
  });

  test('of userinfo do not verify another email of the ID token', async () => {
    const victim = await signedInAs(plain, shop, 'owner', { email: `victim-${email}` });
    is({ idToken: { email: victim.email } });
    expect(await signIn(plain)).toMatchObject(failed('email_verified_missing'));
  });

  test('are named in the log without their values', async () => {
    is({ email_verified: undefined });
    await signIn(plain);
    expect(logged()).toMatchObject({
      outcome: 'email_verified_missing',
      claims: { email: 'present', email_verified: 'absent' },
    });
    expect(JSON.stringify(logged())).not.toContain(email);
  });

  test('without email_verified are taken where the settings trust the email, but not a false one', async () => {
    const trusting = await testApi(() => ({
      config: readConfig(settings(provider.issuer, 'trusting', { OIDC_TRUST_EMAIL: 'true' })),
    }));
    const workspace = await trusting.addWorkspace({ name: 'trusting' });
    const ann = await signedInAs(trusting, workspace, 'operator', { email });
    is({ email_verified: undefined });
    expect((await me(trusting, await signIn(trusting))).id).toBe(ann.id);
    for (const unverified of [false, 'false', 0, '0', 'no']) {
      is({ email_verified: unverified });
      expect(await signIn(trusting)).toMatchObject(failed('email_unverified'));
    }
    await trusting.close();
  });
});

test('a person with an open invitation accepts it by signing in, once', async () => {
  const invite = { workspaceId: shop.workspace.id, email, role: 'operator' } as const;
  const { token } = await createInvite(plain.stores.pool, invite);
  is({});
  expect(await me(plain, await signIn(plain))).toMatchObject({ email, role: 'operator' });
  const body = { token, password: PASSWORD };
  const late = await consoleBrowser(plain).call('POST', '/session/invite', { body });
  expect(late.status).toBe(401);
});

describe('a new client at the provider gives the member another subject', () => {
  test('an owner ends the tie, and the next sign-in makes a new one', async () => {
    const ann = await signedInAs(plain, shop, 'operator', { email });
    is({});
    expect((await signIn(plain)).session).not.toBeNull();
    login = `${login}-of-the-new-client`;
    is({ email });
    expect(await signIn(plain)).toMatchObject(failed('other_person'));
    const linked = async () =>
      (await shop.get<{ members: { id: string; provider_linked: boolean }[] }>('/members')).body.members.find(
        ({ id }) => id === ann.id,
      )?.provider_linked;
    expect(await linked()).toBe(true);
    expect((await shop.delete(`/members/${ann.id}/provider-link`)).status).toBe(200);
    expect(await linked()).toBe(false);
    expect((await me(plain, await signIn(plain))).id).toBe(ann.id);
    expect(await auditOf(shop, ann.id)).toContain('key member.unlink');
  });
});

test('a final slash more or less of the issuer does not matter; another difference names both', async () => {
  const path = await startIdentityProvider(() => `${APP}/console/oidc/callback`, '/realms/shop/');
  const close = path.issuer.slice(0, -1);
  const api = await testApi(() => ({ config: readConfig(settings(close, '')) }));
  const workspace = await api.addWorkspace();
  const ann = await signedInAs(api, workspace, 'operator', { email });
  path.people.set(login, { email, email_verified: true });
  const begun = await open(api, '/console/oidc/start');
  const back = await open(api, below(await path.visit(begun.location, login)), begun.cookie);
  expect((await me(api, back)).id).toBe(ann.id);
  await api.close();

  const wrong = close.replace('127.0.0.1', 'localhost');
  const mistaken = await testApi(() => ({ log, config: readConfig(settings(wrong, '')) }));
  expect(await open(mistaken, '/console/oidc/start')).toMatchObject(failed('provider_invalid'));
  expect(logged().err.message).toContain(`OIDC_ISSUER is ${wrong}, but`);
  expect(logged().err.message).toContain(path.issuer);
  await mistaken.close();
  await path.stop();
});

describe('with groups', () => {
  test('groups below a dotted path count, as Keycloak sends roles', async () => {
    const nested = await testApi(() => ({
      config: readConfig(
        settings(provider.issuer, '', {
          OIDC_GROUP_ROLES: 'admins:owner,staff:analyst',
          OIDC_GROUPS_CLAIM: 'realm_access.roles',
        }),
      ),
    }));
    await nested.addWorkspace();
    is({ realm_access: { roles: ['staff'] } });
    expect((await me(nested, await signIn(nested))).role).toBe('analyst');
    for (const inToken of [{}, { roles: [] }, { roles: null }]) {
      is({ realm_access: { roles: ['staff'] }, idToken: { email, realm_access: inToken } });
      expect((await me(nested, await signIn(nested))).role).toBe('analyst');
    }
    // The form in which ZITADEL sends roles.
    is({ realm_access: { roles: { staff: { 1: 'shop.example' } } } });
    expect((await me(nested, await signIn(nested))).role).toBe('analyst');
    await nested.close();
  });

  test.each<[string, Person, string]>([
    ['too many groups for the token', { _claim_names: { groups: 'src1' } }, 'groups_overage'],
    ['no claim of groups', {}, 'groups_missing'],
    ['null as the groups', { groups: null }, 'groups_missing'],
  ])('%s refuse, and leave role and sessions', async (_name, person, outcome) => {
    is({ groups: ['marketing'] });
    const back = await signIn(grouped);
    is(person);
    expect(await signIn(grouped)).toMatchObject(failed(outcome));
    expect((await me(grouped, back)).role).toBe('operator');
  });

  test('a person without a member becomes one, with the highest role of their groups', async () => {
    is({ groups: ['staff', 'marketing:east', 'marketing'] });
    const back = await signIn(grouped);
    const member = await me(grouped, back);
    expect(member).toMatchObject({ email, role: 'operator' });
    expect(await auditOf(team, member.id)).toEqual(['provider member.create', 'member session.sign_in']);
    is({ groups: ['marketing:east'] });
    expect((await me(grouped, await signIn(grouped))).role).toBe('analyst');
    is({ groups: ['admins'] });
    expect(await me(grouped, await signIn(grouped))).toMatchObject({ id: member.id, role: 'owner' });
    expect(
      (await auditOf(team, member.id)).filter((entry) => entry === 'provider member.update'),
    ).toHaveLength(2);
  });

  test('a person who lost the groups is refused, and their sessions end', async () => {
    is({ groups: [] });
    expect(await signIn(grouped)).toMatchObject(failed('no_group'));
    is({ groups: ['marketing'] });
    const back = await signIn(grouped);
    expect((await browserOf(grouped, back).call('GET', '/session')).status).toBe(200);
    is({ groups: ['staff'] });
    expect(await signIn(grouped)).toMatchObject(failed('no_group'));
    expect((await browserOf(grouped, back).call('GET', '/session')).status).toBe(401);
  });

  test('the last owner keeps the role, and a removed member is not created again', async () => {
    const api = await testApi(() => ({
      config: readConfig(settings(provider.issuer, '', { OIDC_GROUP_ROLES: 'admins:owner,staff:analyst' })),
    }));
    const workspace = await api.addWorkspace();
    is({ groups: ['admins'] });
    const { id } = await me(api, await signIn(api));
    is({ groups: ['staff'] });
    expect((await me(api, await signIn(api))).role).toBe('owner');
    await signedInAs(api, workspace, 'owner');
    expect((await me(api, await signIn(api))).role).toBe('analyst');
    await workspace.delete(`/members/${id}`);
    expect(await signIn(api)).toMatchObject(failed('removed'));
    await api.addWorkspace();
    expect(await signIn(api)).toMatchObject(failed('no_workspace'));
    await api.close();
  });
});

test('a change of access is confirmed by signing in with the provider again', async () => {
  const ann = await signedInAs(plain, shop, 'owner', { email });
  is({});
  const browser = browserOf(plain, await signIn(plain));
  expect((await browser.call<{ provider: string }>('GET', '/session/confirm')).body.provider).toBe(
    'Shop accounts',
  );
  const begun = await open(plain, '/console/oidc/start?confirm=1');
  expect(new URL(begun.location).searchParams.get('prompt')).toBe('login');
  const callback = below(await provider.visit(begun.location, login));
  const fresh = await open(plain, callback, begun.cookie);
  expect((await me(plain, fresh)).id).toBe(ann.id);
  const { rows } = await plain.stores.pool.query<{ seconds: number }>(
    `SELECT extract(epoch FROM now() - confirmed_at)::float8 AS seconds FROM sessions WHERE member_id = $1
     ORDER BY created_at DESC LIMIT 1`,
    [ann.id],
  );
  expect(rows[0]?.seconds).toBeLessThan(300);
});

test('without its audit entry there is no session', async () => {
  const ann = await signedInAs(plain, shop, 'operator', { email });
  is({});
  const { cookie, callback } = await begin(plain);
  const { pool, admin } = plain.stores;
  await admin.query(
    `CREATE FUNCTION fail_audit() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN IF NEW.action = 'session.sign_in' THEN RAISE EXCEPTION 'audit is down'; END IF; RETURN NEW; END $$;
     CREATE TRIGGER audit_down BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION fail_audit()`,
  );
  const answer = await open(plain, callback, cookie);
  await admin.query('DROP TRIGGER audit_down ON audit_entries');
  expect([answer.status, answer.session]).toEqual([500, null]);
  const { rows } = await pool.query('SELECT 1 FROM sessions WHERE member_id = $1', [ann.id]);
  expect(rows).toHaveLength(1);
});

// Runs last, because it stops the provider.
test('while the provider is down the console says so, and passwords work', async () => {
  await signedInAs(plain, shop, 'operator', { email });
  is({});
  const { cookie, callback } = await begin(plain);
  const cold = await testApi(() => ({ config: readConfig(settings(provider.issuer, 'shop')) }));
  await provider.stop();
  expect(await open(plain, callback, cookie)).toMatchObject(failed('provider_down'));
  expect(await open(cold, '/console/oidc/start')).toMatchObject(failed('provider_down'));
  const body = { email, password: PASSWORD };
  expect((await consoleBrowser(plain, '203.0.113.50').call('POST', '/session', { body })).status).toBe(200);
  await provider.resume();
  expect((await open(cold, '/console/oidc/start')).location).toContain(provider.issuer);
  await cold.close();
});
